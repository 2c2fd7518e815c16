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

package org.apache.paimon.flink.cluster.demo;

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.Cli;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.CommandLine;
import org.apache.paimon.flink.cluster.FlinkCluster;
import org.apache.paimon.flink.cluster.FlinkDistribution;
import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.SqlClient;
import org.apache.paimon.flink.cluster.SqlOutput;
import org.apache.paimon.flink.cluster.SqlTable;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * Runs the whole promise once on a real cluster and counts.
 *
 * <p>How it counts: the source has as many splits as subtasks, and numbers the records of each with
 * a stride (split 1 of 4 emits 1, 5, 9, ...). What a checkpoint holds is therefore a prefix of each
 * split's numbers, without gaps and without doubles. After the rollback to the first tag and the
 * restore from the first savepoint the source goes on from there: a record that the tag lacks
 * although the savepoint had passed it would be a gap at the end, and one that the tag holds
 * although the savepoint had not would be there twice.
 *
 * <p>One thread tells the story. On Ctrl-C or SIGTERM a shutdown hook stops the cluster and says
 * so.
 */
public final class Demo {

    private static final int USAGE = 2;

    private static final int PARALLELISM = 4;
    private static final int SLOTS = 4;

    private static final long RECORDS = 600_000;

    private static final long RECORDS_PER_SECOND = 1_000;

    /** The restored job catches up, so that nobody has to wait. */
    private static final long RECORDS_PER_SECOND_RESTORED = 4_000;

    private static final long RECORDS_PER_SECOND_TO_THE_END = 100_000;

    private static final Duration CLUSTER_LIMIT = Duration.ofSeconds(180);
    private static final Duration SQL_LIMIT = Duration.ofSeconds(180);
    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final DemoOptions options;
    private final PrintStream out;
    private final Story story;
    private final Path warehouse;
    private final TableDirectory table;

    private volatile FlinkCluster cluster;
    private SqlClient sql;
    private Cli cli;
    private String job;
    private RestClient.Savepoint first;
    private RestClient.Savepoint second;
    private TableDirectory.Snapshot beforeRollback;
    private String lastFailure = "";

    /** Whether the verdict is out. */
    private volatile boolean told;

    private Demo(DemoOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
        this.story = new Story(out, () -> System.nanoTime() / 1_000_000);
        this.warehouse = options.directory().resolve("warehouse");
        this.table = new TableDirectory(warehouse.resolve("default.db").resolve("T"));
    }

    public static void main(String[] args) {
        DemoOptions options;
        try {
            options = DemoOptions.parse(args);
        } catch (CommandLine.UsageException e) {
            System.err.println("tools/demo: " + e.getMessage() + "; see tools/demo --help");
            System.exit(USAGE);
            return;
        }
        // With --json, standard output holds the verdict alone.
        PrintStream out = options.json() ? System.err : System.out;
        System.exit(new Demo(options, out).run().exitCode());
    }

    private Verdict run() {
        out.printf("Paimon jar  %s%n", options.jar());
        out.printf("directory   %s%n", options.directory());
        out.printf("logs        %s%n%n", logs());
        Thread hook = new Thread(this::interrupted, "stop-demo");
        Runtime.getRuntime().addShutdownHook(hook);
        Verdict verdict = steps().run();
        if (story.isInterrupted()) {
            // The hook has the last word, and this JVM is on its way down.
            return verdict;
        }
        out.println();
        if (options.keep() && cluster != null) {
            tell(verdict);
            told = true;
            keep();
            return verdict;
        }
        stopCluster();
        Runtime.getRuntime().removeShutdownHook(hook);
        tell(verdict);
        return verdict;
    }

    /** Runs in the shutdown hook: on Ctrl-C, on SIGTERM, and when a kept cluster is to end. */
    private void interrupted() {
        Verdict verdict = story.interrupt();
        out.println();
        stopCluster();
        if (!told) {
            tell(verdict);
        }
    }

    private void stopCluster() {
        FlinkCluster running = cluster;
        if (running != null) {
            running.close();
        }
        out.println("All processes are stopped. Logs: " + logs());
        out.flush();
    }

    private void tell(Verdict verdict) {
        out.println(verdict.line());
        out.flush();
        if (options.json()) {
            System.out.println(verdict.json(logs()));
            System.out.flush();
        }
    }

    private void keep() {
        out.println("The cluster stays up until Ctrl-C; its Web UI: " + cluster.rest().address());
        out.flush();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Story steps() {
        story.step("Start a Flink cluster: one JobManager, two TaskManagers", this::startCluster)
                .step("Submit a streaming job that writes with coordinator commit", this::submit)
                .step("Wait until data flows and is committed", this::awaitCommits)
                .step(
                        "Take a savepoint by REST; the next checkpoint tags it",
                        () -> first = awaitTag(cluster.rest().savepoint(job, savepoints(), LIMIT)))
                .step(
                        "Take another one by 'flink savepoint'; it is tagged as well",
                        () -> second = awaitTag(cli.savepoint(job, savepoints(), LIMIT)))
                .step("Look at the tags and read the table at each", this::readTags)
                .step(
                        "Kill one TaskManager with SIGKILL; only its regions restart",
                        this::killTaskManager)
                .step("See that committing goes on", this::awaitCommitsAfterKill)
                .step("Cancel the job", this::cancel)
                .step("Roll the table back to the first tag", this::rollback)
                .step("Restore the job from the first savepoint", this::restore);
        switch (options.ending()) {
            case STOP:
                story.step("Stop it by 'flink stop'; that savepoint is tagged, too", this::stop);
                break;
            case FINISH:
                story.step("Let it run to the end of its data", this::finish);
                break;
            default:
                story.step("Let it run on, and cancel it", this::runOn);
        }
        return story.step("Count: every record exactly once", this::count);
    }

    private Path logs() {
        return options.directory().resolve("log");
    }

    private Path savepoints() {
        return cluster.savepoints();
    }

    // ------------------------------------------------------------------------------------------
    //  Steps
    // ------------------------------------------------------------------------------------------

    private void startCluster() {
        cluster =
                FlinkCluster.builder(
                                new FlinkDistribution(options.flink(), options.jar()),
                                options.directory())
                        .taskManagers(2)
                        .slotsPerTaskManager(SLOTS)
                        .restPort(options.port())
                        .config("restart-strategy.type", "fixed-delay")
                        .config("restart-strategy.fixed-delay.attempts", 20)
                        .config("restart-strategy.fixed-delay.delay", "500 ms")
                        .listener(story::tell)
                        .start(CLUSTER_LIMIT);
        sql = new SqlClient(cluster);
        cli = new Cli(cluster);
        story.tell("%s", cluster.rest().overview());
    }

    private void submit() {
        job = submit("", RECORDS_PER_SECOND);
        story.tell(
                "job %s: source, %d writers and a coordinator; records 0 to %d, %d a second",
                job, PARALLELISM, RECORDS - 1, RECORDS_PER_SECOND);
    }

    private String submit(String settings, long recordsPerSecond) {
        SqlOutput output =
                sql.run(
                        "submit",
                        catalog()
                                + "CREATE TABLE IF NOT EXISTS T (id BIGINT, payload STRING) WITH (\n"
                                + "  'bucket' = '-1',\n"
                                + "  'write-only' = 'true',\n"
                                + "  'sink.coordinator-commit.enabled' = 'true',\n"
                                + "  'sink.savepoint.auto-tag' = 'true'\n"
                                + ");\n"
                                + "CREATE TEMPORARY TABLE numbers (id BIGINT) WITH (\n"
                                + "  'connector' = '"
                                + NumbersTableFactory.IDENTIFIER
                                + "',\n"
                                + "  'rows-per-second' = '"
                                + recordsPerSecond
                                + "',\n"
                                + "  'number-of-rows' = '"
                                + RECORDS
                                + "',\n"
                                + "  'splits' = '"
                                + PARALLELISM
                                + "'\n);\n"
                                + set("pipeline.name", "demo")
                                + set("parallelism.default", PARALLELISM)
                                + set("execution.checkpointing.interval", "3 s")
                                + settings
                                + "INSERT INTO T SELECT id, 'record ' || CAST(id AS STRING)"
                                + " FROM numbers;\n",
                        SQL_LIMIT);
        List<String> jobs = output.jobs();
        if (jobs.size() != 1) {
            throw new ClusterException(
                    "the SQL client submitted " + jobs.size() + " jobs instead of 1: " + jobs);
        }
        return jobs.get(0);
    }

    private void awaitCommits() {
        cluster.rest().awaitJobState(job, "RUNNING", LIMIT);
        TableDirectory.Snapshot snapshot =
                Await.until("the first two commits", LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(logs())
                        .telling(this::tellWait)
                        .holds(table::latest, s -> s.isPresent() && s.get().id() >= 2)
                        .get();
        story.tell("%s", snapshot);
    }

    private RestClient.Savepoint awaitTag(RestClient.Savepoint savepoint) {
        story.tell("%s", savepoint);
        String name = tagOf(savepoint);
        TableDirectory.Snapshot tagged =
                Await.until("tag " + name, LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(logs())
                        .telling(this::tellWait)
                        .holds(
                                () -> Optional.ofNullable(table.tags().get(name)),
                                Optional::isPresent)
                        .get();
        story.tell(
                "tag %s is on %s; the job has completed checkpoint %d",
                name, tagged, cluster.rest().checkpoints(job).latestCheckpoint());
        requireOwn(savepoint, tagged);
        return savepoint;
    }

    private static void requireOwn(RestClient.Savepoint savepoint, TableDirectory.Snapshot tagged) {
        require(
                tagged.commitIdentifier() == savepoint.checkpointId(),
                "tag %s is on the commit of checkpoint %d, not of the savepoint",
                tagOf(savepoint),
                tagged.commitIdentifier());
    }

    private void readTags() {
        SqlOutput output =
                sql.run(
                        "tags",
                        catalog()
                                + batch()
                                + "SELECT tag_name, snapshot_id, commit_time, record_count"
                                + " FROM `T$tags`;\n"
                                + countAt(tagOf(first))
                                + "UNION ALL "
                                + countAt(tagOf(second))
                                + ";\n",
                        SQL_LIMIT);
        List<SqlTable> tables = output.tables();
        require(
                tables.size() == 2,
                "2 results were expected, the client printed %d",
                tables.size());
        tables.get(0).lines().forEach(line -> story.tell("%s", line));
        tables.get(1).lines().forEach(line -> story.tell("%s", line));
        requireContent(first, tables.get(1));
        requireContent(second, tables.get(1));
    }

    /** What was read at the tag is as much as the tagged snapshot says it has. */
    private void requireContent(RestClient.Savepoint savepoint, SqlTable counted) {
        String tag = tagOf(savepoint);
        int row = counted.column("tag").indexOf(tag);
        require(row >= 0, "the result has no row for %s", tag);
        long records = Long.parseLong(counted.column("records").get(row));
        long expected = table.tags().get(tag).records();
        require(
                records == expected,
                "%d records were read at %s, but its snapshot says it has %d",
                records,
                tag,
                expected);
    }

    private void killTaskManager() {
        RestClient rest = cluster.rest();
        Map<String, RestClient.Subtask> before = byKey(rest.subtasks(job));
        FlinkProcess victim = cluster.process(before.values().iterator().next().taskManager());
        long lost =
                before.values().stream()
                        .filter(subtask -> subtask.taskManager().equals(victim.name()))
                        .count();
        story.tell("%s runs %d of %d tasks", victim, lost, before.size());
        require(lost < before.size(), "all tasks are on %s: nothing could survive", victim);
        cluster.kill(victim);
        Map<String, RestClient.Subtask> after =
                byKey(
                        Await.until("the lost tasks to run again", LIMIT)
                                .unless(this::requireJobAlive)
                                .lookAt(logs())
                                .telling(this::tellWait)
                                .holds(
                                        () -> rest.subtasks(job),
                                        now -> recovered(now, victim.name())));
        // This failure was wanted; only another one is news.
        lastFailure = rest.rootCause(job);
        Set<String> fates = new LinkedHashSet<>();
        for (Map.Entry<String, RestClient.Subtask> entry : after.entrySet()) {
            fates.add(regionalFate(victim.name(), before.get(entry.getKey()), entry.getValue()));
        }
        fates.forEach(fate -> story.tell("%s", fate));
        cluster.startTaskManager();
    }

    /**
     * What happened to a task: what ran on the victim must have a new attempt elsewhere, and all
     * else its old one. The tasks of one region (source and writer, and what ends the writer) have
     * the same index and the same fate.
     */
    private static String regionalFate(
            String victim, RestClient.Subtask before, RestClient.Subtask after) {
        boolean restarted = before.attempt() != after.attempt();
        require(
                restarted == before.taskManager().equals(victim),
                "subtask %d of %s ran on %s and %s: what ran on %s must restart and nothing else",
                before.index(),
                before.vertexName(),
                before.taskManager(),
                restarted ? "restarted" : "did not restart",
                victim);
        return String.format(
                "region %d: attempt %d on %s -> attempt %d on %s, %s",
                before.index(),
                before.attempt(),
                before.taskManager(),
                after.attempt(),
                after.taskManager(),
                restarted ? "restarted" : "untouched");
    }

    private static boolean recovered(List<RestClient.Subtask> now, String victim) {
        return now.stream()
                .allMatch(subtask -> subtask.isRunning() && !subtask.taskManager().equals(victim));
    }

    private void awaitCommitsAfterKill() {
        // A commit of a checkpoint that began before the kill would prove nothing.
        long begun =
                cluster.rest().checkpoints(job).history().stream()
                        .mapToLong(RestClient.Checkpoint::id)
                        .max()
                        .orElse(0);
        TableDirectory.Snapshot snapshot =
                Await.until("two commits of checkpoints after " + begun, LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(logs())
                        .telling(this::tellWait)
                        .holds(
                                table::latest,
                                s -> s.isPresent() && s.get().commitIdentifier() > begun + 1)
                        .get();
        story.tell("checkpoint %d was the last before the recovery; now %s", begun, snapshot);
        cluster.awaitTaskManagers(2, LIMIT);
        story.tell("%s", cluster.rest().overview());
    }

    private void cancel() {
        cluster.cancel(job, "T", LIMIT);
        cluster.rest().awaitJobState(job, "CANCELED", LIMIT);
        beforeRollback = table.latest().get();
        story.tell("the table is at %s", beforeRollback);
    }

    private void rollback() {
        sql.run(
                "rollback",
                catalog()
                        + "CALL sys.rollback_to(`table` => 'default.T', tag => '"
                        + tagOf(first)
                        + "');\n",
                SQL_LIMIT);
        TableDirectory.Snapshot now = table.latest().get();
        story.tell("the table is at %s", now);
        require(
                now.commitIdentifier() == first.checkpointId(),
                "the table should be at the commit of savepoint %d",
                first.checkpointId());
    }

    private void restore() {
        job =
                submit(
                        set("execution.state-recovery.path", first.location()),
                        options.ending() == DemoOptions.Ending.FINISH
                                ? RECORDS_PER_SECOND_TO_THE_END
                                : RECORDS_PER_SECOND_RESTORED);
        long restored =
                Await.until("job " + job + " to be restored", LIMIT)
                        .lookAt(logs())
                        .telling(this::tellWait)
                        .holds(
                                () -> cluster.rest().checkpoints(job).restored(),
                                Optional::isPresent)
                        .get();
        story.tell("job %s goes on from checkpoint id %d", job, restored);
        require(
                restored == first.checkpointId(),
                "it should go on from savepoint %d",
                first.checkpointId());
    }

    private void finish() {
        cluster.rest().awaitJobState(job, "FINISHED", LIMIT);
        story.tell("the table is at %s", table.latest().get());
    }

    private void stop() {
        awaitMoreRecordsThanBefore();
        RestClient.Savepoint last =
                cli.stop(job, savepoints(), RestClient.StopMode.NO_DRAIN, LIMIT);
        story.tell("%s", last);
        // No waiting here: when the stop has returned, the tag is there.
        TableDirectory.Snapshot tagged = table.tags().get(tagOf(last));
        require(tagged != null, "there is no tag %s; look at %s", tagOf(last), logs());
        requireOwn(last, tagged);
        require(
                tagged.id() == table.latest().get().id(),
                "the tag is on %s, but the table is at %s",
                tagged,
                table.latest().get());
        story.tell("tag %s is on %s", tagOf(last), tagged);
    }

    private void runOn() {
        awaitMoreRecordsThanBefore();
        cluster.cancel(job, "T", LIMIT);
        cluster.rest().awaitJobState(job, "CANCELED", LIMIT);
        story.tell("the table is at %s", table.latest().get());
    }

    /** All that the rollback threw away is written again, and more. */
    private void awaitMoreRecordsThanBefore() {
        TableDirectory.Snapshot now =
                Await.until("more than " + beforeRollback.records() + " records", LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(logs())
                        .telling(this::tellWait)
                        .holds(
                                table::latest,
                                s -> s.isPresent() && s.get().records() > beforeRollback.records())
                        .get();
        story.tell("the table is at %s; before the rollback it was at %s", now, beforeRollback);
    }

    private void count() {
        SqlTable counted =
                sql.run(
                                "count",
                                catalog()
                                        + batch()
                                        + "SELECT MOD(id, "
                                        + PARALLELISM
                                        + ") AS split_id, COUNT(*) AS records,"
                                        + " COUNT(DISTINCT id) AS ids, MIN(id) AS first_id,"
                                        + " MAX(id) AS last_id FROM T GROUP BY MOD(id, "
                                        + PARALLELISM
                                        + ");\n",
                                SQL_LIMIT)
                        .tables()
                        .get(0);
        counted.lines().forEach(line -> story.tell("%s", line));
        ExactlyOnce check = new ExactlyOnce(PARALLELISM);
        for (List<String> row : counted.rows()) {
            check.split(
                    Integer.parseInt(row.get(0)),
                    Long.parseLong(row.get(1)),
                    Long.parseLong(row.get(2)),
                    Long.parseLong(row.get(3)),
                    Long.parseLong(row.get(4)));
        }
        long records = check.records();
        story.tell("%d records, each once, no gap below the last of each split", records);
        long expected = table.latest().get().records();
        require(records == expected, "the snapshot says it has %d records", expected);
        require(
                options.ending() != DemoOptions.Ending.FINISH || records == RECORDS,
                "the source had %d records to give",
                RECORDS);
    }

    // ------------------------------------------------------------------------------------------
    //  Words
    // ------------------------------------------------------------------------------------------

    private String catalog() {
        return set("sql-client.execution.result-mode", "tableau")
                + "CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '"
                + warehouse.toUri()
                + "');\n"
                + "USE CATALOG paimon;\n";
    }

    private static String batch() {
        return set("execution.runtime-mode", "batch") + set("parallelism.default", 1);
    }

    private static String countAt(String tag) {
        return "SELECT '"
                + tag
                + "' AS tag, COUNT(*) AS records, MIN(id) AS first_id, MAX(id) AS last_id"
                + " FROM T /*+ OPTIONS('scan.tag-name' = '"
                + tag
                + "') */\n";
    }

    private static String set(String key, Object value) {
        return "SET '" + key + "' = '" + value + "';\n";
    }

    private static String tagOf(RestClient.Savepoint savepoint) {
        return "savepoint-" + savepoint.checkpointId();
    }

    private static Map<String, RestClient.Subtask> byKey(List<RestClient.Subtask> subtasks) {
        return subtasks.stream()
                .collect(
                        Collectors.toMap(
                                RestClient.Subtask::key, s -> s, (a, b) -> a, LinkedHashMap::new));
    }

    private void requireJobAlive() {
        String state = cluster.rest().jobState(job);
        if ("FAILED".equals(state) || "FINISHED".equals(state) || "CANCELED".equals(state)) {
            throw new ClusterException(
                    "job " + job + " is " + state + ": " + cluster.rest().rootCause(job));
        }
    }

    /** A wait goes on; if the job failed meanwhile, that is probably why. */
    private void tellWait(String line) {
        story.tell("%s", line);
        String failure = cluster.rest().rootCause(job);
        if (!failure.isEmpty() && !failure.equals(lastFailure)) {
            lastFailure = failure;
            story.tell("the job has failed and restarts: %s", failure);
        }
    }

    private static void require(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new ClusterException(String.format(message, arguments));
        }
    }
}
