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

import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.flink.sink.FlinkSinkBuilder;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.highavailability.nonha.embedded.HaLeadershipControl;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.JobResourceRequirements;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmanager.scheduler.SlotSharingGroup;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.scheduler.exceptionhistory.RootExceptionHistoryEntry;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedThrowable;

import org.awaitility.Awaitility;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A job that writes the records of a {@link Scenario} into a table. It takes no checkpoint but
 * those that the test asks for.
 */
public final class RunningJob {

    private static final Duration DEADLINE = Duration.ofSeconds(90);

    /** The writer of either commit path; what ends the sink calls itself a writer, too. */
    private static final Pattern WRITER = Pattern.compile("Writer(\\(write-only\\))? : ");

    private final TestCluster testCluster;
    private final MiniCluster cluster;
    private final JobID jobId;
    private final Path directory;

    /** Whether nobody leads the job. */
    private boolean orphaned;

    private RunningJob(TestCluster testCluster, JobID jobId, Path directory) {
        this.testCluster = testCluster;
        this.cluster = testCluster.miniCluster();
        this.jobId = jobId;
        this.directory = directory;
    }

    /**
     * @param directory for checkpoints and savepoints
     */
    public static Builder on(TestCluster cluster, Path directory) {
        return new Builder(cluster, directory);
    }

    public JobID jobId() {
        return jobId;
    }

    // ------------------------------------------------------------------------
    //  Checkpoints
    // ------------------------------------------------------------------------

    /**
     * Takes a checkpoint and returns when it is complete; its commit may be under way. Tries again
     * when a task that has just started or ended could not take part.
     */
    public Savepoint checkpoint() throws Exception {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (true) {
            try {
                return Savepoint.at(
                        cluster.triggerCheckpoint(jobId)
                                .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
            } catch (ExecutionException e) {
                if (!transientFailure(e) || System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
    }

    /** Asks for a checkpoint whose commit will fail, so that its outcome does not matter. */
    public void checkpointInVain() throws Exception {
        cluster.triggerCheckpoint(jobId)
                .handle((location, failure) -> null)
                .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static boolean transientFailure(Throwable failure) {
        return ExceptionUtils.findThrowable(failure, CheckpointException.class)
                .map(CheckpointException::getCheckpointFailureReason)
                .filter(
                        reason ->
                                reason == CheckpointFailureReason.TASK_CHECKPOINT_FAILURE
                                        || reason
                                                == CheckpointFailureReason
                                                        .NOT_ALL_REQUIRED_TASKS_RUNNING
                                        || reason
                                                == CheckpointFailureReason
                                                        .CHECKPOINT_DECLINED_TASK_NOT_READY)
                .isPresent();
    }

    /** Takes an asynchronous savepoint and returns when it is complete. */
    public Savepoint savepoint() throws Exception {
        return Savepoint.at(savepointFuture().get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
    }

    public CompletableFuture<String> savepointFuture() {
        return cluster.triggerSavepoint(jobId, savepoints(), false, SavepointFormatType.CANONICAL);
    }

    /** Stops the job with a savepoint and returns when the call of the client does. */
    public Savepoint stop() throws Exception {
        return Savepoint.at(stopFuture(false).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
    }

    public Savepoint stopWithDrain() throws Exception {
        return Savepoint.at(stopFuture(true).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
    }

    public CompletableFuture<String> stopFuture(boolean drain) {
        return cluster.stopWithSavepoint(jobId, savepoints(), drain, SavepointFormatType.CANONICAL);
    }

    /** The newest savepoint on disk, also one whose stop failed. */
    public Savepoint newestSavepoint() throws IOException {
        Savepoint newest = null;
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(directory.resolve("savepoints"))) {
            for (Path path : found) {
                if (Files.exists(path.resolve("_metadata"))) {
                    Savepoint savepoint = Savepoint.at(path.toUri().toString());
                    newest = newest == null || savepoint.id() > newest.id() ? savepoint : newest;
                }
            }
        }
        if (newest == null) {
            throw new AssertionError("There is no savepoint in " + directory + ".");
        }
        return newest;
    }

    /** Where a savepoint lies that has no metadata yet; there must be exactly one. */
    public Path unfinishedSavepoint() throws IOException {
        List<Path> unfinished = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(directory.resolve("savepoints"))) {
            for (Path path : found) {
                if (!Files.exists(path.resolve("_metadata"))) {
                    unfinished.add(path);
                }
            }
        }
        if (unfinished.size() != 1) {
            throw new AssertionError("Savepoints without metadata: " + unfinished);
        }
        return unfinished.get(0);
    }

    private String savepoints() {
        return directory.resolve("savepoints").toUri().toString();
    }

    /** How many bytes of records on their way between tasks a completed checkpoint holds. */
    public long inFlightBytes(Savepoint checkpoint) {
        // Flink answers with older statistics while it is updating them.
        return Awaitility.await("statistics of checkpoint " + checkpoint.id())
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .until(
                        () -> statistics(checkpoint),
                        found -> found != null && found.getStatus().isCompleted())
                .getPersistedData();
    }

    private AbstractCheckpointStats statistics(Savepoint checkpoint) throws Exception {
        return graph().getCheckpointStatsSnapshot().getHistory().getCheckpointById(checkpoint.id());
    }

    /** Takes checkpoints until there is one that holds records on their way between tasks. */
    public Savepoint checkpointWithInFlightData() throws Exception {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() < deadline) {
            Savepoint checkpoint = checkpoint();
            if (inFlightBytes(checkpoint) > 0) {
                return checkpoint;
            }
        }
        throw new AssertionError("No checkpoint was unaligned: there is no back pressure.");
    }

    // ------------------------------------------------------------------------
    //  Life
    // ------------------------------------------------------------------------

    public void cancel() throws Exception {
        cluster.cancelJob(jobId).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        awaitStatus(JobStatus.CANCELED);
    }

    /** Takes the leadership from the job's JobMaster: nobody runs the job, or can end it. */
    public void revokeJobMaster() throws Exception {
        orphaned = true;
        leadership().revokeJobMasterLeadership(jobId).get(60, TimeUnit.SECONDS);
    }

    /** Takes the leadership from the job's JobMaster, and waits until the next one runs the job. */
    public void changeJobMaster() throws Exception {
        revokeJobMaster();
        leadership().grantJobMasterLeadership(jobId).get(60, TimeUnit.SECONDS);
        orphaned = false;
        awaitRunning();
    }

    private HaLeadershipControl leadership() {
        return cluster.getHaLeadershipControl()
                .orElseThrow(
                        () -> new AssertionError("Build the cluster with leadership control."));
    }

    /** Waits until no coordinator of any job in this process commits any more. */
    public static void awaitNoCommitter() {
        Awaitility.await("the committers of the jobs are gone")
                .atMost(DEADLINE)
                .until(
                        () ->
                                Thread.getAllStackTraces().keySet().stream()
                                        .noneMatch(
                                                thread ->
                                                        thread.isAlive()
                                                                && thread.getName()
                                                                        .startsWith(
                                                                                "paimon-committer-")));
    }

    /** Ends the job, whatever it does; for the end of a test. */
    public void cancelIfRunning() {
        if (orphaned) {
            return;
        }
        try {
            if (!status().isGloballyTerminalState()) {
                cluster.cancelJob(jobId).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            }
            result();
        } catch (Exception e) {
            throw new AssertionError("Cannot cancel " + jobId, e);
        }
    }

    /** Waits for the job's end, whatever end that is. */
    public JobResult result() throws Exception {
        return cluster.requestJobResult(jobId).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    public JobStatus status() throws Exception {
        return cluster.getJobStatus(jobId).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    public void awaitStatus(JobStatus status) {
        Awaitility.await("the job is " + status)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .failFast("the job ended instead", () -> ended(graph -> graph.getState() == status))
                .until(this::status, status::equals);
    }

    /** Waits until all tasks run (or have finished). */
    public void awaitRunning() {
        awaitGraph(
                "all tasks run",
                graph ->
                        graph.getState() == JobStatus.RUNNING
                                && tasks(graph).stream()
                                        .map(AccessExecutionVertex::getExecutionState)
                                        .allMatch(
                                                state ->
                                                        state == ExecutionState.RUNNING
                                                                || state
                                                                        == ExecutionState
                                                                                .FINISHED));
    }

    /** Adaptive scheduler: the running job restarts at another parallelism. */
    public void rescale(int parallelism) throws Exception {
        JobResourceRequirements.Builder requirements = JobResourceRequirements.newBuilder();
        for (AccessExecutionJobVertex vertex : graph().getVerticesTopologically()) {
            requirements.setParallelismForJobVertex(vertex.getJobVertexId(), 1, parallelism);
        }
        testCluster.require(jobId, requirements.build());
        awaitGraph(
                "the writers' parallelism is " + parallelism,
                graph -> writerTasks(graph).size() == parallelism);
        awaitRunning();
    }

    /** Waits until the task of each of these subtasks has this attempt number, and all run. */
    public void awaitAttempts(Integer... attempts) {
        awaitGraph(
                "the attempts are " + Arrays.asList(attempts),
                graph -> attemptsOf(graph).equals(Arrays.asList(attempts)));
        awaitRunning();
    }

    /** Attempt numbers of the subtasks of the vertex that writes. */
    public List<Integer> attempts() throws Exception {
        return attemptsOf(graph());
    }

    /** Waits until these subtasks of the vertex that writes have finished. */
    public void awaitFinished(Integer... subtasks) {
        awaitGraph(
                "the subtasks " + Arrays.asList(subtasks) + " have finished",
                graph -> {
                    for (int subtask : subtasks) {
                        if (writerTasks(graph).get(subtask).getExecutionState()
                                != ExecutionState.FINISHED) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    /** How many subtasks of vertices that write have finished. */
    public long finishedWriters(AccessExecutionGraph graph) {
        return writerTasks(graph).stream()
                .filter(task -> task.getExecutionState() == ExecutionState.FINISHED)
                .count();
    }

    /** Waits until the job has been restarted as a whole so many times, and runs. */
    public void awaitRestart(int times) {
        awaitGraph(
                "every task runs for the " + (times + 1) + ". time",
                graph -> attemptsOf(graph).stream().allMatch(attempt -> attempt >= times));
        awaitRunning();
    }

    public List<Integer> attemptsOf(AccessExecutionGraph graph) {
        List<Integer> attempts = new ArrayList<>();
        writerTasks(graph)
                .forEach(
                        task -> attempts.add(task.getCurrentExecutionAttempt().getAttemptNumber()));
        return attempts;
    }

    private static List<AccessExecutionVertex> writerTasks(AccessExecutionGraph graph) {
        List<AccessExecutionVertex> tasks = new ArrayList<>();
        for (AccessExecutionJobVertex vertex : graph.getVerticesTopologically()) {
            if (WRITER.matcher(vertex.getName()).find()) {
                tasks.addAll(Arrays.asList(vertex.getTaskVertices()));
            }
        }
        return tasks;
    }

    /** Fails at once when the job ends before the condition is fulfilled. */
    public void awaitGraph(String cause, Predicate<AccessExecutionGraph> predicate) {
        Awaitility.await(cause)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .failFast("the job ended instead", () -> ended(predicate))
                .until(this::graph, predicate::test);
    }

    private boolean ended(Predicate<AccessExecutionGraph> predicate) throws Exception {
        AccessExecutionGraph graph = graph();
        if (graph.getState().isGloballyTerminalState() && !predicate.test(graph)) {
            throw new AssertionError("The job is " + graph.getState() + ": " + failure());
        }
        return false;
    }

    public AccessExecutionGraph graph() throws Exception {
        return cluster.getExecutionGraph(jobId).get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static List<AccessExecutionVertex> tasks(AccessExecutionGraph graph) {
        List<AccessExecutionVertex> tasks = new ArrayList<>();
        graph.getAllExecutionVertices().forEach(tasks::add);
        return tasks;
    }

    /** What the job ended with, as text with all causes. Waits for the end. */
    public String failure() throws Exception {
        return result().getSerializedThrowable()
                .map(SerializedThrowable::getFullStringifiedStackTrace)
                .orElse("no failure");
    }

    /** Waits until a failure that the job went through says this. */
    public void awaitFailure(String text) {
        Awaitility.await("a failure says: " + text)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> failures().contains(text));
    }

    /** All failures that the job went through, as the web UI lists them. */
    public String failures() throws Exception {
        StringBuilder text = new StringBuilder();
        for (RootExceptionHistoryEntry entry : testCluster.info(jobId).getExceptionHistory()) {
            text.append(entry.getExceptionAsString()).append('\n');
            entry.getConcurrentExceptions()
                    .forEach(more -> text.append(more.getExceptionAsString()).append('\n'));
        }
        return text.toString();
    }

    // ------------------------------------------------------------------------

    /** What job to start. */
    public static final class Builder {

        static final String SOURCE = "lanes";

        private final TestCluster cluster;
        private final Path directory;
        private final Configuration configuration = new Configuration();
        private final List<Sink> sinks = new ArrayList<>();
        private int parallelism = 2;
        private boolean parallelismAtTheSink;
        private Input input = Input.CHAINED;
        private Boundedness boundedness = Boundedness.CONTINUOUS_UNBOUNDED;
        private boolean sql;
        private int filesPerFile = 1;
        private int indexBytes;
        private long coordinatorBytesPerSecond = Long.MAX_VALUE;
        private String restoreFrom;
        private boolean allowNonRestored;
        private RecoveryClaimMode claimMode = RecoveryClaimMode.DEFAULT;
        private String witness;

        private Builder(TestCluster cluster, Path directory) {
            this.cluster = cluster;
            this.directory = directory;
            configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
            configuration.set(
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    directory.resolve("checkpoints").toUri().toString());
            configuration.set(
                    CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                    ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
            configuration.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 100);
            configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
            configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 20);
            configuration.set(
                    RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY,
                    Duration.ofMillis(50));
        }

        /** One more sink, with a source of its own. */
        public Builder write(Scenario scenario, FileStoreTable table) {
            sinks.add(new Sink(scenario, table));
            return this;
        }

        public Builder parallelism(int newParallelism) {
            this.parallelism = newParallelism;
            return this;
        }

        /** The sink is given the job's parallelism, instead of taking its input's. */
        public Builder parallelismAtTheSink() {
            this.parallelismAtTheSink = true;
            return this;
        }

        public Builder input(Input newInput) {
            this.input = newInput;
            return this;
        }

        /** The sources say that they end; otherwise they end all the same, when told to. */
        public Builder bounded() {
            this.boundedness = Boundedness.BOUNDED;
            return this;
        }

        /** Writes by INSERT INTO a table of a catalog. */
        public Builder sql() {
            this.sql = true;
            return this;
        }

        /** Each file is reported so many times, under as many names. */
        public Builder filesPerFile(int copies) {
            this.filesPerFile = copies;
            return this;
        }

        /** Each file carries so long an index in its metadata, so that reports are long. */
        public Builder indexBytes(int bytesPerFile) {
            this.indexBytes = bytesPerFile;
            return this;
        }

        /** The JobManager is busy with what the writers send, and takes so much of it only. */
        public Builder coordinatorTakes(long bytesPerSecond) {
            this.coordinatorBytesPerSecond = bytesPerSecond;
            return this;
        }

        public Builder from(Savepoint savepoint) {
            this.restoreFrom = savepoint.location();
            return this;
        }

        /** Flink owns the savepoint from then on, and deletes it when checkpoints subsume it. */
        public Builder claim() {
            this.claimMode = RecoveryClaimMode.CLAIM;
            return this;
        }

        /** What the savepoint holds of operators that the job does not have is dropped. */
        public Builder allowNonRestoredState() {
            this.allowNonRestored = true;
            return this;
        }

        public Builder set(String key, String value) {
            configuration.setString(key, value);
            return this;
        }

        /** Fails after so many restarts. */
        public Builder restarts(int attempts) {
            configuration.set(
                    RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, attempts);
            return this;
        }

        /** Fails instead of restarting. */
        public Builder withoutRestart() {
            configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
            return this;
        }

        /** Adds a task of its own that decides when a savepoint completes or aborts. */
        public Builder with(SavepointWitness.Control control) {
            this.witness = control.id();
            return this;
        }

        public RunningJob submit() throws Exception {
            JobGraph jobGraph = jobGraph();
            cluster.miniCluster()
                    .submitJob(jobGraph)
                    .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            return new RunningJob(cluster, jobGraph.getJobID(), directory);
        }

        private JobGraph jobGraph() {
            StreamExecutionEnvironment env =
                    StreamExecutionEnvironment.getExecutionEnvironment(configuration);
            env.setParallelism(parallelism);
            Integer sinkParallelism = parallelismAtTheSink ? (Integer) parallelism : null;
            for (Sink sink : sinks) {
                DataStream<RowData> records = records(env, sink.scenario, sinks.indexOf(sink));
                if (sql) {
                    insert(env, records, sink.table);
                } else if (filesPerFile == 1 && coordinatorBytesPerSecond == Long.MAX_VALUE) {
                    new FlinkSinkBuilder(sink.table)
                            .forRowData(records)
                            .parallelism(sinkParallelism)
                            .build();
                } else {
                    new ManyFilesSink(
                                    sink.table,
                                    sinkParallelism,
                                    filesPerFile,
                                    indexBytes,
                                    coordinatorBytesPerSecond)
                            .sinkFrom(
                                    FlinkSinkBuilder.mapToInternalRow(
                                            records,
                                            sink.table.rowType(),
                                            CatalogContext.create(new Options())));
                }
            }
            JobGraph jobGraph = env.getStreamGraph().getJobGraph();
            if (restoreFrom != null) {
                jobGraph.setSavepointRestoreSettings(
                        SavepointRestoreSettings.forPath(restoreFrom, allowNonRestored, claimMode));
            }
            if (witness != null) {
                JobVertex vertex = new JobVertex("witness");
                vertex.setInvokableClass(SavepointWitness.class);
                vertex.setParallelism(1);
                vertex.setSlotSharingGroup(new SlotSharingGroup());
                vertex.getConfiguration().setString(SavepointWitness.CONTROL, witness);
                jobGraph.addVertex(vertex);
            }
            return jobGraph;
        }

        private static void insert(
                StreamExecutionEnvironment env, DataStream<RowData> records, FileStoreTable table) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(env);
            org.apache.paimon.fs.Path database = table.location().getParent();
            tables.executeSql(
                    String.format(
                            "CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '%s')",
                            database.getParent()));
            tables.createTemporaryView(
                    "records",
                    records.map(record -> Row.of(record.getLong(0), record.getInt(1)))
                            .returns(
                                    Types.ROW_NAMED(
                                            new String[] {"id", "lane"}, Types.LONG, Types.INT)));
            StreamStatementSet inserts = tables.createStatementSet();
            inserts.addInsertSql(
                    String.format(
                            "INSERT INTO paimon.%s.%s SELECT id, lane FROM records",
                            database.getName().replace(".db", ""), table.location().getName()));
            inserts.attachAsDataStream();
        }

        @SuppressWarnings("deprecation") // the legacy source
        private DataStream<RowData> records(
                StreamExecutionEnvironment env, Scenario scenario, int index) {
            String uid = SOURCE + index;
            if (input == Input.LEGACY) {
                return env.addSource(
                                new LegacyLaneSource(scenario.id()),
                                SOURCE,
                                TypeInformation.of(RowData.class))
                        .uid(uid);
            }
            SingleOutputStreamOperator<RowData> source =
                    env.fromSource(
                                    new LaneSource(scenario.id(), boundedness),
                                    WatermarkStrategy.noWatermarks(),
                                    SOURCE)
                            .uid(uid);
            switch (input) {
                case CHAINED:
                    return source;
                case UNCHAINED:
                    return source.disableChaining();
                default:
                    String scenarioId = scenario.id();
                    return source.rebalance()
                            .map(
                                    record -> {
                                        Scenario.of(scenarioId).passOn();
                                        return record;
                                    })
                            .returns(RowData.class)
                            .uid("pass-on-" + index);
            }
        }
    }

    private static final class Sink {

        private final Scenario scenario;
        private final FileStoreTable table;

        private Sink(Scenario scenario, FileStoreTable table) {
            this.scenario = scenario;
            this.table = table;
        }
    }
}
