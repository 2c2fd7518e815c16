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

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.TableCommitterOpener;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.utils.ThreadEventLoop;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The coordinator that Flink sees: one {@link CommitSession} after the other, a new one at each
 * reset to a checkpoint.
 *
 * <p><b>Why not Flink's {@code RecreateOnResetOperatorCoordinator}.</b> It passes no coordination
 * requests on (T2 needs them), and starts the next coordinator after a time-out even when the
 * previous one still commits (A7 forbids it). Here the next one starts at once, queues its calls,
 * and waits on its own thread for the previous one's to be dead.
 *
 * <p><b>Threads.</b> Flink calls on the JobManager's main thread, which never waits here: a
 * predecessor is closed on a thread of its own, which the executor provides.
 *
 * <p>A1, A2: aborts outlive a session, see {@link JobMasterMemory}.
 */
public final class CommittingWriteOperatorCoordinator
        implements OperatorCoordinator, CoordinationRequestHandler {

    private static final Logger LOG =
            LoggerFactory.getLogger(CommittingWriteOperatorCoordinator.class);

    private final SessionFactory sessions;
    private final Supplier<JobMasterMemory> memories;

    /** Runs what waits for a predecessor's end; must not run it on the caller's thread. */
    private final Executor closers;

    /** Known from {@link #start} on. */
    private JobMasterMemory memory;

    /** Null before {@link #start}. */
    private CommitSession current;

    /** What was to be restored before {@link #start}. */
    private Consumer<CommitSession> restore = session -> {};

    private boolean closed;

    CommittingWriteOperatorCoordinator(
            SessionFactory sessions, Supplier<JobMasterMemory> memories) {
        this(sessions, memories, CommittingWriteOperatorCoordinator::onThreadOfItsOwn);
    }

    /**
     * @param memories finds the memory of the JobMaster; asked when this is started
     */
    CommittingWriteOperatorCoordinator(
            SessionFactory sessions, Supplier<JobMasterMemory> memories, Executor closers) {
        this.sessions = sessions;
        this.memories = memories;
        this.closers = closers;
    }

    /** Makes the next session. */
    interface SessionFactory {

        CommitSession create(JobMasterMemory memory);
    }

    @Override
    public void start() {
        memory = memories.get();
        begin();
    }

    @Override
    public void resetToCheckpoint(long checkpointId, @Nullable byte[] checkpointData) {
        if (closed) {
            return;
        }
        restore = session -> session.resetToCheckpoint(checkpointId, checkpointData);
        if (current == null) {
            return;
        }
        LOG.info("Resetting to checkpoint {}.", checkpointId);
        closeInBackground(current, false);
        begin();
    }

    @Override
    public void close() {
        if (!closed && current != null) {
            closeInBackground(current, true);
        }
        closed = true;
    }

    private void begin() {
        current = sessions.create(memory);
        restore.accept(current);
        restore = session -> {};
        current.start();
    }

    private void closeInBackground(CommitSession session, boolean jobEnds) {
        session.quiesce();
        closers.execute(
                () -> {
                    try {
                        session.close(jobEnds);
                    } catch (Throwable t) {
                        LOG.warn("Closing a session failed.", t);
                    }
                });
    }

    static void onThreadOfItsOwn(Runnable closing) {
        Thread closer = new Thread(closing, "paimon-coordinator-closer");
        closer.setDaemon(true);
        closer.start();
    }

    // ------------------------------------------------------------------------
    //  Passed on to the current session
    // ------------------------------------------------------------------------

    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        memory.aborted().add(checkpointId);
        current.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        current.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
        current.checkpointCoordinator(checkpointId, result);
    }

    @Override
    public void handleEventFromOperator(int subtask, int attemptNumber, OperatorEvent event) {
        current.handleEventFromOperator(subtask, attemptNumber, event);
    }

    @Override
    public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
            CoordinationRequest request) {
        return current.handleCoordinationRequest(request);
    }

    @Override
    public void subtaskReset(int subtask, long checkpointId) {
        current.subtaskReset(subtask, checkpointId);
    }

    @Override
    public void executionAttemptFailed(int subtask, int attemptNumber, @Nullable Throwable reason) {
        current.executionAttemptFailed(subtask, attemptNumber);
    }

    @Override
    public void executionAttemptReady(int subtask, int attemptNumber, SubtaskGateway gateway) {
        current.executionAttemptReady(subtask);
    }

    /** Travels within the job graph and makes the coordinator on the JobManager. */
    public static final class Provider implements OperatorCoordinator.Provider {

        private static final long serialVersionUID = 1L;

        private final OperatorID operatorId;
        private final TableCommitterOpener committerOpener;
        private final String initialCommitUser;
        private final Duration closeDeadline;

        public Provider(
                OperatorID operatorId,
                FileStoreTable table,
                Committer.Factory<Committable, ManifestCommittable> committerFactory,
                String initialCommitUser) {
            this.operatorId = operatorId;
            this.committerOpener = new TableCommitterOpener(table, committerFactory);
            this.initialCommitUser = initialCommitUser;
            this.closeDeadline = CoordinatorCommitOptions.closeTimeout(table.options());
        }

        @Override
        public OperatorID getOperatorId() {
            return operatorId;
        }

        @Override
        public OperatorCoordinator create(Context context) {
            CommitRun run = CommitRun.begin(context.getJobID().toHexString());
            return new CommittingWriteOperatorCoordinator(
                    memory ->
                            new CommitSession(
                                    context,
                                    committerOpener,
                                    initialCommitUser,
                                    closeDeadline,
                                    onFailure ->
                                            ThreadEventLoop.create(
                                                    "paimon-committer-" + operatorId,
                                                    context.getUserCodeClassloader(),
                                                    onFailure),
                                    run,
                                    memory),
                    () -> JobMasterMemory.of(context, committerOpener.table()));
        }
    }
}
