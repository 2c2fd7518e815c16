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

import org.apache.paimon.flink.sink.coordinator.commit.CoordinatorMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.RecordedMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTagMetrics;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.utils.SteppedEventLoop;

import org.apache.flink.metrics.groups.OperatorCoordinatorMetricGroup;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** The metrics of the coordinator path, over a real table. */
class CoordinatorMetricsTest {

    @TempDir private File directory;

    private final RecordedMetrics metrics = new RecordedMetrics();
    private final OperatorCoordinator.Context context =
            new MockOperatorCoordinatorContext(
                    new OperatorID(),
                    CoordinatorFixture.PARALLELISM,
                    CoordinatorMetricsTest.class.getClassLoader()) {
                @Override
                public OperatorCoordinatorMetricGroup metricGroup() {
                    return metrics;
                }
            };

    private CoordinatorFixture fixture;
    private JobMasterMemory memory;
    private SteppedEventLoop loop;
    private CommitSession session;

    @BeforeEach
    void begin() throws Exception {
        fixture = new CoordinatorFixture(directory);
        memory = fixture.memory();
    }

    private void create() throws Exception {
        session =
                fixture.coordinator(
                        context,
                        Duration.ofSeconds(1),
                        onFailure -> loop = new SteppedEventLoop(onFailure),
                        memory);
    }

    private byte[] checkpoint(long id) throws Exception {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        session.checkpointCoordinator(id, result);
        loop.runAll();
        return result.get();
    }

    @Test
    @DisplayName("What is pending is shown, and what was committed and tagged is counted")
    void showsWhatIsHeldAndCountsWhatIsCommitted() throws Exception {
        create();
        session.start();
        CoordinatorFixture.Writer writer0 = fixture.writer(session, 0, 0, -1);
        CoordinatorFixture.Writer writer1 = fixture.writer(session, 1, 0, -1);
        assertThat(loop.queued()).isPositive();
        loop.runAll();
        EncodedReport first = fixture.savepoint(1, 1);
        checkpoint(1);
        writer0.report(first);
        assertThat(metrics.value(CoordinatorMetrics.QUEUED_ACTIONS)).isEqualTo(1);
        loop.runAll();
        assertThat(metrics.value(CoordinatorMetrics.QUEUED_ACTIONS)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.PENDING_CHECKPOINTS)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.PENDING_SAVEPOINTS)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.HELD_REPORT_BYTES))
                .isEqualTo(first.serialized().length);
        assertThat(metrics.value(CoordinatorMetrics.COMMITS)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.SECONDS_SINCE_LAST_COMMIT)).isEqualTo(-1);
        assertThat(metrics.value(SavepointTagMetrics.LAST_TAGGED)).isEqualTo(-1);

        EncodedReport second = fixture.savepoint(1, 2);
        writer1.report(second);
        checkpoint(2);
        writer0.report(fixture.report(2, 3));
        writer1.report(fixture.report(2));
        loop.runAll();
        assertThat(metrics.value(CoordinatorMetrics.PENDING_CHECKPOINTS)).isEqualTo(2);
        assertThat(metrics.value(CoordinatorMetrics.PENDING_SAVEPOINTS)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.HELD_REPORT_BYTES))
                .isGreaterThan(first.serialized().length + second.serialized().length);

        session.notifyCheckpointComplete(2);
        loop.runAll();
        assertThat(metrics.value(CoordinatorMetrics.PENDING_CHECKPOINTS)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.PENDING_SAVEPOINTS)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.HELD_REPORT_BYTES)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.COMMITS)).isEqualTo(2);
        assertThat(metrics.value(CoordinatorMetrics.LAST_COMMIT_DURATION)).isNotNegative();
        assertThat(metrics.value(CoordinatorMetrics.SECONDS_SINCE_LAST_COMMIT)).isNotNegative();
        assertThat(metrics.value(SavepointTagMetrics.TAGS_CREATED)).isEqualTo(1);
        assertThat(metrics.value(SavepointTagMetrics.LAST_TAGGED)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.RESTORES)).isZero();
    }

    @Test
    @DisplayName("A failover counts on, shows the new session, and registers nothing again")
    void countsOnAfterAFailover() throws Exception {
        create();
        session.start();
        CoordinatorFixture.Writer writer0 = fixture.writer(session, 0, 0, -1);
        CoordinatorFixture.Writer writer1 = fixture.writer(session, 1, 0, -1);
        loop.runAll();
        byte[] state = checkpoint(1);
        EncodedReport report = fixture.report(1, 1);
        writer0.report(report);
        writer1.report(fixture.report(1));
        session.notifyCheckpointComplete(1);
        loop.runAll();
        session.executionAttemptFailed(0, 0);
        writer0.report(fixture.report(2));
        loop.runAll();
        assertThat(metrics.value(CoordinatorMetrics.LATE_EVENTS_IGNORED)).isEqualTo(1);
        session.close(false);

        create();
        session.resetToCheckpoint(1, state);
        session.start();
        fixture.writer(session, 0, 1, 1, report);
        loop.runAll();
        assertThat(metrics.value(CoordinatorMetrics.HELD_REPORT_BYTES))
                .isEqualTo(report.serialized().length);
        assertThat(metrics.value(CoordinatorMetrics.RESTORES)).isZero();
        fixture.writer(session, 1, 1, 1, fixture.report(1));
        loop.runAll();

        assertThat(metrics.value(CoordinatorMetrics.RESTORES)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.LAST_RESTORE_DURATION)).isNotNegative();
        assertThat(metrics.value(CoordinatorMetrics.HELD_REPORT_BYTES)).isZero();
        assertThat(metrics.value(CoordinatorMetrics.COMMITS)).isEqualTo(1);
        assertThat(metrics.value(CoordinatorMetrics.LATE_EVENTS_IGNORED)).isEqualTo(1);
    }

    @Test
    @DisplayName("T5, A1: collisions and deletions of tags are counted")
    void countsCollisionsAndDeletions() throws Exception {
        create();
        session.start();
        CoordinatorFixture.Writer writer0 = fixture.writer(session, 0, 0, -1);
        CoordinatorFixture.Writer writer1 = fixture.writer(session, 1, 0, -1);
        loop.runAll();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1));
        session.notifyCheckpointComplete(1);
        loop.runAll();
        fixture.table.table().createTag("savepoint-2");
        checkpoint(2);
        writer0.report(fixture.savepoint(2, 1));
        writer1.report(fixture.savepoint(2));
        checkpoint(3);
        writer0.report(fixture.report(3));
        writer1.report(fixture.report(3));
        session.notifyCheckpointComplete(3);
        loop.runAll();
        assertThat(metrics.value(SavepointTagMetrics.TAG_COLLISIONS)).isEqualTo(1);
        assertThat(metrics.value(SavepointTagMetrics.TAGS_CREATED)).isEqualTo(1);

        memory.aborted().add(2);
        session.notifyCheckpointAborted(2);
        loop.runAll();
        assertThat(metrics.value(SavepointTagMetrics.TAGS_DELETED)).isEqualTo(1);
        assertThat(metrics.value(SavepointTagMetrics.TAG_FAILURES)).isZero();
        assertThat(metrics.value(SavepointTagMetrics.SNAPSHOTS_GONE)).isZero();
    }
}
