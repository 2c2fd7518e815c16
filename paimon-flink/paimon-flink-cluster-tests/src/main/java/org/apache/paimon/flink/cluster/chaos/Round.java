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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.FlinkCluster;
import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.KafkaFeeder;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One round: a topic, a table and a job of its own, a calm savepoint, what the scenario breaks, a
 * calm savepoint after the recovery, and the oracle. Every other round then rolls the table back to
 * a random tag and restores the job from its savepoint before the records are counted.
 */
final class Round {

    static final Duration LIMIT = Duration.ofSeconds(60);

    /** How Flink fails a job whose task died between the savepoint of a stop and its end. */
    private static final String STOPPING_FAILED = "A savepoint has been created at";

    private static final int PARTITIONS = 4;
    private static final String FINISHED = "FINISHED";
    private static final long UNKNOWN_MILLIS = 5_000;

    private final Bed bed;
    private final Scenario scenario;
    private final Random random;
    private final String name;
    private final Oracle oracle;
    private final Timeline timeline = new Timeline(() -> System.nanoTime() / 1_000_000);
    private final StockTable stock;
    private final TableDirectory table;
    private final Set<Long> calm = new HashSet<>();
    private final List<String> knownLimits = new ArrayList<>();
    private final List<Violation> violations = new ArrayList<>();
    private volatile String job;
    private KafkaFeeder feeder;
    private String lastState = "UNKNOWN";

    /** Since when the leader does not know the job, on the clock of the round; 0 if it does. */
    private long unknownSince;

    /** Whether the harness has cancelled the job: a new leader does not know it any more. */
    private boolean cancelled;

    private boolean hit;
    private String window = "the scenario was not reached";

    Round(Bed bed, Scenario scenario, int number, long seed, Oracle oracle) {
        this.bed = bed;
        this.scenario = scenario;
        this.random = new Random(seed);
        this.name = name(number);
        this.oracle = oracle;
        this.stock = new StockTable(tableDirectory());
        this.table = new TableDirectory(tableDirectory());
    }

    /** Of the topic, the table and the job of a round. */
    static String name(int number) {
        return "round_" + number;
    }

    RoundResult play(int number, long seed) {
        try (Watcher watcher = new Watcher(timeline, table, cluster().rest(), () -> job)) {
            playWatched();
        } catch (RuntimeException e) {
            violations.add(new Violation(Violation.Kind.NO_RECOVERY, String.valueOf(e)));
        } finally {
            end();
        }
        violations.addAll(oracle.violations());
        return new RoundResult(number, seed, scenario, hit, window, timeline)
                .violations(violations)
                .knownLimits(knownLimits)
                .checked(oracle.tagsChecked(), oracle.uncommitted());
    }

    private void playWatched() {
        bed.kafka().createTopic(name, PARTITIONS);
        feeder = KafkaFeeder.start(bed.kafka(), name, PARTITIONS, 0);
        submit(Optional.empty());
        awaitCommits("the first commit", 0);
        calmSavepoint();
        scenario.play(this);
        bed.awaitHealed();
        awaitRecovery();
        calmSavepoint();
        List<SavepointFacts> complete = SavepointReader.completeIn(savepoints());
        oracle.checkSavepoints(complete, calm, stock);
        boolean rollback = random.nextBoolean();
        if (rollback) {
            rollbackAndRestore(complete);
        }
        long perPartition = feeder.stop();
        Map<Integer, Long> sent =
                IntStream.range(0, PARTITIONS)
                        .boxed()
                        .collect(Collectors.toMap(p -> p, p -> perPartition));
        long total = PARTITIONS * perPartition;
        // Too many records end the wait as well: the oracle names them.
        Await.until(total + " records in the table", LIMIT)
                .holds(() -> table.latest().get().records(), records -> records >= total);
        cancel();
        oracle.checkHead(rollback ? "after rollback and restore" : "at the end", sent, stock);
    }

    private void end() {
        try {
            if (feeder != null) {
                feeder.close();
            }
            if (job != null && !isGone()) {
                cancel();
            }
        } catch (RuntimeException e) {
            timeline.add(Timeline.Kind.JOB, "not cancelled: " + e.getMessage());
        }
    }

    // ------------------------------------------------------------------------------------------
    //  Steps
    // ------------------------------------------------------------------------------------------

    private void submit(Optional<String> savepoint) {
        List<String> statements = new ArrayList<>(catalog());
        statements.add(
                "CREATE TABLE IF NOT EXISTS "
                        + name
                        + " (part INT, id BIGINT) PARTITIONED BY (part) WITH ("
                        + "'bucket' = '-1', 'write-only' = 'true',"
                        + "'sink.coordinator-commit.enabled' = 'true',"
                        + "'sink.savepoint.auto-tag' = 'true')");
        statements.add(
                "CREATE TEMPORARY TABLE source (part INT, id BIGINT) WITH ("
                        + "'connector' = 'kafka', 'format' = 'json',"
                        + "'scan.startup.mode' = 'earliest-offset', 'topic' = '"
                        + name
                        + "', 'properties.bootstrap.servers' = '"
                        + bed.kafka().bootstrapServers()
                        + "')");
        statements.add("SET 'pipeline.name' = '" + name + "'");
        statements.add("SET 'parallelism.default' = '4'");
        statements.add("SET 'execution.checkpointing.interval' = '2 s'");
        savepoint.ifPresent(
                path -> statements.add("SET 'execution.state-recovery.path' = '" + path + "'"));
        statements.add("INSERT INTO " + name + " SELECT part, id FROM source");
        job = bed.gateway().run(statements);
        cancelled = false;
        timeline.add(Timeline.Kind.JOB, "submitted" + savepoint.map(s -> " from " + s).orElse(""));
        cluster().rest().awaitJobState(job, "RUNNING", LIMIT);
    }

    private void awaitCommits(String what, long above) {
        Await.until(what, LIMIT)
                .lookAt(cluster().logs())
                .holds(table::latest, s -> s.isPresent() && s.get().id() > above);
    }

    /**
     * A savepoint while nothing is broken; it has to be tagged. Asks again when the request fails:
     * the leader that it went to may be gone.
     */
    private void calmSavepoint() {
        RestClient.Savepoint savepoint =
                Await.until("a savepoint while nothing is broken", LIMIT)
                        .lookAt(cluster().logs())
                        .unless(this::requireNotFailed)
                        .holds(
                                () -> cluster().rest().savepoint(job, savepoints(), LIMIT),
                                taken -> true);
        calm.add(savepoint.checkpointId());
        Await.until("a commit after savepoint " + savepoint.checkpointId(), LIMIT)
                .holds(
                        table::latest,
                        s ->
                                s.isPresent()
                                        && s.get().commitIdentifier() > savepoint.checkpointId());
    }

    /** Waits until the job commits again, and restores it if the scenario stopped it. */
    private void awaitRecovery() {
        if (isStopped()) {
            SavepointFacts latest = latestComplete();
            timeline.add(Timeline.Kind.JOB, "stopped with " + latest);
            submit(Optional.of(latest.location()));
        } else if (scenario == Scenario.JM_STOP && stopIsCommitted()) {
            knownLimits.add("A8: the stop is committed, and the job was restarted from before it");
            cancel();
            SavepointFacts stop = latestComplete();
            rollBackTo(stop);
            submit(Optional.of(stop.location()));
        }
        long before = table.latest().get().id();
        if (!runsUnlessStopped()) {
            SavepointFacts latest = latestComplete();
            timeline.add(Timeline.Kind.JOB, "failed after its savepoint, " + latest);
            submit(Optional.of(latest.location()));
            runsUnlessStopped();
        }
        awaitCommits("a commit after the recovery", before);
        timeline.add(Timeline.Kind.JOB, "commits again");
    }

    /**
     * Waits until all subtasks run.
     *
     * @return false when the job has failed instead, since a task of it died after the savepoint of
     *     its stop had completed: Flink does not restart such a job, and names the savepoint
     */
    private boolean runsUnlessStopped() {
        Await.until("all subtasks of " + job + " to run", LIMIT)
                .lookAt(cluster().logs())
                .holds(this::runsOrHasStopped, Boolean::booleanValue);
        return !stoppedTooLate();
    }

    private boolean runsOrHasStopped() {
        List<RestClient.Subtask> all = cluster().rest().subtasks(job);
        return stoppedTooLate() || !all.isEmpty() && all.stream().allMatch(this::runsOnLiveProcess);
    }

    private boolean stoppedTooLate() {
        return scenario == Scenario.TM_STOP
                && state().equals("FAILED")
                && cluster().rest().failures(job).contains(STOPPING_FAILED);
    }

    /** A subtask of a TaskManager that was killed counts as running until Flink notices. */
    private boolean runsOnLiveProcess(RestClient.Subtask subtask) {
        return subtask.isRunning() && cluster().process(subtask.taskManager()).isAlive();
    }

    /** Whether the job ended with a savepoint; waits until it either did or runs. */
    private boolean isStopped() {
        return FINISHED.equals(
                Await.until("the job to end or to run again", LIMIT)
                        .lookAt(cluster().logs())
                        .unless(this::requireNotFailed)
                        .holds(
                                this::state,
                                s ->
                                        s.equals(FINISHED)
                                                || s.equals("RUNNING")
                                                || stoppedTooLate()));
    }

    private void requireNotFailed() {
        if ("FAILED".equals(lastState) && !stoppedTooLate()) {
            throw new ClusterException(
                    "job " + job + " failed: " + cluster().rest().rootCause(job));
        }
    }

    /**
     * The state of the job. A new leader does not know a job that ended before, and not at once one
     * that it recovers: of a job that was asked to stop, a lasting silence means that it ended.
     */
    private String state() {
        String now = cluster().rest().jobs().get(job);
        if (now != null) {
            unknownSince = 0;
        } else if (unknownSince == 0) {
            unknownSince = timeline.millis();
        }
        boolean silent = now == null && timeline.millis() - unknownSince > UNKNOWN_MILLIS;
        boolean askedToStop =
                cancelled || scenario == Scenario.JM_STOP || scenario == Scenario.TM_STOP;
        lastState = now != null ? now : silent && askedToStop ? FINISHED : "UNKNOWN";
        return lastState;
    }

    boolean isGone() {
        String state = state();
        return state.equals(FINISHED) || state.equals("CANCELED") || state.equals("FAILED");
    }

    private boolean stopIsCommitted() {
        SavepointFacts latest = latestComplete();
        return !calm.contains(latest.id()) && !stock.snapshotsOf(latest.id()).isEmpty();
    }

    private SavepointFacts latestComplete() {
        return SavepointReader.completeIn(savepoints()).stream()
                .max((a, b) -> Long.compare(a.id(), b.id()))
                .get();
    }

    private Optional<String> tagOf(SavepointFacts savepoint) {
        return stock.tags().stream()
                .filter(tag -> Oracle.isNameOf(tag, savepoint.id()))
                .findFirst();
    }

    private void rollbackAndRestore(List<SavepointFacts> complete) {
        List<SavepointFacts> tagged =
                complete.stream().filter(s -> tagOf(s).isPresent()).collect(Collectors.toList());
        SavepointFacts chosen = tagged.get(random.nextInt(tagged.size()));
        cancel();
        rollBackTo(chosen);
        oracle.checkHead("after the rollback to " + chosen, chosen.offsets(), stock);
        submit(Optional.of(chosen.location()));
    }

    /** As an operator does it, who has the path of the savepoint. */
    private void rollBackTo(SavepointFacts savepoint) {
        List<String> statements = new ArrayList<>(catalog());
        statements.add(
                "CALL sys.rollback_to_savepoint(`table` => 'default."
                        + name
                        + "', `savepoint` => '"
                        + savepoint.location()
                        + "')");
        bed.gateway().run(statements);
        stock.forget();
        timeline.add(Timeline.Kind.BREAK, "table rolled back to " + savepoint);
    }

    private List<String> catalog() {
        return Arrays.asList(
                "CREATE CATALOG chaos WITH ('type' = 'paimon', 'warehouse' = '"
                        + bed.warehouse()
                        + "')",
                "USE CATALOG chaos");
    }

    private void cancel() {
        cancelled = true;
        cluster().cancel(job, name, LIMIT);
        Await.until("the job to be cancelled", LIMIT).holds(this::isGone, Boolean::booleanValue);
        timeline.add(Timeline.Kind.JOB, "cancelled");
    }

    // ------------------------------------------------------------------------------------------
    //  For the scenarios
    // ------------------------------------------------------------------------------------------

    Bed bed() {
        return bed;
    }

    FlinkCluster cluster() {
        return bed.cluster();
    }

    String job() {
        return job;
    }

    Random random() {
        return random;
    }

    TableDirectory table() {
        return table;
    }

    URI tableDirectory() {
        return bed.tableDirectory(name);
    }

    URI savepoints() {
        return URI.create(cluster().storage("savepoints") + "/" + name);
    }

    /** One of the TaskManagers that run the job. */
    FlinkProcess anyTaskManager() {
        List<String> names =
                cluster().rest().subtasks(job).stream()
                        .map(RestClient.Subtask::taskManager)
                        .distinct()
                        .sorted()
                        .collect(Collectors.toList());
        return cluster().process(names.get(random.nextInt(names.size())));
    }

    /** Says whether what was broken hit its window, and what was seen of it. */
    void window(boolean wasHit, String seen) {
        hit = wasHit;
        window = seen;
        timeline.add(Timeline.Kind.BREAK, (wasHit ? "hit: " : "missed: ") + seen);
    }

    void broke(String what) {
        timeline.add(Timeline.Kind.BREAK, what);
    }

    /** Waits until a savepoint is in progress, and returns its id. */
    long awaitPendingSavepoint() {
        return Await.until("a pending savepoint", LIMIT)
                .unless(
                        () -> {
                            if (isGone()) {
                                throw new ClusterException("the job is gone");
                            }
                        })
                .holds(this::pendingSavepoint, Optional::isPresent)
                .get();
    }

    Optional<Long> pendingSavepoint() {
        return cluster().rest().checkpoints(job).history().stream()
                .filter(c -> c.isSavepoint() && c.isPending())
                .map(RestClient.Checkpoint::id)
                .findFirst();
    }

    /** Whether a checkpoint is written completely whose commit is not in the table. */
    boolean hasUncommittedCheckpoint() {
        return CheckpointFiles.highestComplete(cluster().storage("checkpoints"), job)
                > table.latest().map(s -> s.commitIdentifier()).orElse(0L);
    }

    /** Looks without a pause: what it waits for is over in some milliseconds. */
    void awaitUncommittedCheckpoint() {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!hasUncommittedCheckpoint()) {
            if (System.nanoTime() > end) {
                throw new ClusterException("waited in vain for a checkpoint that is not committed");
            }
        }
    }

    boolean isComplete(long savepoint) {
        return SavepointReader.completeIn(savepoints()).stream().anyMatch(s -> s.id() == savepoint);
    }

    boolean hasTag(long savepoint) {
        return stock.tags().stream().anyMatch(tag -> Oracle.isNameOf(tag, savepoint));
    }
}
