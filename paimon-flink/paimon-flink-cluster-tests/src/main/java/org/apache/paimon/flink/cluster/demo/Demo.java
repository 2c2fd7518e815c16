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
import org.apache.paimon.flink.cluster.ClusterException;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;

/**
 * Runs the whole promise once on a real cluster and counts.
 *
 * <p>How it counts: the source numbers its records from 0 and keeps the numbers still to come in
 * its state. After the rollback to the first tag and the restore from the first savepoint it goes
 * on to the last number. A record that the tag lacks although the savepoint had passed it, or one
 * that the tag holds although the savepoint had not, would be a gap or a double at the end.
 *
 * <p>One thread tells the story; the cluster's shutdown hook ends the processes on Ctrl-C.
 */
public final class Demo {

    private static final int USAGE = 2;

    private static final int PARALLELISM = 4;
    private static final int SLOTS = 4;
    private static final long RECORDS = 300_000;
    private static final long RECORDS_PER_SECOND = 1_000;
    private static final long RECORDS_PER_SECOND_AT_THE_END = 100_000;

    private static final Duration CLUSTER_LIMIT = Duration.ofSeconds(180);
    private static final Duration SQL_LIMIT = Duration.ofSeconds(180);
    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final DemoOptions options;
    private final Story story;
    private final Path warehouse;
    private final TableDirectory table;

    private FlinkCluster cluster;
    private SqlClient sql;
    private String job;
    private RestClient.Savepoint first;
    private RestClient.Savepoint second;

    private Demo(DemoOptions options, PrintStream out) {
        this.options = options;
        this.story = new Story(out, () -> System.nanoTime() / 1_000_000);
        this.warehouse = options.directory().resolve("warehouse");
        this.table = new TableDirectory(warehouse.resolve("default.db").resolve("T"));
    }

    public static void main(String[] args) {
        DemoOptions options;
        try {
            options = DemoOptions.parse(args);
        } catch (DemoOptions.UsageException e) {
            System.err.println("tools/demo: " + e.getMessage() + "; see tools/demo --help");
            System.exit(USAGE);
            return;
        }
        // With --json, standard output holds the verdict alone.
        PrintStream out = options.json() ? System.err : System.out;
        Verdict verdict = new Demo(options, out).run(out);
        if (options.json()) {
            System.out.println(verdict.json(options.directory().resolve("log")));
        }
        System.exit(verdict.exitCode());
    }

    private Verdict run(PrintStream out) {
        out.printf("Paimon jar  %s%n", options.jar());
        out.printf("directory   %s%n", options.directory());
        out.printf("logs        %s%n%n", options.directory().resolve("log"));
        Verdict verdict;
        try {
            verdict =
                    story.step(
                                    "Start a Flink cluster: one JobManager, two TaskManagers",
                                    this::startCluster)
                            .step(
                                    "Submit a streaming job that writes with coordinator commit",
                                    this::submit)
                            .step("Wait until data flows and is committed", this::awaitCommits)
                            .step(
                                    "Take a savepoint; the next checkpoint tags it",
                                    () -> first = savepoint())
                            .step(
                                    "Take another savepoint; it is tagged as well",
                                    () -> second = savepoint())
                            .step("Look at the tags and read the table at each", this::readTags)
                            .step("Kill one TaskManager with SIGKILL", this::killTaskManager)
                            .step("See that committing goes on", this::awaitCommitsAfterKill)
                            .step("Cancel the job", this::cancel)
                            .step("Roll the table back to the first tag", this::rollback)
                            .step(
                                    "Restore from the first savepoint and run to the end of the data",
                                    this::restore)
                            .step("Count: every record exactly once", this::count)
                            .run();
            out.println();
            out.println(verdict.line());
            out.flush();
            if (options.keep() && cluster != null) {
                keep(out);
            }
        } finally {
            if (cluster != null) {
                cluster.close();
                out.println("All processes are stopped. Logs: " + cluster.logs());
                out.flush();
            }
        }
        return verdict;
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
                        .config("restart-strategy.fixed-delay.attempts", 100)
                        .config("restart-strategy.fixed-delay.delay", "500 ms")
                        .listener(story::tell)
                        .start(CLUSTER_LIMIT);
        sql = new SqlClient(cluster);
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
                                + autoTag()
                                + ");\n"
                                + "CREATE TEMPORARY TABLE numbers (id BIGINT) WITH (\n"
                                + "  'connector' = 'datagen',\n"
                                + "  'rows-per-second' = '"
                                + recordsPerSecond
                                + "',\n"
                                + "  'fields.id.kind' = 'sequence',\n"
                                + "  'fields.id.start' = '0',\n"
                                + "  'fields.id.end' = '"
                                + (RECORDS - 1)
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

    private static String autoTag() {
        return "  'sink.savepoint.auto-tag' = '" + !Boolean.getBoolean("demo.handmade") + "'\n";
    }

    private void awaitCommits() {
        cluster.rest().awaitJobState(job, "RUNNING", LIMIT);
        TableDirectory.Snapshot snapshot =
                Await.until("the first two commits", LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(cluster.logs())
                        .telling(story::tell)
                        .holds(table::latest, s -> s.isPresent() && s.get().id() >= 2)
                        .get();
        story.tell("%s", snapshot);
    }

    private RestClient.Savepoint savepoint() {
        RestClient.Savepoint savepoint = cluster.rest().savepoint(job, cluster.savepoints(), LIMIT);
        String name = tagOf(savepoint);
        story.tell("%s", savepoint);
        if (Boolean.getBoolean("demo.handmade")) {
            TableDirectory.Snapshot s =
                    Await.until("snapshot", LIMIT)
                            .holds(
                                    () ->
                                            table.snapshots().values().stream()
                                                    .filter(
                                                            x ->
                                                                    x.commitIdentifier()
                                                                            == savepoint
                                                                                    .checkpointId())
                                                    .findFirst(),
                                    Optional::isPresent)
                            .get();
            sql.run(
                    "tag",
                    catalog()
                            + "CALL sys.create_tag(`table` => 'default.T', tag => '"
                            + name
                            + "', snapshot_id => CAST("
                            + s.id()
                            + " AS BIGINT));",
                    SQL_LIMIT);
        }
        TableDirectory.Snapshot tagged =
                Await.until("tag " + name, LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(cluster.logs())
                        .telling(story::tell)
                        .holds(
                                () -> Optional.ofNullable(table.tags().get(name)),
                                Optional::isPresent)
                        .get();
        require(
                tagged.commitIdentifier() == savepoint.checkpointId(),
                "tag %s is on the commit of checkpoint %d, not of the savepoint",
                name,
                tagged.commitIdentifier());
        story.tell(
                "tag %s is on %s; the job has completed checkpoint %d",
                name, tagged, cluster.rest().checkpoints(job).latestCheckpoint());
        return savepoint;
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

    /** What was read at the tag is what the tagged snapshot says it has, and nothing twice. */
    private void requireContent(RestClient.Savepoint savepoint, SqlTable counted) {
        String tag = tagOf(savepoint);
        int row = counted.column("tag").indexOf(tag);
        require(row >= 0, "the result has no row for %s", tag);
        long records = Long.parseLong(counted.column("records").get(row));
        long ids = Long.parseLong(counted.column("ids").get(row));
        long expected = table.tags().get(tag).records();
        require(
                records == expected && ids == expected,
                "at %s there are %d records with %d different ids, but its snapshot says %d",
                tag,
                records,
                ids,
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
        story.tell("%s runs %d of %d subtasks", victim, lost, before.size());
        require(lost < before.size(), "all subtasks are on %s: nothing could survive", victim);
        cluster.kill(victim);
        Map<String, RestClient.Subtask> after =
                Await.until("the lost subtasks to run again", LIMIT)
                        .unless(this::requireJobAlive)
                        .lookAt(cluster.logs())
                        .telling(story::tell)
                        .holds(
                                () -> byKey(rest.subtasks(job)),
                                now -> recovered(before, now, victim.name()));
        for (Map.Entry<String, RestClient.Subtask> entry : after.entrySet()) {
            RestClient.Subtask old = before.get(entry.getKey());
            RestClient.Subtask now = entry.getValue();
            boolean restarted = old.attempt() != now.attempt();
            story.tell(
                    "subtask %d: attempt %d on %s -> attempt %d on %s  (%s)",
                    now.index(),
                    old.attempt(),
                    old.taskManager(),
                    now.attempt(),
                    now.taskManager(),
                    restarted ? "restarted" : "untouched");
            require(
                    restarted == old.taskManager().equals(victim.name()),
                    "subtask %d ran on %s and %s: only what ran on %s may restart",
                    now.index(),
                    old.taskManager(),
                    restarted ? "restarted" : "did not restart",
                    victim.name());
        }
        cluster.startTaskManager();
    }

    private static boolean recovered(
            Map<String, RestClient.Subtask> before,
            Map<String, RestClient.Subtask> now,
            String victim) {
        return now.entrySet().stream()
                .allMatch(
                        entry ->
                                entry.getValue().isRunning()
                                        && !entry.getValue().taskManager().equals(victim)
                                        && before.containsKey(entry.getKey()));
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
                        .lookAt(cluster.logs())
                        .telling(story::tell)
                        .holds(
                                table::latest,
                                s -> s.isPresent() && s.get().commitIdentifier() > begun + 1)
                        .get();
        story.tell("checkpoint %d was the last before the recovery; now %s", begun, snapshot);
        cluster.awaitTaskManagers(2, LIMIT);
        story.tell("%s", cluster.rest().overview());
    }

    private void cancel() {
        cluster.rest().cancel(job);
        cluster.rest().awaitJobState(job, "CANCELED", LIMIT);
        story.tell("the table is at %s", table.latest().get());
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
                        RECORDS_PER_SECOND_AT_THE_END);
        long restored =
                Await.until("job " + job + " to be restored", LIMIT)
                        .holds(
                                () -> cluster.rest().checkpoints(job).restored(),
                                Optional::isPresent)
                        .get();
        story.tell("job %s restored from checkpoint id %d", job, restored);
        cluster.rest().awaitJobState(job, "FINISHED", LIMIT);
        story.tell("the source has come to its end; the table is at %s", table.latest().get());
    }

    private void count() {
        SqlTable counted =
                sql.run("count", catalog() + batch() + count("(none)", "T") + ";\n", SQL_LIMIT)
                        .tables()
                        .get(0);
        counted.lines().forEach(line -> story.tell("%s", line));
        require(
                counted.number("records") == RECORDS
                        && counted.number("ids") == RECORDS
                        && counted.number("first_id") == 0
                        && counted.number("last_id") == RECORDS - 1,
                "%d records with the ids 0 to %d were expected, each once",
                RECORDS,
                RECORDS - 1);
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
        return count(tag, "T /*+ OPTIONS('scan.tag-name' = '" + tag + "') */");
    }

    private static String count(String label, String what) {
        return "SELECT '"
                + label
                + "' AS tag, COUNT(*) AS records, COUNT(DISTINCT id) AS ids,"
                + " MIN(id) AS first_id, MAX(id) AS last_id FROM "
                + what
                + "\n";
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
                                RestClient.Subtask::key, s -> s, (a, b) -> a, TreeMap::new));
    }

    private void requireJobAlive() {
        String state = cluster.rest().jobState(job);
        if ("FAILED".equals(state) || "FINISHED".equals(state) || "CANCELED".equals(state)) {
            throw new ClusterException(
                    "job " + job + " is " + state + ": " + cluster.rest().rootCause(job));
        }
    }

    private static void require(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new ClusterException(String.format(message, arguments));
        }
    }

    private void keep(PrintStream out) {
        out.println("The cluster stays up: " + cluster.rest().address() + "  (end it with Ctrl-C)");
        out.flush();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
