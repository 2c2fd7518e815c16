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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.Hook;
import org.apache.paimon.flink.sink.testutils.Input;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * U1: unaligned checkpoints under back pressure. Writers take one record a millisecond, sources
 * emit as many as they can, and what lies between the two is full.
 */
class UnalignedCheckpointITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster().withSmallBuffers();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @Override
    protected Input input() {
        return Input.REBALANCED;
    }

    @BeforeEach
    void pressBack() {
        scenario.slowDown();
        scenario.flow();
    }

    private RunningJob.Builder unaligned(AppendTable table) {
        return job(table).set("execution.checkpointing.unaligned.enabled", "true");
    }

    private AppendTable table(String... keysAndValues) throws Exception {
        return table(CommitPath.COORDINATOR, keysAndValues);
    }

    /** Stops the job: everything that was emitted is written, and committed, once. */
    private void stopAndCheck(RunningJob job, AppendTable table) throws Exception {
        scenario.speedUp();
        scenario.pause();
        Savepoint last = job.stop();
        assertThat(table.tags()).contains(last.tag());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    @ParameterizedTest(name = "aligned for {0}")
    @ValueSource(strings = {"0 ms", "20 ms"})
    @DisplayName("U1, T1: a savepoint between unaligned checkpoints is aligned, and tagged")
    void savepointBetweenUnalignedCheckpointsIsTagged(String alignedFor) throws Exception {
        AppendTable table = table();
        RunningJob job =
                start(
                        unaligned(table)
                                .set(
                                        "execution.checkpointing.aligned-checkpoint-timeout",
                                        alignedFor));
        job.checkpointWithInFlightData();
        Savepoint savepoint = job.savepoint();
        assertThat(job.inFlightBytes(savepoint)).isZero();
        job.checkpointWithInFlightData();

        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        stopAndCheck(job, table);
    }

    @Test
    @DisplayName("U1, A3: a region restarts from an unaligned checkpoint, the other goes on")
    void regionRestartsFromAnUnalignedCheckpoint() throws Exception {
        AppendTable table = table();
        Scenario other = scenario(100, 4);
        AppendTable otherTable =
                AppendTable.create(directory, other, CommitPath.COORDINATOR.options());
        other.slowDown();
        other.flow();
        RunningJob job = start(unaligned(table).write(other, otherTable.table()));
        job.checkpointWithInFlightData();
        Savepoint savepoint = job.savepoint();
        job.checkpointWithInFlightData();
        table.awaitTags(savepoint.tag());
        Savepoint broken = job.savepoint();
        scenario.fail(0);
        job.awaitGraph("one region has restarted", graph -> oneOfTwoHasRestarted(job, graph));
        job.awaitRunning();
        Savepoint next = job.checkpointWithInFlightData();

        table.awaitCommitted(next.id());
        table.assertTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        otherTable.awaitTags(savepoint.tag(), broken.tag());
        otherTable.assertTagHolds(broken.tag(), other.before(broken.id()));
        other.speedUp();
        other.pause();
        stopAndCheck(job, table);
        otherTable.assertHolds(other.everything());
        assertThat(oneOfTwoHasRestarted(job, job.graph())).isTrue();
    }

    private static boolean oneOfTwoHasRestarted(RunningJob job, AccessExecutionGraph graph) {
        List<Integer> attempts = job.attemptsOf(graph);
        return attempts.stream()
                .sorted()
                .collect(Collectors.toList())
                .equals(Arrays.asList(0, 0, 1, 1));
    }

    @ParameterizedTest(name = "drain {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName("U1, T2: a stop after unaligned checkpoints returns with all rows and its tag")
    void stopAfterUnalignedCheckpoints(boolean drain) throws Exception {
        AppendTable table = table();
        RunningJob job = start(unaligned(table));
        job.checkpointWithInFlightData();
        Savepoint savepoint = drain ? job.stopWithDrain() : job.stop();

        assertThat(table.latest().commitIdentifier()).isEqualTo(savepoint.id());
        table.assertTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.before(savepoint.id()));
        if (!drain) {
            RunningJob restored = start(unaligned(table).from(savepoint));
            restored.checkpointWithInFlightData();
            stopAndCheck(restored, table);
        }
    }

    @ParameterizedTest(name = "{0} to {1}")
    @CsvSource({"4, 2", "2, 4", "3, 1", "2, 2"})
    @DisplayName("U1, A6: a retained unaligned checkpoint that is not committed yet, rescaled")
    void retainedUnalignedCheckpointIsRescaled(int from, int to) throws Exception {
        AppendTable table = table("sink.coordinator-commit.close-timeout", "100 ms");
        RunningJob job = start(unaligned(table).parallelism(from));
        table.awaitCommitted(job.checkpointWithInFlightData().id());
        Savepoint savepoint = job.savepoint();
        Hook.Gate gate = scenario.beforeSnapshot.holdNext();
        Savepoint checkpoint = job.checkpointWithInFlightData();
        gate.awaitReached();
        job.cancel();
        assertThat(table.identifiers()).doesNotContain(savepoint.id(), checkpoint.id());

        RunningJob restored = start(unaligned(table).parallelism(to).from(checkpoint));
        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        stopAndCheck(restored, table);
    }
}
