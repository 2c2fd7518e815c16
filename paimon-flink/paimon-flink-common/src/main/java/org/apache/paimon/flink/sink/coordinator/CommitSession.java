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

import org.apache.paimon.flink.sink.coordinator.commit.CommitBatch;
import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.CommitterOpener;
import org.apache.paimon.flink.sink.coordinator.commit.CoordinatorMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.SnapshotCommitter;
import org.apache.paimon.flink.sink.coordinator.report.ReportReceiver;
import org.apache.paimon.flink.sink.coordinator.report.WriterEvent;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.FlinkException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Commits on the JobManager what the writers report, from one start to the next reset.
 *
 * <p><b>What it is for.</b> It turns the calls of {@link CommittingWriteOperatorCoordinator} into
 * actions on one {@link EventLoop}. What may be committed is decided by the {@link CommitLedger},
 * fed by the {@link ReportReceiver}; the {@link SnapshotCommitter} does the I/O. A reset ends this
 * session and the coordinator starts the next.
 *
 * <p><b>Threads.</b> Flink calls on the JobManager's main thread; those calls only queue. All state
 * but {@link #quiesce} belongs to the event loop, see {@link SessionLifeCycle}.
 *
 * <p><b>Promises.</b> A4: after a restore it commits and tags what the replays bring, then keeps
 * running; a checkpoint is acknowledged only after that, so a replayed report never has to be
 * persisted again. A7: see {@link CommitterLock} and {@link #close}. A8: a failure fails the job,
 * and nothing more is committed. T2, E3: {@link AwaitCommitRequest}s are answered when the commit
 * is done.
 *
 * <p><b>Recovery.</b> Its own checkpoint holds the commit user and the committer's state (S3);
 * pending reports and tags come from the writers' replays alone.
 */
final class CommitSession {

    private static final Logger LOG = LoggerFactory.getLogger(CommitSession.class);

    private static final Duration CLOSE_REPORT_INTERVAL = Duration.ofSeconds(5);

    private final OperatorCoordinator.Context context;
    private final String table;
    private final Duration closeDeadline;
    private final EventLoop loop;
    private final SessionLifeCycle lifeCycle;
    private final SessionCommitter committer;

    private final CommitRun run;
    private final JobMasterMemory memory;

    private final PendingCheckpoints pendingCheckpoints = new PendingCheckpoints();
    private final AwaitedCommits awaitedCommits;
    private final ReplayAnswers replayAnswers;

    /** Everything up to this checkpoint is committed and tagged. */
    private long committedCheckpointId = OperatorCoordinator.NO_CHECKPOINT;

    private CommitLedger ledger;
    private ReportReceiver receiver;

    /**
     * @param memory what outlives this coordinator within the JobMaster
     */
    CommitSession(
            OperatorCoordinator.Context context,
            CommitterOpener committerOpener,
            String initialCommitUser,
            Duration closeDeadline,
            Function<EventLoop.FailureHandler, EventLoop> loopFactory,
            CommitRun run,
            JobMasterMemory memory) {
        this.context = context;
        this.table = committerOpener.table();
        this.closeDeadline = closeDeadline;
        this.run = run;
        this.memory = memory;
        this.loop = loopFactory.apply(this::fail);
        this.lifeCycle = new SessionLifeCycle(loop, table, context::failJob);
        this.committer =
                new SessionCommitter(
                        committerOpener, initialCommitUser, run, memory, loop, lifeCycle::closing);
        this.awaitedCommits =
                new AwaitedCommits(
                        () -> loop.execute("answer to a writer that ends", this::answerWriters),
                        () -> lifeCycle.closed().getMessage());
        this.replayAnswers =
                new ReplayAnswers(answer -> loop.execute("answer to a replay", answer::run));
    }

    // ------------------------------------------------------------------------
    //  Life cycle
    // ------------------------------------------------------------------------

    /** Called at most once, before {@link #start}. */
    void resetToCheckpoint(long checkpointId, @Nullable byte[] checkpointData) {
        committer.restoreFrom(checkpointId, checkpointData);
    }

    void start() {
        loop.execute("open", this::open);
        loop.start();
    }

    private void open() throws Exception {
        ledger = new CommitLedger(context.currentParallelism(), memory.aborted()::contains);
        receiver = new ReportReceiver(context.currentParallelism(), ledger);
        CoordinatorMetrics metrics = memory.metrics().registerIn(context.metricGroup());
        metrics.sessionBegins(loop, ledger.load(), receiver);
        metrics.commits().restoreBegins();
        boolean restored = committer.hasRestoredState();
        committer.open(metrics.committerMetrics());
        long restoredCheckpointId = committer.restoredCheckpointId();
        if (restoredCheckpointId == OperatorCoordinator.NO_CHECKPOINT) {
            lifeCycle.become(SessionState.RUNNING);
            return;
        }
        LOG.info(
                "Restoring from checkpoint {} as commit user {}, run {} of job {}. A savepoint that"
                        + " was taken later than that and not yet committed is neither committed nor"
                        + " tagged by this job; a job restored from the savepoint itself does both.",
                restoredCheckpointId,
                committer.commitUser(),
                run.runId(),
                run.jobId());
        if (!restored) {
            ledger.sinkIsNew();
        }
        ledger.restoring(
                restoredCheckpointId,
                committer.opened().committedUpTo(),
                committer.opened()::hasSnapshot);
        lifeCycle.become(SessionState.RESTORING);
    }

    /**
     * Ends this session (A7). What is queued runs to its end until the deadline; then the loop is
     * interrupted, and this waits until its thread is dead.
     *
     * @param jobEnds L2: and with it the savepoints that have not completed
     */
    void close(boolean jobEnds) throws Exception {
        quiesce();
        if (!loop.close(closeDeadline)) {
            loop.awaitTermination(
                    CLOSE_REPORT_INTERVAL,
                    waited ->
                            LOG.warn(
                                    "{} was interrupted {} s ago and still works on a commit.",
                                    loop,
                                    waited.getSeconds()));
        }
        // The loop's thread is dead: its state may be touched from here.
        lifeCycle.terminated();
        FlinkException closed = lifeCycle.closed();
        pendingCheckpoints.closed(closed);
        awaitedCommits.failed(closed.getMessage());
        replayAnswers.closed();
        committer.close(jobEnds);
        // Flink says that a job is cancelled while a commit may still be under way: this line says
        // when the table may be rolled back.
        LOG.info("Run {} that commits to {} has ended.", run.runId(), table);
    }

    /** From now on a failure concerns nobody. Called by the main thread. */
    void quiesce() {
        lifeCycle.quiesce();
    }

    // ------------------------------------------------------------------------
    //  Writers
    // ------------------------------------------------------------------------

    void handleEventFromOperator(int subtask, int attemptNumber, OperatorEvent event) {
        // A name of its own for each event would be a good part of all that an event costs here.
        run(
                "event of a writer",
                () -> {
                    if (!(event instanceof WriterEvent)) {
                        throw new IllegalArgumentException(
                                String.format(
                                        "Writer subtask %d (attempt %d) sent an event of the"
                                                + " unknown type %s.",
                                        subtask, attemptNumber, event.getClass().getName()));
                    }
                    receiver.receive(subtask, attemptNumber, (WriterEvent) event);
                    recoverIfReplayed();
                });
    }

    void executionAttemptReady(int subtask) {
        run("subtask " + subtask + " ready", () -> ledger.ready(subtask));
    }

    void executionAttemptFailed(int subtask, int attemptNumber) {
        run("subtask " + subtask + " failed", () -> receiver.attemptFailed(subtask, attemptNumber));
    }

    void subtaskReset(int subtask, long checkpointId) {
        run(
                "reset subtask " + subtask + " to checkpoint " + checkpointId,
                () -> {
                    receiver.reset(subtask);
                    for (long savepoint : ledger.pendingSavepointsAfter(checkpointId)) {
                        if (memory.aborted().contains(savepoint)) {
                            continue;
                        }
                        LOG.info(
                                "{}, withdrawn, as writer subtask {} was reset to checkpoint {}. The"
                                        + " files of the others are committed with a later"
                                        + " checkpoint.",
                                ledger.describe(savepoint),
                                subtask,
                                checkpointId);
                    }
                    ledger.reset(subtask, checkpointId);
                });
    }

    private void recoverIfReplayed() throws Exception {
        // A7: nothing can have completed before the recovery, so a session that ends leaves it
        // alone.
        if (!lifeCycle.is(SessionState.RESTORING)
                || lifeCycle.closing()
                || !ledger.replaysComplete()) {
            return;
        }
        long restoredCheckpointId = committer.restoredCheckpointId();
        committer.opened().recover(restoredCheckpointId, ledger.recover());
        memory.metrics().commits().restored();
        lifeCycle.become(SessionState.RUNNING);
        committed(restoredCheckpointId);
        pendingCheckpoints.acknowledgeDeferred(this::acknowledge);
    }

    // ------------------------------------------------------------------------
    //  Checkpoints
    // ------------------------------------------------------------------------

    void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
        pendingCheckpoints.requested(result);
        boolean queued =
                loop.execute(
                        "checkpoint " + checkpointId,
                        () -> {
                            if (lifeCycle.is(SessionState.FAILED)) {
                                result.completeExceptionally(lifeCycle.closed());
                                return;
                            }
                            pendingCheckpoints.defer(checkpointId, result);
                            receiver.triggered(checkpointId);
                            ledger.triggered(checkpointId);
                            recoverIfReplayed();
                            if (lifeCycle.is(SessionState.RUNNING)) {
                                pendingCheckpoints.acknowledgeDeferred(this::acknowledge);
                            }
                        });
        if (!queued) {
            result.completeExceptionally(lifeCycle.closed());
        }
    }

    private void acknowledge(long checkpointId, CompletableFuture<byte[]> checkpoint)
            throws Exception {
        checkpoint.complete(committer.snapshotState(checkpointId, ledger));
    }

    void notifyCheckpointComplete(long checkpointId) {
        run(
                "checkpoint " + checkpointId + " complete",
                () -> {
                    if (lifeCycle.is(SessionState.RESTORING)
                            && checkpointId <= committer.restoredCheckpointId()) {
                        // Not committed yet, as far as is known here: the recovery does that.
                        return;
                    }
                    List<CommitBatch> batches = ledger.align(checkpointId);
                    committer.opened().commit(checkpointId, batches);
                    committed(checkpointId);
                });
    }

    void notifyCheckpointAborted(long checkpointId) {
        run(
                "checkpoint " + checkpointId + " aborted",
                () -> {
                    if (ledger.alignedOrRestoring(checkpointId)) {
                        committer.opened().abort(checkpointId);
                    } else if (ledger.pendingSavepointsAfter(checkpointId - 1)
                            .contains(checkpointId)) {
                        LOG.info(
                                "{}, withdrawn, as it was aborted. Its files are committed with a"
                                        + " later checkpoint.",
                                ledger.describe(checkpointId));
                    }
                    memory.aborted().carriedOut(checkpointId);
                });
    }

    // ------------------------------------------------------------------------
    //  Waiting for commits
    // ------------------------------------------------------------------------

    CompletableFuture<CoordinationResponse> handleCoordinationRequest(CoordinationRequest request) {
        return request instanceof ReplayReceivedRequest
                ? replayAnswers.request((ReplayReceivedRequest) request)
                : awaitedCommits.request(request);
    }

    private void answerWriters() {
        if (lifeCycle.is(SessionState.FAILED)) {
            awaitedCommits.failed(lifeCycle.closed().getMessage());
        } else {
            awaitedCommits.committed(committedCheckpointId);
        }
    }

    private void committed(long checkpointId) {
        committedCheckpointId = Math.max(committedCheckpointId, checkpointId);
        awaitedCommits.committed(committedCheckpointId);
    }

    /** For tests: how many writers wait. */
    int awaitedCommits() {
        return awaitedCommits.size();
    }

    // ------------------------------------------------------------------------
    //  The loop
    // ------------------------------------------------------------------------

    /** Queues an action that is skipped once this coordinator has failed. */
    private void run(String name, EventLoop.Action action) {
        loop.execute(
                name,
                () -> {
                    if (!lifeCycle.is(SessionState.FAILED)) {
                        action.run();
                    }
                });
    }

    /** A8: the one place where failures arrive, inside the loop. */
    private void fail(String actionName, Throwable failure) {
        lifeCycle.fail(actionName, failure, this::answerAllExceptionally);
    }

    private void answerAllExceptionally(Throwable cause) {
        pendingCheckpoints.failed(cause);
        awaitedCommits.failed(cause.getMessage());
    }
}
