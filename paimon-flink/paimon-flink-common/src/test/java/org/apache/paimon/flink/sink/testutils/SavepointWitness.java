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

import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.checkpoint.CheckpointMetaData;
import org.apache.flink.runtime.checkpoint.CheckpointMetrics;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.checkpoint.TaskStateSnapshot;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.jobgraph.tasks.AbstractInvokable;

import org.awaitility.Awaitility;

import java.time.Duration;
import java.util.Map;
import java.util.NavigableSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;

/**
 * A task beside the others that acknowledges checkpoints at once, and savepoints when the test says
 * so: until then a savepoint is pending, whatever completes meanwhile.
 */
public final class SavepointWitness extends AbstractInvokable {

    static final String CONTROL = "test.witness";

    private static final Map<String, Control> CONTROLS = new ConcurrentHashMap<>();

    private final CountDownLatch ended = new CountDownLatch(1);

    /** The savepoint that the job stops with. */
    private volatile long stopSavepoint = -1;

    public SavepointWitness(Environment environment) {
        super(environment);
    }

    @Override
    public void invoke() throws Exception {
        control().witness = this;
        ended.await();
    }

    @Override
    public void cancel() {
        ended.countDown();
    }

    private Control control() {
        return CONTROLS.get(getTaskConfiguration().getString(CONTROL, null));
    }

    @Override
    public CompletableFuture<Boolean> triggerCheckpointAsync(
            CheckpointMetaData metaData, CheckpointOptions options) {
        SnapshotType type = options.getCheckpointType();
        if (type.isSavepoint()) {
            if (((SavepointType) type).isSynchronous()) {
                stopSavepoint = metaData.getCheckpointId();
            }
            control().pending.add(metaData.getCheckpointId());
        } else {
            acknowledge(metaData.getCheckpointId());
        }
        return CompletableFuture.completedFuture(true);
    }

    private void acknowledge(long checkpointId) {
        getEnvironment()
                .acknowledgeCheckpoint(
                        checkpointId, new CheckpointMetrics(), new TaskStateSnapshot());
    }

    @Override
    public Future<Void> notifyCheckpointCompleteAsync(long checkpointId) {
        if (checkpointId == stopSavepoint) {
            ended.countDown();
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public Future<Void> notifyCheckpointAbortAsync(long checkpointId, long latestCompletedId) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public Future<Void> notifyCheckpointSubsumedAsync(long checkpointId) {
        return CompletableFuture.completedFuture(null);
    }

    /** The test's end. */
    public static final class Control implements AutoCloseable {

        private final String id = UUID.randomUUID().toString();
        private final NavigableSet<Long> pending = new ConcurrentSkipListSet<>();
        private volatile SavepointWitness witness;

        private Control() {}

        public static Control open() {
            Control control = new Control();
            CONTROLS.put(control.id, control);
            return control;
        }

        String id() {
            return id;
        }

        /** Waits until a savepoint later than this one was triggered, and returns its id. */
        public long awaitSavepoint(long before) {
            Awaitility.await("a savepoint was triggered")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> pending.higher(before) != null);
            return pending.higher(before);
        }

        /** Lets it complete, as far as the witness is concerned. */
        public void acknowledge(long savepointId) {
            pending.remove(savepointId);
            witness.acknowledge(savepointId);
        }

        /** Lets it abort. */
        public void decline(long savepointId) {
            pending.remove(savepointId);
            witness.getEnvironment()
                    .declineCheckpoint(
                            savepointId,
                            new CheckpointException(
                                    "planned decline",
                                    CheckpointFailureReason.CHECKPOINT_DECLINED));
        }

        @Override
        public void close() {
            CONTROLS.remove(id);
        }
    }
}
