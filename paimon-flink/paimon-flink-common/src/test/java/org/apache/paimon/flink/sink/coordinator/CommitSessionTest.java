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

import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.flink.sink.coordinator.commit.ForeignCommitException;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.GoldenBytes;
import org.apache.paimon.flink.sink.state.CoordinatorState;
import org.apache.paimon.flink.sink.state.CoordinatorStateSerializer;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.fs.Path;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.OwnSnapshot;
import org.apache.paimon.tag.SnapshotPosition;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.utils.SteppedEventLoop;
import org.apache.paimon.utils.ThreadEventLoop;

import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** One session of the coordinator over a real table, its event loop stepped by hand. */
class CommitSessionTest {

    @TempDir private File directory;

    private CoordinatorFixture fixture;
    private SteppedEventLoop loop;
    private JobMasterMemory memory;
    private CommitSession coordinator;
    private CoordinatorFixture.Writer writer0;
    private CoordinatorFixture.Writer writer1;

    @BeforeEach
    void begin() throws Exception {
        fixture = new CoordinatorFixture(directory);
    }

    private void create() throws Exception {
        create(fixture.memory());
    }

    private void create(JobMasterMemory memoryOfTheJobMaster) throws Exception {
        memory = memoryOfTheJobMaster;
        coordinator =
                fixture.coordinator(
                        fixture.context,
                        Duration.ofSeconds(1),
                        onFailure -> loop = new SteppedEventLoop(onFailure),
                        memory);
    }

    /** A fresh job whose writers run. */
    private void start() throws Exception {
        create();
        coordinator.start();
        writer0 = fixture.writer(coordinator, 0, 0, -1);
        writer1 = fixture.writer(coordinator, 1, 0, -1);
        loop.runAll();
    }

    private byte[] checkpoint(long id) throws Exception {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        coordinator.checkpointCoordinator(id, result);
        loop.runAll();
        assertThat(result).isCompleted();
        return result.get();
    }

    /** As {@link CommittingWriteOperatorCoordinator} does it. */
    private void abort(long id) {
        memory.aborted().add(id);
        coordinator.notifyCheckpointAborted(id);
    }

    private void complete(long id) {
        coordinator.notifyCheckpointComplete(id);
        loop.runAll();
    }

    // ------------------------------------------------------------------------
    //  Checkpoints and savepoints
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T1: an asynchronous savepoint is tagged when the next checkpoint completes")
    void tagsSavepoints() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        writer1.report(fixture.savepoint(1, 2));
        checkpoint(2);
        writer0.report(fixture.report(2, 3));
        writer1.report(fixture.report(2));
        loop.runAll();
        assertThat(fixture.identifiers()).isEmpty();
        complete(2);

        assertThat(fixture.identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        assertThat(fixture.table.idsAtTag("savepoint-1")).containsExactly(1, 2);
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("A7: Flink's calls only queue; whatever blocks happens on the loop")
    void callsOnlyQueue() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        fixture.table.fileIO().reset();
        coordinator.notifyCheckpointComplete(1);
        coordinator.notifyCheckpointAborted(1);
        coordinator.subtaskReset(0, 1);

        assertThat(fixture.table.fileIO().total()).isZero();
        assertThat(loop.pending()).hasSize(5);
        loop.runAll();
        assertThat(fixture.identifiers()).containsExactly(1L);
    }

    @Test
    @DisplayName("A2: a report that arrives after the abort of its savepoint stays withdrawn")
    void reportAfterTheAbort() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        abort(1);
        writer1.report(fixture.savepoint(1, 2));
        checkpoint(2);
        writer0.report(fixture.report(2, 3));
        writer1.report(fixture.report(2, 4));
        complete(2);

        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4);
        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("A1: an abort after the tag was created deletes the tag")
    void abortAfterTheTag() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        writer1.report(fixture.savepoint(1, 2));
        checkpoint(2);
        writer0.report(fixture.report(2));
        writer1.report(fixture.report(2));
        complete(2);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        coordinator.notifyCheckpointAborted(1);
        loop.runAll();

        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.table.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A3: a savepoint newer than a reset makes no snapshot and no tag, its rows stay")
    void regionFailover() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        complete(1);
        checkpoint(2);
        writer0.report(fixture.savepoint(2, 3));
        writer1.report(fixture.savepoint(2, 4));
        coordinator.executionAttemptFailed(1, 0);
        coordinator.subtaskReset(1, 1);
        writer1 = fixture.writer(coordinator, 1, 1, 1, fixture.report(1));
        coordinator.executionAttemptReady(1);
        checkpoint(3);
        writer0.report(fixture.report(3, 5));
        writer1.report(fixture.report(3, 4));
        complete(3);

        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4, 5);
        assertThat(fixture.identifiers()).containsExactly(1L, 3L);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("W1: a report that was lost on its way fails the job, and nothing is committed")
    void lostReport() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.reportInVain(fixture.report(1, 2));
        complete(1);

        assertThat(fixture.identifiers()).isEmpty();
        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("subtask 1 (attempt 0), checkpoint 1")
                .hasMessageContaining("checkpoint 1 complete");
    }

    @Test
    @DisplayName("E2: a writer that has finished is not awaited")
    void finishedWriter() throws Exception {
        start();
        checkpoint(1);
        writer0.reportEndOfInput(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        complete(1);
        checkpoint(2);
        writer1.report(fixture.report(2, 3));
        complete(2);

        assertThat(fixture.table.ids()).containsExactly(1, 2, 3);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("W1, W3: an event of an unknown type fails the job, naming itself and its sender")
    void unknownEvent() throws Exception {
        start();
        coordinator.handleEventFromOperator(1, 4, new UnknownEvent());
        loop.runAll();

        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("subtask 1 (attempt 4)")
                .hasMessageContaining(UnknownEvent.class.getName());
    }

    @Test
    @DisplayName("W1: what an attempt sent before it failed arrives in vain")
    void reportOfAFailedAttempt() throws Exception {
        start();
        checkpoint(1);
        writer1.report(fixture.report(1, 2));
        coordinator.executionAttemptFailed(0, 0);
        writer0.report(fixture.report(1, 1));
        complete(1);

        assertThat(fixture.identifiers()).isEmpty();
        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("subtask 0 (attempt 0), checkpoint 1")
                .hasMessageContaining("never arrived");
    }

    @Test
    @DisplayName("A7: a fresh job is not stopped by later identifiers of its own commit user")
    void freshJobOverOldSnapshots() throws Exception {
        fixture.table.commit(CoordinatorFixture.USER, 7, 100);
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        complete(1);

        assertThat(fixture.identifiers()).containsExactly(7L, 1L);
        assertThat(fixture.table.ids()).containsExactly(1, 2, 100);
    }

    private static final class UnknownEvent implements OperatorEvent {

        private static final long serialVersionUID = 1L;
    }

    // ------------------------------------------------------------------------
    //  Restore
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: it waits for all replays, commits and tags them, and only then acknowledges")
    void restoreWaitsForReplays() throws Exception {
        restoring(3, stateOf(fixture));
        CompletableFuture<byte[]> checkpoint = new CompletableFuture<>();
        coordinator.checkpointCoordinator(4, checkpoint);
        fixture.writer(coordinator, 0, 0, 3, fixture.savepoint(2, 1), fixture.report(3, 3));
        coordinator.executionAttemptReady(0);
        loop.runAll();
        assertThat(checkpoint).isNotDone();
        assertThat(fixture.identifiers()).isEmpty();

        fixture.writer(coordinator, 1, 0, 3, fixture.savepoint(2, 2), fixture.report(3));
        loop.runAll();
        assertThat(checkpoint).isCompleted();
        assertThat(fixture.identifiers()).containsExactly(2L, 3L);
        assertThat(fixture.table.idsAtTag("savepoint-2")).containsExactly(1, 2);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("E4: a vertex that had finished in the restored checkpoint does not hold it back")
    void restoreOfAFinishedVertex() throws Exception {
        restoring(3, stateOf(fixture));
        coordinator.executionAttemptReady(0);
        coordinator.executionAttemptReady(1);
        CompletableFuture<byte[]> checkpoint = new CompletableFuture<>();
        coordinator.checkpointCoordinator(4, checkpoint);
        loop.runAll();

        assertThat(checkpoint).isCompleted();
        complete(4);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName(
            "A1: what an earlier session was told to withdraw stays untagged after the restore")
    void abortsOfEarlierLives() throws Exception {
        create(fixture.memory());
        memory.aborted().add(2);
        coordinator.resetToCheckpoint(3, stateOf(fixture));
        coordinator.start();
        fixture.writer(coordinator, 0, 0, 3, fixture.savepoint(2, 1), fixture.report(3));
        fixture.writer(coordinator, 1, 0, 3, fixture.savepoint(2, 2), fixture.report(3));
        loop.runAll();

        assertThat(fixture.table.ids()).containsExactly(1, 2);
        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("A1: an abort while the replays come in withdraws as well")
    void abortWhileRestoring() throws Exception {
        restoring(3, stateOf(fixture));
        fixture.writer(coordinator, 0, 0, 3, fixture.savepoint(2, 1), fixture.report(3));
        abort(2);
        fixture.writer(coordinator, 1, 0, 3, fixture.savepoint(2, 2), fixture.report(3));
        loop.runAll();

        assertThat(fixture.table.ids()).containsExactly(1, 2);
        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName(
            "A4: a restore from before the coordinator had state starts afresh and takes replays")
    void restoreWithoutState() throws Exception {
        restoring(3, null);
        fixture.writer(coordinator, 0, 0, 3);
        fixture.writer(coordinator, 1, 0, 3);
        loop.runAll();

        checkpoint(4);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("T2, fault 18: a completion while restoring answers no writer before the recovery")
    void completionWhileRestoring() throws Exception {
        restoring(3, stateOf(fixture));
        CompletableFuture<CoordinationResponse> answer = await(3);
        complete(3);
        loop.runAll();
        assertThat(answer).isNotDone();

        fixture.writer(coordinator, 0, 0, 3, fixture.report(3, 1));
        fixture.writer(coordinator, 1, 0, 3, fixture.report(3, 2));
        loop.runAll();
        assertThat(answer).isCompleted();
        assertThat(fixture.table.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A4: replays of what the checkpoint knows as committed are not committed again")
    void committedReplays() throws Exception {
        start();
        EncodedReport[] savepoints = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        EncodedReport[] reports = {fixture.report(2, 3), fixture.report(2, 4)};
        checkpoint(1);
        writer0.report(savepoints[0]);
        writer1.report(savepoints[1]);
        complete(1);
        byte[] state = checkpoint(2);
        writer0.report(reports[0]);
        writer1.report(reports[1]);
        loop.runAll();
        coordinator.close(false);
        // Its owner deletes the tag, and all own snapshots expire.
        fixture.table.table().deleteTag("savepoint-1");
        fixture.table.commit("another-job", 1, 100);
        fixture.table.expireAllBut(1);

        restoring(2, state);
        fixture.writer(coordinator, 0, 0, 2, savepoints[0], reports[0]);
        fixture.writer(coordinator, 1, 0, 2, savepoints[1], reports[1]);
        loop.runAll();
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4, 100);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("R1: a vertex that is new in the restored job names no checkpoint, and starts")
    void newVertex() throws Exception {
        restoring(3, null);
        writer0 = fixture.writer(coordinator, 0, 0, -1);
        writer1 = fixture.writer(coordinator, 1, 0, -1);
        loop.runAll();
        checkpoint(4);
        writer0.report(fixture.report(4, 1));
        writer1.report(fixture.report(4, 2));
        complete(4);

        assertThat(fixture.table.ids()).containsExactly(1, 2);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("R2: a table rolled back too far fails the first start, and nothing is written")
    void rolledBackTooFar() throws Exception {
        start();
        Snapshot kept = fixture.table.commit("another-job", 1, 100);
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        complete(1);
        byte[] state = checkpoint(2);
        coordinator.close(false);
        fixture.table.table().rollbackTo(kept.id());

        restoring(2, state);
        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("Checkpoint 2 knows snapshot 2")
                .hasMessageContaining("rolled back further than the checkpoint");
        assertThat(fixture.table.ids()).containsExactly(100);
        coordinator.close(false);
    }

    @Test
    @DisplayName("fault 16: a table that is dropped while the job runs does not exist any more")
    void droppedTable() throws Exception {
        dropTheTable(false);

        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("does not exist any more");
    }

    @Test
    @DisplayName("fault 16: nothing is written to a table that was dropped and created again")
    void tableCreatedAgain() throws Exception {
        dropTheTable(true);

        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("dropped and created again");
        assertThat(fixture.table.snapshots()).isEmpty();
    }

    private void dropTheTable(boolean createAgain) throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        complete(1);
        writer0.report(fixture.report(2, 3));
        writer1.report(fixture.report(2, 4));
        loop.runAll();
        fixture.table.dropTable();
        if (createAgain) {
            fixture.table.createTableAgain();
        }
        complete(2);
    }

    @Test
    @DisplayName("A7: a foreign commit fails the job, again after its restart, and writes nothing")
    void foreignCommit() throws Exception {
        start();
        byte[] state = checkpoint(1);
        EncodedReport[] reports = {fixture.report(1, 1), fixture.report(1, 2)};
        writer0.report(reports[0]);
        writer1.report(reports[1]);
        fixture.table.commitAs(CoordinatorFixture.USER, "run of a clone", 1, 100);
        complete(1);
        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("run of a clone")
                .hasRootCauseInstanceOf(ForeignCommitException.class);
        coordinator.close(false);

        JobMasterMemory sameJobMaster = memory;
        create(sameJobMaster);
        coordinator.resetToCheckpoint(1, state);
        coordinator.start();
        CompletableFuture<byte[]> next = new CompletableFuture<>();
        coordinator.checkpointCoordinator(2, next);
        fixture.writer(coordinator, 0, 1, 1, reports[0]);
        fixture.writer(coordinator, 1, 1, 1, reports[1]);
        loop.runAll();
        assertThat(next).isCompletedExceptionally();
        assertThatThrownBy(next::get).hasMessageContaining("run of a clone");
        assertThat(fixture.table.ids()).containsExactly(100);
    }

    private void restoring(long checkpointId, byte[] state) throws Exception {
        create();
        coordinator.resetToCheckpoint(checkpointId, state);
        coordinator.start();
        loop.runAll();
    }

    /** State of checkpoint 3 as a coordinator of a fresh job writes it. */
    private byte[] stateOf(CoordinatorFixture of) throws Exception {
        SteppedEventLoop[] otherLoop = new SteppedEventLoop[1];
        CommitSession other =
                of.coordinator(
                        of.context,
                        Duration.ofSeconds(1),
                        onFailure -> otherLoop[0] = new SteppedEventLoop(onFailure),
                        of.memory());
        other.start();
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        other.checkpointCoordinator(3, state);
        otherLoop[0].runAll();
        other.close(false);
        return state.get();
    }

    @Test
    @DisplayName("S5: a savepoint that is pending in upstream's state is tagged by the restore")
    void tagsTheSavepointOfUpstreamsState() throws Exception {
        Path bucket =
                fixture.table.table().store().pathFactory().bucketPath(BinaryRow.EMPTY_ROW, 0);
        for (String file : Arrays.asList("data-golden-0.parquet", "data-golden-1.parquet")) {
            fixture.table.fileIO().writeFile(new Path(bucket, file), "", false);
        }
        restoring(43, GoldenBytes.read("coordinator-state-empty"));
        EncodedReport checkpoint = upstream("upstream-element-v3-checkpoint");
        fixture.writer(
                coordinator, 0, 0, 43, upstream("upstream-element-v3-savepoint"), checkpoint);
        fixture.writer(coordinator, 1, 0, 43, upstream("upstream-element-v3-empty"), checkpoint);
        loop.runAll();

        assertThat(fixture.context.isJobFailed()).isFalse();
        assertThat(fixture.table.tags()).containsExactly("savepoint-42");
        assertThat(fixture.table.tagManager().getOrThrow("savepoint-42").totalRecordCount())
                .isEqualTo(33);
        assertThat(fixture.identifiers()).startsWith(42L);
    }

    private static EncodedReport upstream(String golden) throws IOException {
        return EncodedReport.fromState(GoldenBytes.read(golden));
    }

    // ------------------------------------------------------------------------
    //  State
    // ------------------------------------------------------------------------

    @Test
    @DisplayName(
            "S3: but for states of their own names it is written as the base release writes it")
    void writesStockState(@TempDir File other) throws Exception {
        fixture = new CoordinatorFixture(other, false);
        restoring(3, GoldenBytes.read("coordinator-state-empty"));
        fixture.writer(coordinator, 0, 0, 3);
        fixture.writer(coordinator, 1, 0, 3);
        CoordinatorState written = read(checkpoint(4));

        assertThat(written.getCommitterStates().keySet())
                .containsExactlyInAnyOrder(
                        "savepoint_commit_progress_state", "unconfirmed_savepoints_state");
        assertThat(
                        SimpleVersionedSerialization.writeVersionAndSerialize(
                                new CoordinatorStateSerializer(),
                                new CoordinatorState(
                                        written.getCommitUser(), Collections.emptyMap())))
                .isEqualTo(GoldenBytes.read("coordinator-state-empty"));
    }

    @Test
    @DisplayName("anchor: the state names its checkpoint, its run and the newest snapshot")
    void stateHoldsTheAnchor() throws Exception {
        start();
        fixture.table.commit("another-job", 1, 100);
        CommitProgress progress = progress(checkpoint(1));

        assertThat(progress.checkpointId()).isEqualTo(1);
        assertThat(progress.committedUpTo()).isEqualTo(-1);
        assertThat(progress.anchor())
                .isEqualTo(SnapshotPosition.of(fixture.table.snapshots().get(0)));
        assertThat(progress.newestOwn()).isNull();
    }

    @Test
    @DisplayName("A4: the state knows up to where everything is committed and tagged")
    void stateKnowsWhatIsCommitted() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1));
        complete(1);
        CommitProgress progress = progress(checkpoint(2));

        assertThat(progress.committedUpTo()).isEqualTo(1);
        assertThat(progress.newestOwn())
                .isEqualTo(OwnSnapshot.of(fixture.table.snapshots().get(0)));
    }

    private static CoordinatorState read(byte[] state) throws Exception {
        return SimpleVersionedSerialization.readVersionAndDeSerialize(
                new CoordinatorStateSerializer(), state);
    }

    private static CommitProgress progress(byte[] state) throws Exception {
        return CommitProgress.fromBytes(
                new MemoryBackendStateStore(read(state).getCommitterStates())
                        .getListState(
                                new ListStateDescriptor<>(
                                        "savepoint_commit_progress_state",
                                        BytePrimitiveArraySerializer.INSTANCE))
                        .get()
                        .iterator()
                        .next());
    }

    @Test
    @DisplayName("S3: state of the base release restores, and its commit user goes on")
    void restoresStockState() throws Exception {
        restoring(3, GoldenBytes.read("stock-coordinator-state"));
        // Reports of version 2, as the stock writer has them in its state, go through the tests of
        // the reports; here the files have to exist.
        fixture.writer(coordinator, 0, 0, 3, fixture.report(3, 1));
        fixture.writer(coordinator, 1, 0, 3, fixture.report(3, 2));
        loop.runAll();

        assertThat(fixture.table.ids()).containsExactly(1, 2);
        assertThat(fixture.table.snapshots()).allMatch(s -> s.commitUser().equals("golden-user"));
        ByteBuffer state = ByteBuffer.wrap(checkpoint(4));
        assertThat(state.getInt()).as("version").isEqualTo(1);
        assertThat(state.getInt()).as("length").isEqualTo(state.remaining());
    }

    @Test
    @DisplayName("S3: state that cannot be read fails the job and names checkpoint and length")
    void refusesCorruptState() throws Exception {
        byte[] corrupt = Arrays.copyOf(GoldenBytes.read("coordinator-state"), 20);
        restoring(3, corrupt);

        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining("checkpoint 3")
                .hasMessageContaining("20 bytes");
    }

    // ------------------------------------------------------------------------
    //  Failures
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A8: a failing commit fails the job once, and nothing more is committed")
    void failingCommit() throws Exception {
        start();
        fixture.hooks.before(
                identifier -> {
                    throw new IOException("the table is gone");
                });
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        coordinator.notifyCheckpointComplete(1);
        coordinator.notifyCheckpointComplete(1);
        CompletableFuture<byte[]> next = new CompletableFuture<>();
        coordinator.checkpointCoordinator(2, next);
        loop.runAll();

        assertThat(fixture.context.getJobFailureReason())
                .hasMessageContaining(fixture.table.table().location().toString())
                .hasMessageContaining("checkpoint 1 complete")
                .hasMessageContaining("the table is gone");
        assertThat(fixture.hooks.asked()).containsExactly(1L);
        assertThat(next).isCompletedExceptionally();
        assertThat(fixture.identifiers()).isEmpty();
    }

    @Test
    @DisplayName("A8: a recovery that fails answers the checkpoints that wait for it")
    void failingRecovery() throws Exception {
        restoring(3, stateOf(fixture));
        fixture.hooks.before(
                identifier -> {
                    throw new IOException("the table is gone");
                });
        CompletableFuture<byte[]> checkpoint = new CompletableFuture<>();
        coordinator.checkpointCoordinator(4, checkpoint);
        fixture.writer(coordinator, 0, 0, 3, fixture.report(3, 1));
        fixture.writer(coordinator, 1, 0, 3);
        loop.runAll();

        assertThat(checkpoint).isCompletedExceptionally();
        assertThat(fixture.context.isJobFailed()).isTrue();
    }

    @Test
    @DisplayName("A8: a failure of a coordinator that is being closed does not fail the job")
    void failureWhileClosing() throws Exception {
        start();
        fixture.hooks.before(
                identifier -> {
                    throw new IOException("the table is gone");
                });
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        coordinator.notifyCheckpointComplete(1);
        coordinator.close(false);

        assertThat(fixture.hooks.asked()).containsExactly(1L);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    // ------------------------------------------------------------------------
    //  Close and answers
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: close lets queued completions and aborts run to their end")
    void closeDrains() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        writer1.report(fixture.savepoint(1, 2));
        coordinator.notifyCheckpointComplete(1);
        coordinator.notifyCheckpointAborted(1);
        try (CapturedLog log = CapturedLog.of(CommitSession.class)) {
            coordinator.close(false);
            assertThat(log.messages())
                    .as("what an operator waits for before the table is rolled back")
                    .anyMatch(
                            line ->
                                    line.startsWith("INFO")
                                            && line.contains("that commits to")
                                            && line.endsWith("has ended."));
        }

        assertThat(fixture.identifiers()).containsExactly(1L);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(loop.terminated()).isTrue();
    }

    @Test
    @DisplayName("A7: close waits for its thread to die, however long a commit hangs")
    void closeWaitsForItsThread() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        fixture.hooks.before(
                identifier -> {
                    hanging.countDown();
                    awaitDeafToInterrupts(released);
                });
        AtomicReference<ThreadEventLoop> thread = new AtomicReference<>();
        coordinator =
                fixture.coordinator(
                        fixture.context,
                        Duration.ofMillis(1),
                        onFailure -> {
                            thread.set(
                                    ThreadEventLoop.create(
                                            "committer", getClass().getClassLoader(), onFailure));
                            return thread.get();
                        },
                        fixture.memory());
        coordinator.start();
        fixture.writer(coordinator, 0, 0, -1).report(fixture.report(1, 1));
        fixture.writer(coordinator, 1, 0, -1).report(fixture.report(1, 2));
        coordinator.notifyCheckpointComplete(1);
        hanging.await();
        FutureTask<Void> closing =
                new FutureTask<>(
                        () -> {
                            coordinator.close(false);
                            return null;
                        });
        Thread closer = new Thread(closing, "closer");
        closer.start();
        Awaitility.await("the deadline has passed and the closer waits, or is through")
                .until(
                        () ->
                                thread.get().cancelled()
                                        && closer.getState() != Thread.State.RUNNABLE);
        boolean through = closing.isDone();
        int closedEarly = fixture.hooks.closed();
        released.countDown();
        closing.get();

        assertThat(through).isFalse();
        assertThat(closedEarly).isZero();
        assertThat(thread.get().terminated()).isTrue();
        assertThat(fixture.identifiers()).containsExactly(1L);
    }

    private static void awaitDeafToInterrupts(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // that is what it is deaf to
            }
        }
    }

    @Test
    @DisplayName("A7: close closes the committer, if there is one")
    void closesTheCommitter() throws Exception {
        create();
        coordinator.close(false);
        assertThat(fixture.hooks.closed()).isZero();

        start();
        coordinator.close(false);
        assertThat(fixture.hooks.closed()).isEqualTo(1);
    }

    @Test
    @DisplayName("A7: whatever waits for an answer when it closes gets one, also what is dropped")
    void closeAnswersEverything() throws Exception {
        restoring(3, stateOf(fixture));
        CompletableFuture<byte[]> deferred = new CompletableFuture<>();
        coordinator.checkpointCoordinator(4, deferred);
        CompletableFuture<CoordinationResponse> awaited = await(4);
        loop.runAll();
        CompletableFuture<byte[]> dropped = new CompletableFuture<>();
        coordinator.checkpointCoordinator(5, dropped);
        CompletableFuture<CoordinationResponse> droppedRequest = await(5);
        loop.cancel(); // the deadline passes
        coordinator.close(false);
        CompletableFuture<byte[]> late = new CompletableFuture<>();
        coordinator.checkpointCoordinator(6, late);

        assertThat(deferred).isCompletedExceptionally();
        assertThat(dropped).isCompletedExceptionally();
        assertThat(late).isCompletedExceptionally();
        assertThat(failureOf(awaited)).contains("asked again");
        assertThat(failureOf(droppedRequest)).contains("was closed");
        assertThat(failureOf(await(6))).contains("was closed");
        assertThat(failureOf(await(7))).contains("was closed");
        assertThat(coordinator.awaitedCommits()).isZero();
    }

    @Test
    @DisplayName("A4: each checkpoint is answered exactly once")
    void answersOnce() throws Exception {
        AtomicInteger answers = new AtomicInteger();
        restoring(3, stateOf(fixture));
        CompletableFuture<byte[]> checkpoint =
                new CompletableFuture<byte[]>() {
                    @Override
                    public boolean complete(byte[] value) {
                        answers.incrementAndGet();
                        return super.complete(value);
                    }

                    @Override
                    public boolean completeExceptionally(Throwable failure) {
                        answers.incrementAndGet();
                        return super.completeExceptionally(failure);
                    }
                };
        coordinator.checkpointCoordinator(4, checkpoint);
        fixture.writer(coordinator, 0, 0, 3);
        fixture.writer(coordinator, 1, 0, 3);
        loop.runAll();
        coordinator.handleEventFromOperator(0, 0, new UnknownEvent());
        loop.runAll();
        coordinator.close(false);

        assertThat(answers).hasValue(1);
        assertThat(checkpoint.get()).isNotEmpty();
    }

    @Test
    @DisplayName("T2: a writer that ends is answered when its checkpoint is committed and tagged")
    void awaitsCommits() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        writer1.report(fixture.savepoint(1, 2));
        CompletableFuture<CoordinationResponse> early = await(1);
        loop.runAll();
        assertThat(early).isNotDone();
        complete(1);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        CompletableFuture<CoordinationResponse> late = await(1);
        loop.runAll();

        assertThat(committedOf(early)).isEqualTo(1);
        assertThat(committedOf(late)).isEqualTo(1);
    }

    @Test
    @DisplayName("T2: a request for what the restore has committed is answered by the restore")
    void awaitsTheRecovery() throws Exception {
        restoring(3, stateOf(fixture));
        CompletableFuture<CoordinationResponse> answer = await(3);
        loop.runAll();
        assertThat(answer).isNotDone();
        fixture.writer(coordinator, 0, 0, 3);
        fixture.writer(coordinator, 1, 0, 3);
        loop.runAll();

        assertThat(committedOf(answer)).isEqualTo(3);
    }

    @Test
    @DisplayName("T2: a writer that ends is told when the commit failed, before and afterwards")
    void awaitedCommitFails() throws Exception {
        start();
        fixture.hooks.before(
                identifier -> {
                    throw new IOException("the table is gone");
                });
        checkpoint(1);
        writer0.report(fixture.savepoint(1, 1));
        writer1.report(fixture.savepoint(1, 2));
        CompletableFuture<CoordinationResponse> early = await(1);
        complete(1);
        CompletableFuture<CoordinationResponse> late = await(1);
        loop.runAll();

        assertThat(failureOf(early)).contains("the table is gone");
        assertThat(failureOf(late)).contains("the table is gone");
    }

    @Test
    @DisplayName("T2: a commit that failed with a time-out is answered, like any failure")
    void awaitedCommitTimesOut() throws Exception {
        start();
        fixture.hooks.before(
                identifier -> {
                    throw new IOException("no answer", new TimeoutException("the metastore"));
                });
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        CompletableFuture<CoordinationResponse> answer = await(1);
        complete(1);

        assertThat(answer).isCompleted();
        assertThat(failureOf(answer)).contains("no answer");
        assertThat(fixture.hooks.asked()).containsExactly(1L);
    }

    @Test
    @DisplayName("E3: a writer that asks again a thousand times leaves one future and one action")
    void repeatedRequestsLeaveOne() throws Exception {
        start();
        checkpoint(1);
        writer0.report(fixture.report(1, 1));
        writer1.report(fixture.report(1, 2));
        loop.runAll();
        List<CompletableFuture<CoordinationResponse>> answers = new ArrayList<>();
        CompletableFuture<CoordinationResponse> other =
                coordinator.handleCoordinationRequest(new AwaitCommitRequest(1, 1));
        for (int i = 0; i < 1000; i++) {
            answers.add(await(1));
        }

        assertThat(coordinator.awaitedCommits()).as("one for each writer").isEqualTo(2);
        assertThat(loop.pending()).hasSize(1);
        assertThat(answers.subList(0, 999)).allMatch(CompletableFuture::isDone);
        loop.runAll();
        CompletableFuture<CoordinationResponse> last = await(1);
        assertThat(loop.pending()).as("looks again after a look").hasSize(1);
        assertThat(failureOf(answers.get(999))).contains("asked again");
        complete(1);
        assertThat(committedOf(last)).isEqualTo(1);
        assertThat(committedOf(other)).isEqualTo(1);
        assertThat(coordinator.awaitedCommits()).isZero();
    }

    private static String failureOf(CompletableFuture<CoordinationResponse> answer)
            throws Exception {
        return response(answer).failure();
    }

    private static long committedOf(CompletableFuture<CoordinationResponse> answer)
            throws Exception {
        AwaitCommitResponse response = response(answer);
        assertThat(response.failure()).isNull();
        return response.committedCheckpointId();
    }

    private static AwaitCommitResponse response(CompletableFuture<CoordinationResponse> answer)
            throws Exception {
        assertThat(answer).isDone();
        return CoordinationResponseUtils.unwrap(answer.get());
    }

    @Test
    @DisplayName("T2: a request of an unknown type is refused by name and harms nothing")
    void unknownRequest() throws Exception {
        start();

        assertThatThrownBy(() -> coordinator.handleCoordinationRequest(new UnknownRequest()).get())
                .hasMessageContaining(UnknownRequest.class.getName());
        checkpoint(1);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    private static final class UnknownRequest implements CoordinationRequest {

        private static final long serialVersionUID = 1L;
    }

    private CompletableFuture<CoordinationResponse> await(long checkpointId) {
        return coordinator.handleCoordinationRequest(new AwaitCommitRequest(0, checkpointId));
    }

    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A8: the states of a session follow its diagram")
    void states() {
        assertThat(SessionState.CREATED.mayBecome(SessionState.RESTORING)).isTrue();
        assertThat(SessionState.CREATED.mayBecome(SessionState.RUNNING)).isTrue();
        assertThat(SessionState.RESTORING.mayBecome(SessionState.RUNNING)).isTrue();
        assertThat(SessionState.RUNNING.mayBecome(SessionState.RESTORING)).isFalse();
        assertThat(SessionState.RUNNING.mayBecome(SessionState.CREATED)).isFalse();
        assertThat(SessionState.FAILED.mayBecome(SessionState.RUNNING)).isFalse();
        for (SessionState state : SessionState.values()) {
            assertThat(state.mayBecome(state)).as("%s again", state).isFalse();
            assertThat(SessionState.CLOSED.mayBecome(state)).as("CLOSED to %s", state).isFalse();
            assertThat(state == SessionState.CLOSED || state.mayBecome(SessionState.CLOSED))
                    .isTrue();
        }
    }
}
