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

import org.apache.paimon.flink.sink.FlinkSinkBuilder;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.RestoredCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;

import javax.annotation.Nullable;

import java.io.File;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** A cluster in this process, and jobs that write generated orders into a table. */
final class JobRunner implements AutoCloseable {

    /** Rows that the sources of all jobs in this process have emitted. */
    static final LongAdder EMITTED = new LongAdder();

    /** Makes the next row fail the task that asks for it. */
    static final AtomicBoolean FAIL = new AtomicBoolean();

    private static final long TIMEOUT_SECONDS = 600;

    private final MiniCluster cluster;

    JobRunner(RpcServiceSharing rpcServices, int slots) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("web.checkpoints.history", "10000");
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.attempts", "3");
        configuration.setString("restart-strategy.fixed-delay.delay", "10 ms");
        configuration.setString("rest.bind-port", "0");
        configuration.setString("rest.address", "127.0.0.1");
        configuration.setString("taskmanager.memory.network.max", "64 mb");
        configuration.setString("taskmanager.memory.managed.size", "64 mb");
        configuration.setString("execution.checkpointing.timeout", "10 min");
        // In memory it takes 5 MB of state at the most; the worker's own directory is deleted
        // later.
        configuration.setString("execution.checkpointing.storage", "filesystem");
        configuration.setString(
                "execution.checkpointing.dir",
                new File(System.getProperty("java.io.tmpdir"), "checkpoints").toURI().toString());
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setCommonBindAddress("127.0.0.1")
                                .setRpcServiceSharing(rpcServices)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(slots)
                                .build());
        cluster.start();
    }

    /** An environment with checkpoints at this interval. */
    static StreamExecutionEnvironment environment(int parallelism, long checkpointMillis) {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism);
        env.enableCheckpointing(checkpointMillis);
        env.getConfig().disableClosureCleaner();
        return env;
    }

    /** Orders without end, at most so many per second and source. */
    static DataStream<RowData> orders(StreamExecutionEnvironment env, double rowsPerSecond) {
        return env.fromSource(
                new DataGeneratorSource<>(
                        JobRunner::order,
                        Long.MAX_VALUE,
                        RateLimiterStrategy.perSecond(rowsPerSecond),
                        InternalTypeInfo.ofFields(
                                new LogicalType[] {
                                    new BigIntType(),
                                    new VarCharType(VarCharType.MAX_LENGTH),
                                    new DoubleType(),
                                    new TimestampType(3),
                                    new VarCharType(VarCharType.MAX_LENGTH)
                                },
                                new String[] {"id", "customer", "amount", "at", "day"})),
                WatermarkStrategy.noWatermarks(),
                "orders");
    }

    private static RowData order(Long id) {
        if (FAIL.compareAndSet(true, false)) {
            throw new IllegalStateException("This task was told to fail.");
        }
        EMITTED.increment();
        return GenericRowData.of(
                id,
                StringData.fromString("customer-" + id % 10_000),
                id * 0.25,
                TimestampData.fromEpochMillis(1_767_225_600_000L + id),
                StringData.fromString("2026-01-01"));
    }

    /** Starts a job that writes into the table, and waits until all its tasks run. */
    JobID write(FileStoreTable table, int parallelism, long checkpointMillis, double rowsPerSecond)
            throws Exception {
        StreamExecutionEnvironment env = environment(parallelism, checkpointMillis);
        new FlinkSinkBuilder(table)
                .forRowData(orders(env, rowsPerSecond))
                .parallelism(parallelism)
                .build();
        return submit(env, null);
    }

    JobID submit(StreamExecutionEnvironment env, @Nullable String savepoint) throws Exception {
        JobGraph graph = env.getStreamGraph().getJobGraph();
        if (savepoint != null) {
            graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint));
        }
        JobID job = get(cluster.submitJob(graph)).getJobID();
        await("all tasks of the job run", () -> restartsIfRunning(job) >= 0);
        return job;
    }

    /** How many task attempts were needed beyond the first; -1 while not all tasks run. */
    private int restartsIfRunning(JobID job) throws Exception {
        AccessExecutionGraph graph = graph(job);
        if (graph.getState().isGloballyTerminalState()) {
            throw new IllegalStateException(
                    "The job is "
                            + graph.getState()
                            + ": "
                            + (graph.getFailureInfo() == null
                                    ? "no reason known"
                                    : graph.getFailureInfo().getExceptionAsString()));
        }
        if (graph.getState() != JobStatus.RUNNING) {
            return -1;
        }
        int restarts = 0;
        for (AccessExecutionVertex vertex : graph.getAllExecutionVertices()) {
            if (vertex.getExecutionState() != ExecutionState.RUNNING) {
                return -1;
            }
            restarts += vertex.getCurrentExecutionAttempt().getAttemptNumber();
        }
        return restarts;
    }

    /** Waits until tasks have failed and all run again. */
    int awaitRestart(JobID job) throws Exception {
        await("the failed task runs again", () -> restartsIfRunning(job) > 0);
        return restartsIfRunning(job);
    }

    /** Id of the checkpoint from which tasks were restored last. */
    long restoredCheckpoint(JobID job) throws Exception {
        RestoredCheckpointStats restored =
                graph(job).getCheckpointStatsSnapshot().getLatestRestoredCheckpoint();
        if (restored == null) {
            throw new IllegalStateException("The job was not restored from a checkpoint.");
        }
        return restored.getCheckpointId();
    }

    AccessExecutionGraph graph(JobID job) throws Exception {
        return get(cluster.getExecutionGraph(job));
    }

    String savepoint(JobID job, java.nio.file.Path directory) throws Exception {
        return get(
                cluster.triggerSavepoint(
                        job, directory.toUri().toString(), false, SavepointFormatType.CANONICAL));
    }

    void checkpoint(JobID job) throws Exception {
        get(cluster.triggerCheckpoint(job, CheckpointType.CONFIGURED));
    }

    void cancel(JobID job) throws Exception {
        get(cluster.cancelJob(job));
        await("the job is cancelled", () -> get(cluster.getJobStatus(job)) == JobStatus.CANCELED);
    }

    static void await(String condition, Callable<Boolean> holds) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!holds.call()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "Waited " + TIMEOUT_SECONDS + " s in vain for: " + condition);
            }
            Thread.sleep(5);
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }
}
