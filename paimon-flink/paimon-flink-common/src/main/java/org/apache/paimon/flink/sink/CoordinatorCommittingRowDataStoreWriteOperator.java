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

import org.apache.paimon.flink.sink.coordinator.AwaitCommitRequest;
import org.apache.paimon.flink.sink.coordinator.AwaitCommitResponse;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.flink.sink.coordinator.ReplayReceivedRequest;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.PendingReports;
import org.apache.paimon.flink.sink.coordinator.report.WriterEventSender;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.ExceptionUtils;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Writes rows into an unaware-bucket append table and reports the files to the coordinator, which
 * commits them.
 *
 * <p><b>Threads.</b> The task's thread only.
 *
 * <pre>
 *   prepareSnapshotPreBarrier(c)   flush the files of c
 *   snapshotState(c, options)      learn whether c is a savepoint; keep, persist and send the report
 *   notifyCheckpointAborted(s)     drop the savepoint flag of s (A1)
 *   notifyCheckpointComplete(c)    forget what the previous completed checkpoint covered;
 *                                  when this writer ends with c: wait for the commit (T2, E3)
 * </pre>
 *
 * <p><b>Promises.</b> T2 and E3: it waits for the coordinator only when its task ends with the
 * checkpoint. T7: without auto-tag no report carries a flag. A1: an abort withdraws the flag. A6:
 * any number of replayed reports of one checkpoint. E1: what is flushed at the end of input belongs
 * to the next checkpoint.
 *
 * <p><b>Recovery.</b> Reports stay in the writer's state until a checkpoint that was triggered
 * after their commit has completed ({@link PendingReports}). A restored attempt replays what it
 * finds, and the coordinator acknowledges no checkpoint before that is committed.
 */
public class CoordinatorCommittingRowDataStoreWriteOperator
        extends StatelessRowDataStoreWriteOperator {

    private static final long serialVersionUID = 2L;

    private static final Logger LOG =
            LoggerFactory.getLogger(CoordinatorCommittingRowDataStoreWriteOperator.class);

    /** S3: as in the base release. */
    public static final String PENDING_COMMITTABLE_STATE_NAME = "pending_committable_state";

    /** S6: a name of our own, which other builds carry along unread. */
    static final String SIDE_STATE_NAME = "pending_committable_side_state";

    private static final long NONE = -1;

    private final OperatorEventGateway operatorEventGateway;
    private final boolean flagSavepoints;

    private transient PendingReportsState reportsState;
    private transient CheckpointCommittablesSerializer serializer;
    private transient WriterEventSender sender;

    private transient PendingReports reports;

    /** What was flushed for the checkpoint that is being taken. */
    private transient List<Committable> flushed;

    private transient long currentWatermark;
    private transient boolean currentIdle;

    /**
     * @param flagSavepoints whether reports for savepoints carry the flag
     */
    public CoordinatorCommittingRowDataStoreWriteOperator(
            StreamOperatorParameters<Committable> parameters,
            FileStoreTable table,
            StoreSinkWrite.Provider storeSinkWriteProvider,
            String initialCommitUser,
            OperatorEventGateway operatorEventGateway,
            boolean flagSavepoints) {
        super(parameters, table, storeSinkWriteProvider, initialCommitUser);
        this.operatorEventGateway = operatorEventGateway;
        this.flagSavepoints = flagSavepoints;
    }

    // ------------------------------------------------------------------------
    //  State
    // ------------------------------------------------------------------------

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        serializer =
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer()));
        sender = new WriterEventSender(operatorEventGateway, this::awaitReplayReceived);
        reports = new PendingReports();
        flushed = new ArrayList<>();
        currentWatermark = Long.MIN_VALUE;

        reportsState =
                new PendingReportsState(context.getOperatorStateStore(), subtask(), table.name());
        List<EncodedReport> restored = new ArrayList<>();
        for (EncodedReport report : reportsState.reports()) {
            // S4: with auto-tag off no flag stays in the state, so that older builds can read it.
            restored.add(flagSavepoints ? report : report.withdrawn());
        }
        reports.restored(restored);
        long restoredCheckpointId = context.getRestoredCheckpointId().orElse(NONE);
        sender.replay(
                restoredCheckpointId, restored, reportsState.sideStates(restoredCheckpointId));
    }

    /** Here, and only here, the writer learns what kind of checkpoint this is. */
    @Override
    public OperatorSnapshotFutures snapshotState(
            long checkpointId,
            long timestamp,
            CheckpointOptions checkpointOptions,
            CheckpointStreamFactory factory)
            throws Exception {
        SnapshotType type = checkpointOptions.getCheckpointType();
        EncodedReport report = closeReport(checkpointId, flagSavepoints && type.isSavepoint());
        if (report.savepoint()) {
            report = report.withSavepointPath(SavepointLocation.pathOf(checkpointOptions));
        }
        reports.add(report);
        if (type.isSavepoint() && ((SavepointType) type).isSynchronous()) {
            reports.stopsWith(checkpointId);
        }

        OperatorSnapshotFutures futures =
                super.snapshotState(checkpointId, timestamp, checkpointOptions, factory);
        if (reports.inputEnded()) {
            sender.reportEndOfInput(report);
        } else {
            sender.report(report);
        }
        return futures;
    }

    private EncodedReport closeReport(long checkpointId, boolean savepoint) throws IOException {
        EncodedReport report =
                EncodedReport.encode(
                        new CheckpointCommittables(
                                checkpointId, flushed, currentWatermark, currentIdle, savepoint),
                        serializer);
        flushed = new ArrayList<>();
        return report;
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        reportsState.update(reports, context.getCheckpointId());
    }

    /** T2, E3: returns only after the commit when this writer ends with the checkpoint. */
    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        super.notifyCheckpointComplete(checkpointId);
        if (reports.completed(checkpointId)) {
            awaitCommit(checkpointId);
        }
    }

    /** A1: the files stay, the flag goes. */
    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        super.notifyCheckpointAborted(checkpointId);
        reports.aborted(checkpointId);
    }

    Collection<EncodedReport> pendingReports() {
        return reports.pending();
    }

    // ------------------------------------------------------------------------
    //  Data
    // ------------------------------------------------------------------------

    /**
     * Downstream sees the files too, for its metrics; nobody commits them there. E5: it sees none
     * after the end of input, of which it knows already.
     */
    @Override
    protected void emitCommittables(boolean waitCompaction, long checkpointId) throws IOException {
        if (reports.allReported()) {
            return;
        }
        for (Committable committable : prepareCommit(waitCompaction, checkpointId)) {
            flushed.add(committable);
            if (!reports.inputEnded()) {
                output.collect(new StreamRecord<>(committable));
            }
        }
    }

    /** E1: nothing is flushed here; the next checkpoint does that, under its own id. */
    @Override
    public void endInput() throws Exception {
        boolean checkpointFollows =
                getOperatorConfig()
                        .getConfiguration()
                        .get(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH);
        if (!checkpointFollows) {
            // A restart would only come here again.
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            String.format(
                                    "The input of writer subtask %d for table %s ended, but %s is"
                                            + " false: no checkpoint follows that could commit its"
                                            + " last rows. Set it to true.",
                                    subtask(),
                                    table.name(),
                                    CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH
                                            .key())));
        }
        reports.endInput();
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        super.processWatermark(mark);
        // The end of time is not a time that a snapshot could carry.
        if (mark.getTimestamp() != Long.MAX_VALUE) {
            currentWatermark = mark.getTimestamp();
        }
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus watermarkStatus) throws Exception {
        super.processWatermarkStatus(watermarkStatus);
        currentIdle = watermarkStatus.isIdle();
    }

    // ------------------------------------------------------------------------
    //  The end
    // ------------------------------------------------------------------------

    /**
     * Returns when the coordinator has committed and tagged everything up to the checkpoint; asks
     * again when the RPC times out meanwhile. Cancelling the task interrupts the wait.
     *
     * @throws IOException when the coordinator answers that the commit failed
     */
    private void awaitCommit(long checkpointId) throws Exception {
        LOG.info(
                "Subtask {} ends with checkpoint {}: waiting for its commit.",
                subtask(),
                checkpointId);
        AwaitCommitResponse answer;
        try {
            answer =
                    requests()
                            .ask(
                                    new AwaitCommitRequest(subtask(), checkpointId),
                                    () ->
                                            LOG.info(
                                                    "The commit of checkpoint {} is still under"
                                                            + " way.",
                                                    checkpointId));
        } catch (ExecutionException e) {
            Throwable cause = ExceptionUtils.stripExecutionException(e);
            throw notCommitted(checkpointId, cause.getMessage(), e);
        }
        if (answer.failure() != null) {
            throw notCommitted(checkpointId, answer.failure(), null);
        }
        LOG.info("Everything up to checkpoint {} is committed.", answer.committedCheckpointId());
    }

    /** W4: returns when the coordinator has taken in what was sent of the replay. */
    private void awaitReplayReceived() throws IOException, InterruptedException {
        try {
            requests()
                    .ask(
                            new ReplayReceivedRequest(subtask()),
                            () ->
                                    LOG.info(
                                            "The coordinator of table {} has not taken in yet what"
                                                    + " subtask {} has sent of its restored state.",
                                            table.name(),
                                            subtask()));
        } catch (ExecutionException e) {
            throw new IOException(
                    String.format(
                            "Writer subtask %d for table %s cannot replay its restored state: %s",
                            subtask(),
                            table.name(),
                            ExceptionUtils.stripExecutionException(e).getMessage()),
                    e);
        }
    }

    private CoordinatorRequests requests() {
        return new CoordinatorRequests(requestGateway(), getOperatorID());
    }

    private IOException notCommitted(
            long checkpointId, String reason, @Nullable ExecutionException cause) {
        return new IOException(
                String.format(
                        "Writer subtask %d ends with checkpoint %d, but that could not be committed"
                                + " to table %s: %s",
                        subtask(), checkpointId, table.name(), reason),
                cause);
    }

    /** For tests to replace. */
    TaskOperatorEventGateway requestGateway() {
        return getContainingTask().getEnvironment().getOperatorCoordinatorEventGateway();
    }

    private int subtask() {
        return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    }
}
