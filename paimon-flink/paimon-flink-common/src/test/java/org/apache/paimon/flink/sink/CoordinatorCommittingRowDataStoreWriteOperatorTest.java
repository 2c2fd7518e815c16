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

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.coordinator.AwaitCommitResponse;
import org.apache.paimon.flink.sink.coordinator.CoordinationResponseUtils;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.GoldenBytes;
import org.apache.paimon.flink.sink.coordinator.report.RecordedEvents;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.FlinkException;
import org.apache.flink.util.SerializedValue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The writer in Flink's test harness: what it keeps, and what it tells its coordinator. */
@SuppressWarnings("try") // the harness may be interrupted when it closes
class CoordinatorCommittingRowDataStoreWriteOperatorTest {

    private static final String USER = "job-with-uuid-12345678";
    private static final String STATE =
            CoordinatorCommittingRowDataStoreWriteOperator.PENDING_COMMITTABLE_STATE_NAME;
    private static final SnapshotType CHECKPOINT = CheckpointType.CHECKPOINT;
    private static final SnapshotType SAVEPOINT =
            SavepointType.savepoint(SavepointFormatType.CANONICAL);

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private RecordedEvents events;
    private OneInputStreamOperatorTestHarness<InternalRow, Committable> harness;

    /** What the coordinator will answer to a writer that ends, request by request. */
    private final Deque<CompletableFuture<CoordinationResponse>> answers = new ArrayDeque<>();

    @BeforeEach
    void begin() throws Exception {
        fixture = AppendTableFixture.create(directory);
    }

    @AfterEach
    void close() throws Exception {
        if (harness != null) {
            harness.close();
        }
    }

    private void start() throws Exception {
        start(true, null);
    }

    private void start(boolean flagSavepoints, OperatorSubtaskState state) throws Exception {
        close();
        events = new RecordedEvents();
        events.listener(() -> {});
        harness = harness(new Factory(fixture.table(), events, flagSavepoints, answers));
        if (state == null) {
            harness.initializeEmptyState();
        } else {
            harness.initializeState(state);
        }
        harness.open();
    }

    private static OneInputStreamOperatorTestHarness<InternalRow, Committable> harness(
            OneInputStreamOperatorFactory<InternalRow, Committable> factory) throws Exception {
        OneInputStreamOperatorTestHarness<InternalRow, Committable> harness =
                new OneInputStreamOperatorTestHarness<>(factory, 1, 1, 0);
        harness.setup(new CommittableTypeInfo().createSerializer(new ExecutionConfig()));
        return harness;
    }

    private void write(int... ids) throws Exception {
        for (int id : ids) {
            harness.processElement(
                    new StreamRecord<>(GenericRow.of(id, BinaryString.fromString("row " + id))));
        }
    }

    private OperatorSubtaskState snapshot(long id, SnapshotType type) throws Exception {
        harness.prepareSnapshotPreBarrier(id);
        return harness.snapshotWithLocalState(id, id, type).getJobManagerOwnedState();
    }

    private CoordinatorCommittingRowDataStoreWriteOperator operator() {
        return (CoordinatorCommittingRowDataStoreWriteOperator) harness.getOneInputOperator();
    }

    private List<String> pending() {
        return operator().pendingReports().stream()
                .map(RecordedEvents::tell)
                .collect(Collectors.toList());
    }

    // ------------------------------------------------------------------------
    //  Reports
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T1: the report is sent in snapshotState, and only a savepoint's is flagged")
    void reportsInSnapshotState() throws Exception {
        start();
        assertThat(events.told()).containsExactly("end of replay of -1");
        events.forget();
        write(1, 2);
        harness.prepareSnapshotPreBarrier(1);
        assertThat(events.told()).isEmpty();
        harness.snapshotWithLocalState(1, 1, SAVEPOINT);
        assertThat(events.told()).containsExactly("report 1 files=1 savepoint");
        write(3);
        snapshot(2, CHECKPOINT);
        snapshot(3, CHECKPOINT);

        assertThat(events.told())
                .containsExactly(
                        "report 1 files=1 savepoint", "report 2 files=1", "report 3 files=0");
        assertThat(harness.extractOutputValues())
                .as("also sent downstream")
                .extracting(Committable::checkpointId)
                .startsWith(1L, 2L);
    }

    @Test
    @DisplayName("T7: with auto-tag off no savepoint is flagged, in the report or in the state")
    void noFlagWithoutAutoTag() throws Exception {
        start(false, null);
        write(1);
        snapshot(1, SAVEPOINT);

        assertThat(events.told()).containsExactly("end of replay of -1", "report 1 files=1");
        assertThat(pending()).containsExactly("1 files=1");
    }

    @Test
    @DisplayName("A4: the state holds a report before it is sent")
    void keepsBeforeItSends() throws Exception {
        start();
        AtomicInteger sent = new AtomicInteger();
        ListState<byte[]> state = operator().getOperatorStateBackend().getListState(descriptor());
        events.listener(
                () -> {
                    sent.incrementAndGet();
                    assertThat(elements(state)).containsExactly("1 files=1 savepoint");
                });
        write(1);
        snapshot(1, SAVEPOINT);

        assertThat(sent).hasValue(1);
    }

    private static List<String> elements(ListState<byte[]> state) {
        try {
            List<String> elements = new ArrayList<>();
            for (byte[] element : state.get()) {
                elements.add(RecordedEvents.tell(EncodedReport.fromState(element)));
            }
            return elements;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("A1: an abort withdraws the flag from the state, the files stay")
    void abortWithdraws() throws Exception {
        start();
        write(1);
        snapshot(1, SAVEPOINT);
        write(2);
        snapshot(2, SAVEPOINT);
        operator().notifyCheckpointAborted(1);
        operator().notifyCheckpointAborted(7);
        OperatorSubtaskState state = snapshot(3, CHECKPOINT);

        start(true, state);
        assertThat(events.told())
                .containsExactly(
                        "replay of " + restoredId() + ": 1 files=1",
                        "replay of " + restoredId() + ": 2 files=1 savepoint",
                        "replay of " + restoredId() + ": 3 files=0",
                        "end of replay of " + restoredId());
    }

    @Test
    @DisplayName("A4: reports are kept until a checkpoint after their commit has completed")
    void forgetsCommittedReports() throws Exception {
        start();
        for (long id = 1; id <= 3; id++) {
            snapshot(id, id == 2 ? SAVEPOINT : CHECKPOINT);
        }
        harness.notifyOfCompletedCheckpoint(1);
        assertThat(pending()).containsExactly("1 files=0", "2 files=0 savepoint", "3 files=0");
        harness.notifyOfCompletedCheckpoint(3);
        assertThat(pending()).containsExactly("2 files=0 savepoint", "3 files=0");
        snapshot(4, CHECKPOINT);
        harness.notifyOfCompletedCheckpoint(4);
        assertThat(pending()).containsExactly("4 files=0");
    }

    @Test
    @DisplayName("A6: watermark and idle bit are those at the checkpoint; the end of time is none")
    void watermarks() throws Exception {
        start();
        harness.processWatermark(new Watermark(17));
        snapshot(1, CHECKPOINT);
        harness.processWatermarkStatus(WatermarkStatus.IDLE);
        snapshot(2, CHECKPOINT);
        harness.processWatermarkStatus(WatermarkStatus.ACTIVE);
        harness.processWatermark(Watermark.MAX_WATERMARK);
        snapshot(3, CHECKPOINT);

        assertThat(pending())
                .containsExactly(
                        "1 files=0 watermark=17",
                        "2 files=0 watermark=17 idle",
                        "3 files=0 watermark=17");
    }

    @Test
    @DisplayName("E1, E5: what is left at the end of input is reported for the next checkpoint")
    void endOfInput() throws Exception {
        start();
        events.forget();
        write(1);
        snapshot(1, CHECKPOINT);
        write(2);
        harness.endInput();
        assertThat(events.told()).containsExactly("report 1 files=1");
        snapshot(2, CHECKPOINT);
        snapshot(3, SAVEPOINT);

        assertThat(events.told())
                .containsExactly(
                        "report 1 files=1",
                        "report 2 files=1, end of input",
                        "report 3 files=0 savepoint, end of input");
        assertThat(harness.extractOutputValues())
                .as("E5: nothing is sent downstream after the end of input")
                .extracting(Committable::checkpointId)
                .containsExactly(1L);
    }

    @Test
    @DisplayName("E1: an end of input after which no checkpoint comes is refused, with the option")
    void endOfInputWithoutACheckpoint() throws Exception {
        start();
        harness.getStreamConfig()
                .getConfiguration()
                .set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);

        assertThatThrownBy(() -> harness.endInput())
                .isInstanceOf(SuppressRestartsException.class)
                .rootCause()
                .hasMessageContaining(
                        CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH.key())
                .hasMessageContaining("subtask 0")
                .hasMessageContaining("table t");
    }

    // ------------------------------------------------------------------------
    //  Restore
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("S3: state of the released build, with reports of version 2, is replayed")
    void restoresStockState() throws Exception {
        byte[] stock = Reports.SERIALIZER.serialize(Reports.of(5).files("a", "b").idle().report());
        byte[] version2 = new byte[stock.length - 1];
        System.arraycopy(stock, 0, version2, 0, 17);
        System.arraycopy(stock, 18, version2, 17, stock.length - 18);
        start(true, stateOf(EncodedReport.of(2, version2).toState()));

        assertThat(events.told())
                .containsExactly(
                        "replay of " + restoredId() + ": 5 files=2 idle",
                        "end of replay of " + restoredId());
        harness.notifyOfCompletedCheckpoint(6);
        assertThat(pending()).as("kept until two checkpoints have completed").hasSize(1);
        harness.notifyOfCompletedCheckpoint(7);
        assertThat(pending()).isEmpty();
    }

    @Test
    @DisplayName(
            "S5: a savepoint that is pending in upstream's state is replayed, and kept as it is")
    void restoresUpstreamState() throws Exception {
        byte[] element = GoldenBytes.read("upstream-element-v3-savepoint");
        start(true, stateOf(element));

        assertThat(events.told())
                .containsExactly(
                        "replay of "
                                + restoredId()
                                + ": 42 files=2 watermark=1700000000123 savepoint",
                        "end of replay of " + restoredId());
        snapshot(43, CHECKPOINT);
        List<byte[]> written = new ArrayList<>();
        operator()
                .getOperatorStateBackend()
                .<byte[]>getListState(descriptor())
                .get()
                .forEach(written::add);
        assertThat(written).hasSize(2);
        assertThat(written.get(0)).isEqualTo(element);
    }

    @Test
    @DisplayName("S4: with auto-tag off the flags of restored reports go, in replay and state")
    void dropsRestoredFlags() throws Exception {
        start(true, null);
        write(1);
        OperatorSubtaskState flagged = snapshot(1, SAVEPOINT);
        start(false, flagged);

        assertThat(events.told())
                .containsExactly(
                        "replay of " + restoredId() + ": 1 files=1",
                        "end of replay of " + restoredId());
        snapshot(2, SAVEPOINT);
        assertThat(operator().pendingReports())
                .extracting(EncodedReport::version)
                .as("what the released build reads")
                .containsExactly(2, 2);
    }

    // ------------------------------------------------------------------------
    //  Waiting for the last commit
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T2: a writer asks again only when the RPC has timed out")
    void asksAgainAfterATimeOut() throws Exception {
        endsWithSavepoint(
                failed(new TimeoutException("ask")),
                failed(new TimeoutException("ask")),
                answered(AwaitCommitResponse.committed(1)));

        operator().notifyCheckpointComplete(1);

        assertThat(answers).isEmpty();
    }

    @Test
    @DisplayName("T2: a commit that failed with a time-out fails the writer, which asks no more")
    void failedCommitIsNotAskedForAgain() throws Exception {
        endsWithSavepoint(
                answered(
                        AwaitCommitResponse.failed(
                                "java.util.concurrent.TimeoutException: metastore")));

        assertThatThrownBy(() -> operator().notifyCheckpointComplete(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("subtask 0")
                .hasMessageContaining("checkpoint 1")
                .hasMessageContaining("table t")
                .hasMessageContaining("TimeoutException: metastore");
        assertThat(answers).isEmpty();
    }

    @Test
    @DisplayName("T2: a time-out that is the cause of another failure is none of the RPC")
    void otherFailureCausedByATimeOut() throws Exception {
        endsWithSavepoint(
                failed(new FlinkException("no such job", new TimeoutException("metastore"))));

        assertThatThrownBy(() -> operator().notifyCheckpointComplete(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no such job");
        assertThat(answers).isEmpty();
    }

    @SafeVarargs
    private final void endsWithSavepoint(CompletableFuture<CoordinationResponse>... responses)
            throws Exception {
        start();
        answers.addAll(Arrays.asList(responses));
        write(1);
        snapshot(1, SavepointType.suspend(SavepointFormatType.CANONICAL));
    }

    private static CompletableFuture<CoordinationResponse> failed(Throwable failure) {
        CompletableFuture<CoordinationResponse> response = new CompletableFuture<>();
        response.completeExceptionally(failure);
        return response;
    }

    private static CompletableFuture<CoordinationResponse> answered(AwaitCommitResponse response) {
        return CompletableFuture.completedFuture(CoordinationResponseUtils.wrap(response));
    }

    @Test
    @DisplayName("A6: the states of two old writers are replayed by one new one")
    void restoresTwoStates() throws Exception {
        start(
                true,
                AbstractStreamOperatorTestHarness.repackageState(
                        stateOf(
                                Reports.of(4).files("a").savepoint().encoded().toState(),
                                Reports.of(5).files("b").encoded().toState()),
                        stateOf(
                                Reports.of(4).files("c").savepoint().encoded().toState(),
                                Reports.of(5).encoded().toState())));

        assertThat(events.told())
                .containsExactlyInAnyOrder(
                        "replay of " + restoredId() + ": 4 files=1 savepoint",
                        "replay of " + restoredId() + ": 4 files=1 savepoint",
                        "replay of " + restoredId() + ": 5 files=1",
                        "replay of " + restoredId() + ": 5 files=0",
                        "end of replay of " + restoredId());
    }

    @Test
    @DisplayName("S2: corrupt state names the state, the subtask, the table and what is wrong")
    void refusesCorruptState() throws Exception {
        byte[] element = Reports.of(4).files("a").encoded().toState();
        OperatorSubtaskState state = stateOf(Arrays.copyOf(element, element.length - 1));

        assertThatThrownBy(() -> start(true, state))
                .hasMessageContaining("'" + STATE + "'")
                .hasMessageContaining("subtask 0")
                .hasMessageContaining("table t")
                .hasMessageContaining((element.length - 8) + " bytes")
                .hasMessageContaining((element.length - 9) + " are there");
    }

    /** The harness restores from the checkpoint with this id. */
    private static long restoredId() {
        return 0;
    }

    /** State as another build could have left it. */
    private static OperatorSubtaskState stateOf(byte[]... elements) throws Exception {
        return WrittenState.of(descriptor(), elements);
    }

    private static ListStateDescriptor<byte[]> descriptor() {
        return new ListStateDescriptor<>(STATE, BytePrimitiveArraySerializer.INSTANCE);
    }

    // ------------------------------------------------------------------------

    private static final class Factory extends AbstractStreamOperatorFactory<Committable>
            implements OneInputStreamOperatorFactory<InternalRow, Committable> {

        private static final long serialVersionUID = 1L;

        private final FileStoreTable table;
        private final RecordedEvents events;
        private final boolean flagSavepoints;
        private final Deque<CompletableFuture<CoordinationResponse>> answers;

        private Factory(
                FileStoreTable table,
                RecordedEvents events,
                boolean flagSavepoints,
                Deque<CompletableFuture<CoordinationResponse>> answers) {
            this.answers = answers;
            this.table = table;
            this.events = events;
            this.flagSavepoints = flagSavepoints;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T extends StreamOperator<Committable>> T createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            return (T)
                    new CoordinatorCommittingRowDataStoreWriteOperator(
                            parameters,
                            table,
                            (written, user, state, ioManager, memory, metrics) ->
                                    new StoreSinkWriteImpl(
                                            written, user, state, ioManager, true, false, true,
                                            memory, metrics),
                            USER,
                            events,
                            flagSavepoints) {

                        private static final long serialVersionUID = 1L;

                        @Override
                        TaskOperatorEventGateway requestGateway() {
                            return new TaskOperatorEventGateway() {
                                @Override
                                public void sendOperatorEventToCoordinator(
                                        OperatorID operator, SerializedValue<OperatorEvent> event) {
                                    throw new AssertionError("not by this way");
                                }

                                @Override
                                public CompletableFuture<CoordinationResponse>
                                        sendRequestToCoordinator(
                                                OperatorID operator,
                                                SerializedValue<CoordinationRequest> request) {
                                    return answers.remove();
                                }
                            };
                        }
                    };
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return CoordinatorCommittingRowDataStoreWriteOperator.class;
        }
    }
}
