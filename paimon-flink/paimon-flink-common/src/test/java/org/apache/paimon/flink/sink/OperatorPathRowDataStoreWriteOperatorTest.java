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

import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** R3: a writer of the operator path that finds reports of the coordinator path in its state. */
@SuppressWarnings("try") // the harness may be interrupted when it closes
class OperatorPathRowDataStoreWriteOperatorTest {

    private static final String STATE =
            CoordinatorCommittingRowDataStoreWriteOperator.PENDING_COMMITTABLE_STATE_NAME;
    private static final String OPTION = "sink.coordinator-commit.discard-restored-reports";

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private OneInputStreamOperatorTestHarness<InternalRow, Committable> harness;

    private void start(String discard, OperatorSubtaskState state) throws Exception {
        if (fixture == null) {
            fixture = AppendTableFixture.create(directory);
        }
        close();
        harness =
                new OneInputStreamOperatorTestHarness<>(
                        FlinkWriteSink.createNoStateRowWriteOperatorFactory(
                                fixture.table().copy(Collections.singletonMap(OPTION, discard)),
                                (written, user, writeState, ioManager, memory, metrics) ->
                                        new StoreSinkWriteImpl(
                                                written,
                                                user,
                                                writeState,
                                                ioManager,
                                                true,
                                                false,
                                                true,
                                                memory,
                                                metrics),
                                "some-user"),
                        1,
                        1,
                        0);
        harness.setup(new CommittableTypeInfo().createSerializer(new ExecutionConfig()));
        if (state == null) {
            harness.initializeEmptyState();
        } else {
            harness.initializeState(state);
        }
        harness.open();
    }

    @AfterEach
    void close() throws Exception {
        if (harness != null) {
            harness.close();
        }
    }

    @Test
    @DisplayName("R3: reports with files are refused, with all that is needed to decide")
    void refusesReports() throws Exception {
        OperatorSubtaskState state =
                stateOf(
                        Reports.of(12).files("a", "b").savepoint().encoded(),
                        Reports.of(11).files("c").encoded(),
                        Reports.of(9).encoded());

        assertThatThrownBy(() -> start("false", state))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("subtask 0")
                .hasMessageContaining("table t")
                .hasMessageContaining("the checkpoints [11, 12] with 3 files")
                .hasMessageContaining(OPTION + " = true")
                .hasMessageContaining("sink.coordinator-commit.enabled = true");
    }

    @Test
    @DisplayName("R3: with the option they are dropped with a warning, and gone from the state")
    void dropsReportsWithTheOption() throws Exception {
        OperatorSubtaskState state = stateOf(Reports.of(12).files("a", "b").encoded());

        try (CapturedLog log = CapturedLog.of(OperatorPathRowDataStoreWriteOperator.class)) {
            start("true", state);
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("2 files", "[12]", "subtask 0", "table t", OPTION);
        }
        writesAsEver();
        // Without the option, as nothing is left that would need it.
        start("false", harness.snapshot(1, 1));
        writesAsEver();
    }

    @Test
    @DisplayName("R3: reports without a file lose nothing: they go without the option or a word")
    void dropsEmptyReportsSilently() throws Exception {
        OperatorSubtaskState state =
                stateOf(
                        Reports.of(11).encoded(),
                        Reports.of(12).savepoint().encoded(),
                        Reports.of(13).messages(messageWithoutFiles()).encoded());

        try (CapturedLog log = CapturedLog.of(OperatorPathRowDataStoreWriteOperator.class)) {
            start("false", state);
            assertThat(log.messages()).isEmpty();
        }
        assertThat(backendState().getListState(descriptor()).get()).isEmpty();
    }

    @Test
    @DisplayName("R3: where there are no reports, no state is made")
    void makesNoState() throws Exception {
        start("false", null);
        writesAsEver();

        assertThat(registered()).doesNotContain(STATE);
    }

    @Test
    @DisplayName("R3, S2: reports that cannot be read are refused by name, with the option as well")
    void refusesCorruptState() throws Exception {
        byte[] element = Reports.of(4).files("a").encoded().toState();
        byte[] truncated = Arrays.copyOf(element, element.length - 1);
        byte[] broken = element.clone();
        Arrays.fill(broken, broken.length - 60, broken.length, (byte) 0xee);

        for (String discard : new String[] {"true", "false"}) {
            for (byte[] corrupt : new byte[][] {truncated, broken}) {
                OperatorSubtaskState state = WrittenState.of(descriptor(), corrupt);
                assertThatThrownBy(() -> start(discard, state))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("'" + STATE + "'")
                        .hasMessageContaining("subtask 0")
                        .hasMessageContaining("table t");
            }
        }
    }

    private void writesAsEver() throws Exception {
        harness.getOutput().clear();
        harness.processElement(
                new StreamRecord<>(GenericRow.of(1, BinaryString.fromString("row 1"))));
        harness.prepareSnapshotPreBarrier(7);
        assertThat(harness.extractOutputValues())
                .singleElement()
                .extracting(Committable::checkpointId)
                .isEqualTo(7L);
    }

    /** What a writer that stays open without rows reports. */
    private static List<CommitMessage> messageWithoutFiles() {
        return Collections.singletonList(
                new CommitMessageImpl(
                        BinaryRow.EMPTY_ROW,
                        0,
                        -1,
                        DataIncrement.emptyIncrement(),
                        CompactIncrement.emptyIncrement()));
    }

    private Set<String> registered() {
        return backendState().getRegisteredStateNames();
    }

    private OperatorStateBackend backendState() {
        return ((AbstractStreamOperator<?>) harness.getOneInputOperator())
                .getOperatorStateBackend();
    }

    private static OperatorSubtaskState stateOf(EncodedReport... reports) throws Exception {
        byte[][] elements = new byte[reports.length][];
        for (int i = 0; i < reports.length; i++) {
            elements[i] = reports[i].toState();
        }
        return WrittenState.of(descriptor(), elements);
    }

    private static ListStateDescriptor<byte[]> descriptor() {
        return new ListStateDescriptor<>(STATE, BytePrimitiveArraySerializer.INSTANCE);
    }
}
