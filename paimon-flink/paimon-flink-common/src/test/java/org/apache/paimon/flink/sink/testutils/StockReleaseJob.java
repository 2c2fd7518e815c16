/*
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License
 * is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
 * or implied. See the License for the specific language governing permissions and limitations under
 * the License.
 */

package org.apache.paimon.flink.sink.testutils;

import org.apache.flink.core.execution.SavepointFormatType;

import javax.annotation.Nullable;

import java.io.File;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs a job in another JVM whose class path has the released jar and none of our classes but those
 * of the test kit, up to a savepoint. Ten records per lane are committed by a checkpoint, ten more
 * are in the savepoint.
 */
public final class StockReleaseJob {

    private static final int RECORDS_PER_LANE = 10;

    private final Savepoint savepoint;
    private final boolean releaseOnly;

    private StockReleaseJob(Savepoint savepoint, boolean releaseOnly) {
        this.savepoint = savepoint;
        this.releaseOnly = releaseOnly;
    }

    public Savepoint savepoint() {
        return savepoint;
    }

    /** Whether the classes that we replace came from the released jar. */
    public boolean releaseOnly() {
        return releaseOnly;
    }

    /** Tells the scenario what the other JVM's sources have emitted, too. */
    public static StockReleaseJob run(
            Path directory, String table, Scenario scenario, int parallelism, boolean stop)
            throws Exception {
        return run(directory, table, scenario, parallelism, stop, "", 0);
    }

    /**
     * The same from a savepoint before which each lane has emitted so many records. The savepoint
     * that it ends with holds nothing that is not committed.
     */
    public static StockReleaseJob restore(
            Path directory,
            String table,
            Scenario scenario,
            int parallelism,
            Savepoint from,
            int emitted)
            throws Exception {
        return run(directory, table, scenario, parallelism, false, from.location(), emitted);
    }

    private static StockReleaseJob run(
            Path directory,
            String table,
            Scenario scenario,
            int parallelism,
            boolean stop,
            String from,
            int emitted)
            throws Exception {
        Path result = directory.resolve("stock.properties");
        Path log = directory.resolve("stock.log");
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        for (String name : new String[] {"lang", "util", "util.concurrent", "nio", "net"}) {
            command.add("--add-opens=java.base/java." + name + "=ALL-UNNAMED");
        }
        command.add("-Xmx512m");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("-cp");
        command.add(classPathOfTheRelease());
        command.add(StockReleaseJob.class.getName());
        command.add(directory.toString());
        command.add(table);
        command.add(result.toString());
        command.add(String.valueOf(parallelism));
        command.add(String.valueOf(stop));
        command.add(from);
        command.add(String.valueOf(emitted));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        try {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).as("the other JVM ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue())
                .as(() -> "exit code of the other JVM, which says:\n" + tail(log))
                .isZero();
        Properties properties = new Properties();
        properties.load(Files.newBufferedReader(result));
        Savepoint savepoint = Savepoint.at(properties.getProperty("savepoint"));
        for (int lane = 0; lane < scenario.lanes(); lane++) {
            scenario.emitElsewhere(savepoint.id(), lane, emitted + 2 * RECORDS_PER_LANE);
        }
        return new StockReleaseJob(
                savepoint, Boolean.parseBoolean(properties.getProperty("releaseOnly")));
    }

    private static String tail(Path log) {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
        } catch (Exception e) {
            return e.toString();
        }
    }

    /**
     * Ours are directories or jars of this build; the released jar is one file among the others.
     */
    private static String classPathOfTheRelease() throws Exception {
        String kit = codeSource(StockReleaseJob.class);
        List<String> kept = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            boolean ours =
                    entry.contains(File.separator + "paimon-common" + File.separator)
                            || entry.contains(File.separator + "paimon-core" + File.separator)
                            || entry.contains(
                                    File.separator + "paimon-flink-common" + File.separator);
            boolean isKit =
                    Files.exists(Paths.get(entry))
                            && Paths.get(entry).toRealPath().toString().equals(kit);
            if (!ours || isKit) {
                kept.add(entry);
            }
        }
        return String.join(File.pathSeparator, kept);
    }

    private static String codeSource(Class<?> type) throws Exception {
        URL location = type.getProtectionDomain().getCodeSource().getLocation();
        return Paths.get(location.toURI()).toRealPath().toString();
    }

    // ------------------------------------------------------------------------
    //  In the other JVM
    // ------------------------------------------------------------------------

    /**
     * Arguments: directory, table, file for the result, parallelism, whether to stop, savepoint to
     * restore or nothing, records per lane before it.
     */
    public static void main(String[] args) throws Exception {
        int exit = 1;
        try {
            runJob(
                    Paths.get(args[0]),
                    args[1],
                    Paths.get(args[2]),
                    Integer.parseInt(args[3]),
                    Boolean.parseBoolean(args[4]),
                    args[5],
                    Integer.parseInt(args[6]));
            exit = 0;
        } catch (Throwable t) {
            t.printStackTrace();
        } finally {
            // A coordinator that was closed must not keep this JVM.
            Runtime.getRuntime().halt(exit);
        }
    }

    private static void runJob(
            Path directory,
            String location,
            Path result,
            int parallelism,
            boolean stop,
            String from,
            int emitted)
            throws Exception {
        Scenario scenario = Scenario.open();
        AppendTable table = AppendTable.at(location);
        TestCluster cluster = new TestCluster();
        cluster.start();
        RunningJob.Builder builder =
                RunningJob.on(cluster, directory)
                        .write(scenario, table.table("tag.callbacks", "", "commit.callbacks", ""))
                        .parallelism(parallelism);
        Savepoint restored = from.isEmpty() ? null : Savepoint.at(from);
        boolean pending = restored != null && !table.identifiers().contains(restored.id());
        if (restored != null) {
            for (int lane = 0; lane < scenario.lanes(); lane++) {
                scenario.emitElsewhere(restored.id(), lane, emitted);
            }
            builder.from(restored);
        }
        RunningJob job = builder.submit();
        Savepoint savepoint;
        try {
            savepoint = run(job, cluster, table, scenario, directory, stop, restored, pending);
        } catch (Exception e) {
            throw new IllegalStateException("The job failed:\n" + job.failures(), e);
        }
        Properties properties = new Properties();
        properties.setProperty("savepoint", savepoint.location());
        properties.setProperty("releaseOnly", String.valueOf(releaseOnlyHere()));
        properties.store(Files.newBufferedWriter(result), null);
    }

    private static Savepoint run(
            RunningJob job,
            TestCluster cluster,
            AppendTable table,
            Scenario scenario,
            Path directory,
            boolean stop,
            @Nullable Savepoint restored,
            boolean pending)
            throws Exception {
        if (pending) {
            // The released coordinator fails the job on purpose when it has committed a restore.
            table.awaitCommitted(restored.id());
            job.awaitRestart(1);
        }
        job.awaitRunning();
        scenario.emit(RECORDS_PER_LANE);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(RECORDS_PER_LANE);
        if (stop) {
            return job.stop();
        }
        if (restored != null) {
            Savepoint checkpoint = job.checkpoint();
            table.awaitCommitted(checkpoint.id());
            return checkpoint;
        }
        return Savepoint.at(
                cluster.miniCluster()
                        .triggerSavepoint(
                                job.jobId(),
                                directory.resolve("savepoints").toUri().toString(),
                                true,
                                SavepointFormatType.CANONICAL)
                        .get(60, TimeUnit.SECONDS));
    }

    private static boolean releaseOnlyHere() throws Exception {
        for (String name :
                new String[] {
                    "RowAppendTableSink",
                    "AutoTagForSavepointCommitterOperator",
                    "coordinator.CommittingWriteOperatorCoordinator"
                }) {
            Class<?> replaced = Class.forName("org.apache.paimon.flink.sink." + name);
            if (!codeSource(replaced).endsWith("paimon-flink-2.0-2.0.0.jar")) {
                return false;
            }
        }
        try {
            Class.forName("org.apache.paimon.tag.SavepointTagger");
            return false;
        } catch (ClassNotFoundException e) {
            return true;
        }
    }
}
