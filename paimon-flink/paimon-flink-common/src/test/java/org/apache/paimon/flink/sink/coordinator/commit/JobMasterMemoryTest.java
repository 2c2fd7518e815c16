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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinatorTestingUtils.CheckpointCoordinatorBuilder;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStore;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import static org.assertj.core.api.Assertions.assertThat;

/** A1, A7: what outlives a coordinator, and what does not. */
class JobMasterMemoryTest {

    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void end() {
        executor.shutdownNow();
    }

    /** What Flink hands a coordinator; a new checkpoint coordinator for each restart. */
    private MockOperatorCoordinatorContext context(
            OperatorID operatorId, CompletedCheckpointStore store) throws Exception {
        CheckpointCoordinator checkpoints =
                store == null
                        ? null
                        : new CheckpointCoordinatorBuilder()
                                .setCompletedCheckpointStore(store)
                                .build(executor);
        return new MockOperatorCoordinatorContext(operatorId, 1) {
            @Override
            public CheckpointCoordinator getCheckpointCoordinator() {
                return checkpoints;
            }
        };
    }

    private static CompletedCheckpointStore store() {
        return new StandaloneCompletedCheckpointStore(1);
    }

    @Test
    @DisplayName(
            "A1: the adaptive scheduler's new coordinators find the memory of the earlier ones")
    void oneMemoryPerCheckpointStore() throws Exception {
        OperatorID operator = new OperatorID();
        CompletedCheckpointStore store = store();
        JobMasterMemory memory = JobMasterMemory.of(context(operator, store), "db.t");
        memory.aborted().add(7);

        assertThat(JobMasterMemory.of(context(operator, store), "db.t")).isSameAs(memory);
    }

    @Test
    @DisplayName("A1: another JobMaster has another memory, and so has another sink")
    void otherMemories() throws Exception {
        OperatorID operator = new OperatorID();
        CompletedCheckpointStore store = store();
        JobMasterMemory memory = JobMasterMemory.of(context(operator, store), "db.t");

        assertThat(JobMasterMemory.of(context(operator, store()), "db.t")).isNotSameAs(memory);
        assertThat(JobMasterMemory.of(context(new OperatorID(), store), "db.t"))
                .isNotSameAs(memory);
    }

    @Test
    @DisplayName("A1: without checkpoints there is nothing to remember beyond the coordinator")
    void withoutCheckpoints() throws Exception {
        MockOperatorCoordinatorContext context = context(new OperatorID(), null);

        assertThat(JobMasterMemory.of(context, "db.t"))
                .isNotSameAs(JobMasterMemory.of(context, "db.t"));
    }

    @Test
    @DisplayName("fault 13: it is collected with the JobMaster's checkpoint store")
    void collectedWithTheStore() throws Exception {
        CompletedCheckpointStore store = store();
        WeakReference<CompletedCheckpointStore> weakStore = new WeakReference<>(store);
        WeakReference<JobMasterMemory> memory =
                new WeakReference<>(JobMasterMemory.of(context(new OperatorID(), store), "db.t"));
        System.gc();
        assertThat(memory.get()).as("while the JobMaster lives").isNotNull();
        assertThat(store).isNotNull();
        store = null;

        CompletedCheckpointStore other = store();
        Awaitility.await("store and memory are collected")
                .atMost(Duration.ofSeconds(60))
                .until(
                        () -> {
                            System.gc();
                            // Any later job clears what is dead.
                            JobMasterMemory.of(context(new OperatorID(), other), "db.t");
                            return weakStore.get() == null && memory.get() == null;
                        });
    }
}
