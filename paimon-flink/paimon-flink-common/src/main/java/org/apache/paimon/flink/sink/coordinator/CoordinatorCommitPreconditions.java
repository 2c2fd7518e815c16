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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.transformations.WithBoundedness;

import static org.apache.flink.api.connector.source.Boundedness.BOUNDED;

/**
 * What the coordinator-commit path needs of a table and a job. Checked when the job graph is built;
 * each refusal names the option, the value it found and the value it needs.
 */
public final class CoordinatorCommitPreconditions {

    private static final String OPTION =
            FlinkConnectorOptions.SINK_COORDINATOR_COMMIT_ENABLED.key();

    private CoordinatorCommitPreconditions() {}

    /** Whether the table asks for the coordinator-commit path. */
    public static boolean requested(FileStoreTable table) {
        return Options.fromMap(table.options())
                .get(FlinkConnectorOptions.SINK_COORDINATOR_COMMIT_ENABLED);
    }

    /**
     * Refuses tables that the coordinator-commit path cannot serve.
     *
     * @throws IllegalArgumentException if so
     */
    public static void checkTable(FileStoreTable table) {
        require(
                table.primaryKeys().isEmpty(),
                "primary-key",
                table.primaryKeys().toString(),
                "no primary key");
        require(
                table.bucketMode() == BucketMode.BUCKET_UNAWARE,
                "bucket",
                table.coreOptions().bucket() + " (" + table.bucketMode() + ")",
                "-1 on a table without primary key (BUCKET_UNAWARE)");
        require(table.coreOptions().writeOnly(), "write-only", "false", "true");
        boolean precommitCompact =
                Options.fromMap(table.options()).get(FlinkConnectorOptions.PRECOMMIT_COMPACT);
        require(!precommitCompact, FlinkConnectorOptions.PRECOMMIT_COMPACT.key(), "true", "false");
    }

    /**
     * Refuses jobs that the coordinator-commit path cannot serve.
     *
     * @throws IllegalArgumentException if so
     */
    public static void checkJob(boolean streaming, CheckpointConfig checkpointConfig) {
        require(streaming, "execution.runtime-mode", "BATCH", "STREAMING");
        require(
                checkpointConfig.isCheckpointingEnabled(),
                CheckpointingOptions.CHECKPOINTING_INTERVAL.key(),
                "not set",
                "an interval");
        // Unaligned checkpoints are allowed (U1): reports do not travel with the records.
        CheckpointingMode mode = checkpointConfig.getCheckpointingConsistencyMode();
        require(
                mode == CheckpointingMode.EXACTLY_ONCE,
                CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE.key(),
                mode.name(),
                CheckpointingMode.EXACTLY_ONCE.name());
        int concurrent = checkpointConfig.getMaxConcurrentCheckpoints();
        require(
                concurrent == 1,
                CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS.key(),
                String.valueOf(concurrent),
                "1");
    }

    /**
     * Refuses a bounded source when the job takes no checkpoint after a task has finished: the rows
     * behind the last checkpoint would never be committed.
     *
     * @throws IllegalArgumentException if so
     */
    public static void checkBoundedSources(
            boolean checkpointsAfterTasksFinish, Transformation<?> written) {
        if (checkpointsAfterTasksFinish) {
            return;
        }
        for (Transformation<?> source : written.getTransitivePredecessors()) {
            boolean bounded =
                    source instanceof WithBoundedness
                            && ((WithBoundedness) source).getBoundedness() == BOUNDED;
            if (bounded) {
                throw new IllegalArgumentException(
                        String.format(
                                "%s = true with the bounded source '%s' needs %s = true, but it is"
                                        + " false: the rows behind the last checkpoint would be"
                                        + " lost.",
                                OPTION,
                                source.getName(),
                                CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH.key()));
            }
        }
    }

    /** For a sink that can only commit in an operator. */
    public static IllegalArgumentException unableSink(Class<?> sink) {
        return new IllegalArgumentException(
                String.format(
                        "%s is true, but the sink %s cannot commit in the coordinator: it needs %s"
                                + " to be false. Set it to false for this job.",
                        OPTION, sink.getName(), OPTION));
    }

    private static void require(boolean fulfilled, String name, String found, String needed) {
        if (!fulfilled) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s = true needs %s to be %s, but it is %s. Change it, or set %s ="
                                    + " false.",
                            OPTION, name, needed, found, OPTION));
        }
    }
}
