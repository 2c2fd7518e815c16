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

import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.flink.sink.coordinator.CoordinatorCommitOptions;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.util.TreeSet;

/**
 * The base's writer of the operator path, which keeps no state of its own. Called by the task's
 * thread.
 *
 * <p>R3: a job may come here from the coordinator path. What its writers have reported and the
 * coordinator has not committed yet is in their state, and nobody on this path reads it. This
 * writer refuses such a state instead of dropping it, unless the option says that everything in it
 * is committed. Then it clears the state: unread, Flink would carry it along, and a later switch
 * back to the coordinator path would find it.
 */
public class OperatorPathRowDataStoreWriteOperator extends StatelessRowDataStoreWriteOperator {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG =
            LoggerFactory.getLogger(OperatorPathRowDataStoreWriteOperator.class);

    private static final String STATE_NAME =
            CoordinatorCommittingRowDataStoreWriteOperator.PENDING_COMMITTABLE_STATE_NAME;

    public OperatorPathRowDataStoreWriteOperator(
            StreamOperatorParameters<Committable> parameters,
            FileStoreTable table,
            StoreSinkWrite.Provider storeSinkWriteProvider,
            String initialCommitUser) {
        super(parameters, table, storeSinkWriteProvider, initialCommitUser);
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        OperatorStateStore store = context.getOperatorStateStore();
        if (store.getRegisteredStateNames().contains(STATE_NAME)) {
            discard(
                    store.getListState(
                            new ListStateDescriptor<>(
                                    STATE_NAME, BytePrimitiveArraySerializer.INSTANCE)));
        }
    }

    /**
     * @throws IllegalStateException R3: when the reports have files and the option is not set. The
     *     job may restart: a failure that ends it could cost it the checkpoint to go back to.
     * @throws IOException when the state cannot be read
     */
    private void discard(ListState<byte[]> state) throws Exception {
        CheckpointCommittablesSerializer serializer =
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer()));
        TreeSet<Long> checkpointIds = new TreeSet<>();
        long files = 0;
        for (byte[] element : state.get()) {
            EncodedReport report;
            long filesOfReport;
            try {
                report = EncodedReport.fromState(element);
                filesOfReport = files(report, serializer);
            } catch (IOException e) {
                throw new IOException(
                        String.format(
                                "The state '%s' of writer subtask %d for table %s cannot be read:"
                                        + " %s",
                                STATE_NAME, subtask(), table.name(), e.getMessage()),
                        e);
            }
            if (filesOfReport > 0) {
                checkpointIds.add(report.checkpointId());
                files += filesOfReport;
            }
        }
        if (files > 0) {
            refuseUnlessAllowed(checkpointIds, files);
            LOG.warn(
                    "Writer subtask {} for table {} drops reports of the coordinator-commit path"
                            + " with {} files, for the checkpoints {}: {} = true says that they are"
                            + " committed.",
                    subtask(),
                    table.name(),
                    files,
                    checkpointIds,
                    CoordinatorCommitOptions.SINK_COORDINATOR_COMMIT_DISCARD_RESTORED_REPORTS
                            .key());
        }
        state.clear();
    }

    private void refuseUnlessAllowed(TreeSet<Long> checkpointIds, long files) {
        if (CoordinatorCommitOptions.discardRestoredReports(table.options())) {
            return;
        }
        throw new IllegalStateException(
                String.format(
                        "Writer subtask %d for table %s was restored with reports of the"
                                + " coordinator-commit path, for the checkpoints %s with %d files."
                                + " This job commits on the operator path and would drop them. If"
                                + " the state comes from 'flink stop', they are committed: set"
                                + " %s = true and restore it again. Otherwise their rows would be"
                                + " lost: restore it with %s = true, end that job with 'flink"
                                + " stop', and restore the savepoint of the stop.",
                        subtask(),
                        table.name(),
                        checkpointIds,
                        files,
                        CoordinatorCommitOptions.SINK_COORDINATOR_COMMIT_DISCARD_RESTORED_REPORTS
                                .key(),
                        FlinkConnectorOptions.SINK_COORDINATOR_COMMIT_ENABLED.key()));
    }

    private static long files(EncodedReport report, CheckpointCommittablesSerializer serializer)
            throws IOException {
        long files = 0;
        for (Committable committable : report.decode(serializer).committables()) {
            CommitMessageImpl message = (CommitMessageImpl) committable.commitMessage();
            DataIncrement written = message.newFilesIncrement();
            CompactIncrement compacted = message.compactIncrement();
            files +=
                    written.newFiles().size()
                            + written.changelogFiles().size()
                            + written.newIndexFiles().size()
                            + compacted.compactAfter().size()
                            + compacted.changelogFiles().size()
                            + compacted.newIndexFiles().size();
        }
        return files;
    }

    private int subtask() {
        return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    }
}
