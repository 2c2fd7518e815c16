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

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.apache.paimon.flink.sink.CoordinatorCommittingRowDataStoreWriteOperator.PENDING_COMMITTABLE_STATE_NAME;
import static org.apache.paimon.flink.sink.CoordinatorCommittingRowDataStoreWriteOperator.SIDE_STATE_NAME;

/**
 * The pending reports of one writer in Flink's state, and beside them what they say of themselves.
 *
 * <p>Threads: the task's.
 *
 * <p><b>Promises.</b> S3: the reports lie under the base's name and in its format. S6: their side
 * state lies under a name of its own, and is ignored when another build has carried it along.
 */
final class PendingReportsState {

    private static final Logger LOG = LoggerFactory.getLogger(PendingReportsState.class);

    private final ListState<byte[]> reports;
    private final ListState<byte[]> sideStates;
    private final int subtask;
    private final String table;

    /**
     * @param subtask of the writer, for messages
     * @param table name of the table, for messages
     */
    PendingReportsState(OperatorStateStore store, int subtask, String table) throws Exception {
        this.reports = listState(store, PENDING_COMMITTABLE_STATE_NAME);
        this.sideStates = listState(store, SIDE_STATE_NAME);
        this.subtask = subtask;
        this.table = table;
    }

    private static ListState<byte[]> listState(OperatorStateStore store, String name)
            throws Exception {
        return store.getListState(
                new ListStateDescriptor<>(name, BytePrimitiveArraySerializer.INSTANCE));
    }

    /** What the writer finds when it is restored. */
    List<EncodedReport> reports() throws Exception {
        List<EncodedReport> restored = new ArrayList<>();
        for (byte[] element : reports.get()) {
            try {
                restored.add(EncodedReport.fromState(element));
            } catch (IOException e) {
                throw unreadable(PENDING_COMMITTABLE_STATE_NAME, e);
            }
        }
        return restored;
    }

    /** S6: what another build has carried along unread is left out. */
    List<ReportSideState> sideStates(long restoredCheckpointId) throws Exception {
        List<ReportSideState> ofRestored = new ArrayList<>();
        for (byte[] element : sideStates.get()) {
            ReportSideState read;
            try {
                read = ReportSideState.fromBytes(element);
            } catch (IOException e) {
                throw unreadable(SIDE_STATE_NAME, e);
            }
            if (read.writtenIn() == restoredCheckpointId) {
                ofRestored.add(read);
            } else {
                LOG.debug("Ignoring {}: restored is {}.", read, restoredCheckpointId);
            }
        }
        return ofRestored;
    }

    /** What the checkpoint has to hold. */
    void update(PendingReports pending, long checkpointId) throws Exception {
        reports.update(pending.toState());
        sideStates.update(pending.sideState(checkpointId));
    }

    private IOException unreadable(String stateName, IOException cause) {
        return new IOException(
                String.format(
                        "The state '%s' of writer subtask %d for table %s cannot be read: %s",
                        stateName, subtask, table, cause.getMessage()),
                cause);
    }
}
