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

package org.apache.paimon.flink.benchmark;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Runs every measure with this distribution and with another Paimon jar, in turns, each in a
 * process of its own, and prints values, ratios and whether the targets are met. {@code
 * tools/benchmark} builds and calls it.
 *
 * <p>All values are kept in a file, from which the tables and the plot can be made again.
 */
public final class Benchmark {

    private static final int WORKER_TIMEOUT_MINUTES = 60;

    private final BenchmarkOptions options;
    private final PrintStream progress;
    private final Values values = new Values();
    private final List<String> failures = new ArrayList<>();

    private Benchmark(BenchmarkOptions options, PrintStream progress) {
        this.options = options;
        this.progress = progress;
    }

    public static void main(String[] args) throws Exception {
        BenchmarkOptions options;
        Values earlier;
        try {
            options = BenchmarkOptions.parse(args);
            earlier = options.values() == null ? null : Values.read(options.values());
        } catch (IllegalArgumentException e) {
            System.err.println("tools/benchmark: " + e.getMessage() + "; see --help");
            System.exit(2);
            return;
        }
        if (earlier != null) {
            print(options, earlier, Collections.emptyList());
            return;
        }
        Benchmark benchmark = new Benchmark(options, System.err);
        benchmark.run();
        print(options, benchmark.values, benchmark.failures);
        System.exit(benchmark.failures.isEmpty() ? 0 : 1);
    }

    /** The table first: a plot that cannot be drawn costs no more than a warning. */
    private static void print(BenchmarkOptions options, Values values, List<String> failures)
            throws IOException {
        Table table = new Table(values, failures);
        write(options.directory().resolve("table.txt"), table.text());
        write(options.directory().resolve("table.md"), table.markdown());
        write(options.directory().resolve("table.json"), table.json());
        print(table, options.output(), System.out);
        draw(values, options.directory().resolve("plot.png"), System.err);
        if (options.plot() != null) {
            draw(values, options.plot(), System.err);
        }
    }

    static void print(Table table, BenchmarkOptions.Output output, PrintStream out) {
        switch (output) {
            case JSON:
                out.print(table.json());
                break;
            case MARKDOWN:
                out.print(table.markdown());
                break;
            default:
                out.print(table.text());
        }
        out.flush();
    }

    static void draw(Values values, Path file, PrintStream warnings) {
        try {
            for (String leftOut : Plot.draw(values, file)) {
                warnings.printf("tools/benchmark: not in the plot: %s%n", leftOut);
            }
        } catch (Exception | LinkageError | InternalError e) {
            // Errors are what a machine without fonts gives.
            warnings.printf("tools/benchmark: cannot draw %s: %s%n", file, e);
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    // ------------------------------------------------------------------------
    //  Measuring
    // ------------------------------------------------------------------------

    private void run() throws Exception {
        List<Plan.Task> tasks =
                Plan.of(options.extent()).stream()
                        .filter(planned -> options.includes(planned.measure))
                        .collect(Collectors.toList());
        Remaining remaining = new Remaining(tasks, options.rounds());
        for (Plan.Task task : tasks) {
            for (int round = 0; round < task.rounds(options.rounds()); round++) {
                // Who goes first changes, so that a drift of the machine favours nobody.
                for (int turn = 0; turn < 2; turn++) {
                    int jar = (round + turn) % 2;
                    if (jar < task.jars) {
                        progress.printf(
                                "%s with %s; %s%n",
                                task.measure, options.jar(jar).getFileName(), remaining);
                        run(task, jar);
                        remaining.done(task);
                    }
                }
            }
        }
    }

    /**
     * @param jar 0 for this distribution, 1 for the other
     */
    private void run(Plan.Task task, int jar) throws Exception {
        Path directory = Files.createTempDirectory(options.directory(), "worker");
        Path results = directory.resolve("results");
        Path log = directory.resolve("log");
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        // Else memory that the kernel has yet to map counts as CPU time of who uses it first.
        command.add("-XX:+AlwaysPreTouch");
        command.add("-Xms" + task.heapMegabytes + "m");
        command.add("-Xmx" + task.heapMegabytes + "m");
        for (String opened :
                Arrays.asList("lang", "util", "util.concurrent", "nio", "net", "time")) {
            command.add("--add-opens=java.base/java." + opened + "=ALL-UNNAMED");
        }
        command.add("-Djava.io.tmpdir=" + directory);
        command.add("-cp");
        command.add(options.jar(jar) + File.pathSeparator + System.getProperty("java.class.path"));
        command.add(Worker.class.getName());
        command.add(task.measure);
        command.add(results.toString());
        command.add(directory.resolve("tables").toString());
        for (Plan.Case planned : task.cases) {
            command.add(String.join(",", planned.arguments));
        }
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        Thread stop = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(stop);
        boolean ended = process.waitFor(WORKER_TIMEOUT_MINUTES, TimeUnit.MINUTES);
        process.destroyForcibly().waitFor();
        Runtime.getRuntime().removeShutdownHook(stop);
        if (Files.exists(results)) {
            keep(task.measure, results, jar);
        }
        if (!ended || process.exitValue() != 0) {
            String failure =
                    String.format(
                            "%s with %s %s; see %s",
                            task.measure,
                            options.jar(jar).getFileName(),
                            ended
                                    ? "failed with exit code " + process.exitValue()
                                    : "took more than " + WORKER_TIMEOUT_MINUTES + " minutes",
                            log);
            failures.add(failure);
            progress.println("  " + failure);
        } else {
            Trees.delete(directory);
        }
    }

    private void keep(String measure, Path results, int jar) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line : Files.readAllLines(results)) {
            String[] parts = line.split("\t");
            double value = Double.parseDouble(parts[2]);
            values.add(jar, measure, parts[0], parts[1], value);
            lines.add(Values.line(jar, measure, parts[0], parts[1], value));
        }
        Files.write(
                options.directory().resolve("values.tsv"),
                lines,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** How long the rest will take: as planned, times how much slower this machine has been. */
    private static final class Remaining {

        private final long start = System.nanoTime();
        private final int all;
        private int done;
        private double plannedSeconds;
        private double doneSeconds;

        private Remaining(List<Plan.Task> tasks, int rounds) {
            int processes = 0;
            for (Plan.Task task : tasks) {
                processes += task.rounds(rounds) * task.jars;
                plannedSeconds += task.rounds(rounds) * task.jars * task.seconds();
            }
            this.all = processes;
        }

        private void done(Plan.Task task) {
            done++;
            doneSeconds += task.seconds();
        }

        @Override
        public String toString() {
            double elapsed = (System.nanoTime() - start) / 1e9;
            double slowness = doneSeconds == 0 ? 1 : elapsed / doneSeconds;
            return String.format(
                    "%d of %d done in %.0f min, about %.0f min left",
                    done,
                    all,
                    elapsed / 60,
                    Math.ceil((plannedSeconds - doneSeconds) * slowness / 60));
        }
    }
}
