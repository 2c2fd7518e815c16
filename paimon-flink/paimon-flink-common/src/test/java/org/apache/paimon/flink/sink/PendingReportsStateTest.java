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

import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.PendingReports;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;
import org.apache.paimon.flink.sink.coordinator.report.Reports;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a writer puts into Flink's state, and what it makes of what it finds there. */
class PendingReportsStateTest {

    private static final String REPORTS = "pending_committable_state";
    private static final String SIDE_STATES =
            CoordinatorCommittingRowDataStoreWriteOperator.SIDE_STATE_NAME;

    private static final String PATH = "s3://bucket/savepoint-2";

    private final EncodedReport checkpoint = Reports.of(1).files("a", "b").encoded();
    private final EncodedReport savepoint =
            Reports.of(2).files("c").savepoint().encoded().withSavepointPath(PATH);
    private final PendingReports pending = new PendingReports();

    private OperatorStateStore store;
    private PendingReportsState state;

    @BeforeEach
    void create() throws Exception {
        store =
                new DefaultOperatorStateBackendBuilder(
                                getClass().getClassLoader(),
                                new ExecutionConfig(),
                                false,
                                Collections.emptyList(),
                                new CloseableRegistry())
                        .build();
        state = new PendingReportsState(store, 3, "db.t");
        pending.add(checkpoint);
        pending.add(savepoint);
    }

    @Test
    @DisplayName("A4: the reports that a checkpoint holds are found by the restored writer")
    void restoresReports() throws Exception {
        assertThat(state.reports()).isEmpty();
        state.update(pending, 2);

        assertThat(state.reports()).extracting(EncodedReport::checkpointId).containsExactly(1L, 2L);
        assertThat(state.reports())
                .extracting(EncodedReport::savepoint)
                .containsExactly(false, true);
        assertThat(Reports.fileNames(state.reports().get(0))).containsExactly("a", "b");
    }

    @Test
    @DisplayName("A4: the next checkpoint holds what is pending then, and nothing of the last one")
    void replacesReports() throws Exception {
        state.update(pending, 2);
        PendingReports later = new PendingReports();
        later.add(Reports.of(3).files("d").encoded());
        state.update(later, 3);

        assertThat(state.reports()).extracting(EncodedReport::checkpointId).containsExactly(3L);
        assertThat(state.sideStates(3))
                .extracting(ReportSideState::checkpointId)
                .containsExactly(3L);
        assertThat(state.sideStates(2)).isEmpty();
    }

    @Test
    @DisplayName("A1: the state that is written after an abort holds the files without the flag")
    void abortedSavepoint() throws Exception {
        pending.aborted(2);
        state.update(pending, 3);

        assertThat(state.reports())
                .extracting(EncodedReport::savepoint)
                .containsExactly(false, false);
        assertThat(Reports.fileNames(state.reports().get(1))).containsExactly("c");
    }

    @Test
    @DisplayName("S6: each report has its checksum and path beside it, for the checkpoint it is in")
    void restoresSideStates() throws Exception {
        state.update(pending, 5);

        assertThat(state.sideStates(5))
                .extracting(ReportSideState::checkpointId)
                .containsExactly(1L, 2L);
        assertThat(state.sideStates(5))
                .extracting(ReportSideState::savepointPath)
                .containsExactly(null, PATH);
        assertThat(state.sideStates(5))
                .extracting(ReportSideState::checksum)
                .containsExactly(
                        state.reports().get(0).persisted(), state.reports().get(1).persisted());
    }

    @Test
    @DisplayName("S6: side state of another checkpoint, which another build carried, is ignored")
    void ignoresStaleSideStates() throws Exception {
        state.update(pending, 5);

        assertThat(state.sideStates(4)).isEmpty();
        assertThat(state.sideStates(6)).isEmpty();
        assertThat(state.reports()).hasSize(2);
    }

    @Test
    @DisplayName("S3, S4: reports lie under the name of the base, side state under one of its own")
    void namesOfTheStates() throws Exception {
        state.update(pending, 5);

        assertThat(store.getRegisteredStateNames()).containsExactlyInAnyOrder(REPORTS, SIDE_STATES);
        assertThat(elements(REPORTS).get())
                .containsExactly(checkpoint.toState(), savepoint.toState());
    }

    @Test
    @DisplayName("S2: what cannot be read is refused, with state, subtask, table and reason")
    void refusesWhatItCannotRead() throws Exception {
        elements(REPORTS).update(Collections.singletonList(new byte[] {1, 2, 3}));
        elements(SIDE_STATES).update(Arrays.asList(new byte[] {1, 2}, new byte[0]));

        assertThatThrownBy(state::reports)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("'pending_committable_state' of writer subtask 3")
                .hasMessageContaining("table db.t cannot be read")
                .hasMessageContaining("has 3 bytes")
                .hasCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> state.sideStates(5))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("'" + SIDE_STATES + "' of writer subtask 3")
                .hasMessageContaining("table db.t cannot be read")
                .hasMessageContaining("has 2 bytes");
    }

    /** The elements of a state, as another build would read and write them. */
    private ListState<byte[]> elements(String name) throws Exception {
        return store.getListState(
                new ListStateDescriptor<>(name, BytePrimitiveArraySerializer.INSTANCE));
    }
}
