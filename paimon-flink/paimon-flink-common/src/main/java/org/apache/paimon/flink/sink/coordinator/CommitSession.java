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

import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.commit.CommitBatch;
import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.CommitterOpener;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.SnapshotCommitter;
import org.apache.paimon.flink.sink.coordinator.report.ReportReceiver;
import org.apache.paimon.flink.sink.coordinator.report.WriterEvent;
import org.apache.paimon.flink.sink.state.CoordinatorState;
import org.apache.paimon.flink.sink.state.CoordinatorStateSerializer;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.FlinkException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Commits on the JobManager what the writers report, from one start to the next reset.
 *
 * <p><b>What it is for.</b> It turns the calls of {@link CommittingWriteOperatorCoordinator} into
 * actions on one {@link EventLoop} and owns the life cycle. What may be committed is decided by the
 * {@link CommitLedger}, fed by the {@link ReportReceiver}; the {@link SnapshotCommitter} does the
 * I/O. A reset ends this session and the coordinator starts the next.
 *
 * <p><b>Threads.</b> Flink calls on the JobManager's main thread; those calls only queue. All state
 * but {@link #closing} belongs to the event loop.
 *
 * <pre>
 *              opened, fresh                    failure
 *   CREATED ------------------&gt; RUNNING ----------------------&gt; FAILED
 *      |                           ^                              |
 *      | opened, restored          | all replays in, recovered    |
 *      +---------&gt; RESTORING ------+                              |
 *                      (any state) ------------------------&gt; CLOSED
 * </pre>
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

    private static final CoordinatorStateSerializer STATE_SERIALIZER =
            new CoordinatorStateSerializer();

    private final OperatorCoordinator.Context context;
    private final CommitterOpener committerOpener;
    private final String initialCommitUser;
    private final Duration closeDeadline;
    private final EventLoop loop;

    private final CommitRun run;
    private final JobMasterMemory memory;

    /** Checkpoints to acknowledge once the restore is recovered. */
    private final NavigableMap<Long, CompletableFuture<byte[]>> deferredCheckpoints =
            new TreeMap<>();

    private final AwaitedCommits awaitedCommits = new AwaitedCommits();

    /** Whether the loop will look at the awaited commits anyway: one action does for all. */
    private final AtomicBoolean lookQueued = new AtomicBoolean();

    /** What Flink waits for, also while it is only queued: a close may drop the queue. */
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();

    private State state = State.CREATED;

    /** The checkpoint to restore from; -1 for none. Set before the loop is started. */
    private long restoredCheckpointId = OperatorCoordinator.NO_CHECKPOINT;

    @Nullable private byte[] restoredState;

    /** Everything up to this checkpoint is committed and tagged. */
    private long committedCheckpointId = OperatorCoordinator.NO_CHECKPOINT;

    private CommitLedger ledger;
    private ReportReceiver receiver;
    private String commitUser;
    private MemoryBackendStateStore stateStore;
    private SnapshotCommitter committer;

    /** What this coordinator failed with; null while it has not. */
    @Nullable private volatile Throwable failure;

    /** Set by the main thread when this session is over: the job must not be failed any more. */
    private volatile boolean closing;

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
        this.committerOpener = committerOpener;
        this.initialCommitUser = initialCommitUser;
        this.closeDeadline = closeDeadline;
        this.run = run;
        this.memory = memory;
        this.loop = loopFactory.apply(this::fail);
    }

    // ------------------------------------------------------------------------
    //  Life cycle
    // ------------------------------------------------------------------------

    /** Called at most once, before {@link #start}. */
    void resetToCheckpoint(long checkpointId, @Nullable byte[] checkpointData) {
        restoredCheckpointId = checkpointId;
        restoredState = checkpointData;
    }

    void start() {
        loop.execute("open", this::open);
        loop.start();
    }

    private void open() throws Exception {
        ledger = new CommitLedger(context.currentParallelism(), memory.aborted()::contains);
        receiver = new ReportReceiver(context.currentParallelism(), ledger);
        boolean restored = restoredState != null;
        if (restored) {
            CoordinatorState coordinatorState = readState(restoredCheckpointId, restoredState);
            commitUser = coordinatorState.getCommitUser();
            stateStore = new MemoryBackendStateStore(coordinatorState.getCommitterStates());
            restoredState = null;
        } else {
            commitUser = initialCommitUser;
            stateStore = new MemoryBackendStateStore();
        }
        CommitterLock.acquire(committerOpener.table(), commitUser, loop, () -> closing);
        committer =
                committerOpener.open(
                        Committer.createContext(
                                commitUser,
                                context.metricGroup(),
                                true,
                                restored,
                                stateStore,
                                1,
                                0),
                        run,
                        memory,
                        restoredCheckpointId,
                        loop::cancelled);
        committer.start(restoredCheckpointId);
        for (Long aborted : memory.aborted().notCarriedOut()) {
            committer.abort(aborted);
            memory.aborted().carriedOut(aborted);
        }
        if (restoredCheckpointId == OperatorCoordinator.NO_CHECKPOINT) {
            become(State.RUNNING);
            return;
        }
        LOG.info(
                "Restoring from checkpoint {} as commit user {}, run {} of job {}. A savepoint that"
                        + " was taken later than that and not yet committed is neither committed nor"
                        + " tagged by this job; a job restored from the savepoint itself does both.",
                restoredCheckpointId,
                commitUser,
                run.runId(),
                run.jobId());
        if (!restored) {
            ledger.sinkIsNew();
        }
        ledger.restoring(restoredCheckpointId, committer.committedUpTo());
        become(State.RESTORING);
    }

    /**
     * Ends this session (A7). What is queued runs to its end until the deadline; then the loop is
     * interrupted, and this waits until its thread is dead.
     */
    void close() throws Exception {
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
        state = State.CLOSED;
        FlinkException closed = closed();
        unanswered.forEach(answer -> answer.completeExceptionally(closed));
        lookQueued.set(false); // the action may have been dropped
        awaitedCommits.failed(closed.getMessage());
        CommitterLock.release(loop);
        if (committer != null) {
            committer.close();
        }
    }

    /** From now on a failure concerns nobody. Called by the main thread. */
    void quiesce() {
        closing = true;
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
                    ledger.reset(subtask, checkpointId);
                });
    }

    private void recoverIfReplayed() throws Exception {
        // A7: nothing can have completed before the recovery, so a session that ends leaves it
        // alone.
        if (state != State.RESTORING || closing || !ledger.replaysComplete()) {
            return;
        }
        committer.recover(restoredCheckpointId, ledger.recover());
        become(State.RUNNING);
        committed(restoredCheckpointId);
        for (Map.Entry<Long, CompletableFuture<byte[]>> checkpoint :
                deferredCheckpoints.entrySet()) {
            acknowledge(checkpoint.getKey(), checkpoint.getValue());
        }
        deferredCheckpoints.clear();
    }

    // ------------------------------------------------------------------------
    //  Checkpoints
    // ------------------------------------------------------------------------

    void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
        remember(result);
        boolean queued =
                loop.execute(
                        "checkpoint " + checkpointId,
                        () -> {
                            if (state == State.FAILED) {
                                result.completeExceptionally(closed());
                                return;
                            }
                            deferredCheckpoints.put(checkpointId, result);
                            receiver.triggered(checkpointId);
                            ledger.triggered(checkpointId);
                            recoverIfReplayed();
                            if (state == State.RUNNING
                                    && deferredCheckpoints.remove(checkpointId) != null) {
                                acknowledge(checkpointId, result);
                            }
                        });
        if (!queued) {
            result.completeExceptionally(closed());
        }
    }

    private void acknowledge(long checkpointId, CompletableFuture<byte[]> checkpoint)
            throws Exception {
        if (ledger.recoveredWithoutReplays()) {
            committer.snapshotRestoredState(checkpointId);
        } else {
            committer.snapshotState(checkpointId, ledger.lastAligned());
        }
        checkpoint.complete(
                SimpleVersionedSerialization.writeVersionAndSerialize(
                        STATE_SERIALIZER,
                        new CoordinatorState(commitUser, stateStore.getSerializedStates())));
    }

    void notifyCheckpointComplete(long checkpointId) {
        run(
                "checkpoint " + checkpointId + " complete",
                () -> {
                    if (state == State.RESTORING && checkpointId <= restoredCheckpointId) {
                        // Not committed yet, as far as is known here: the recovery does that.
                        return;
                    }
                    List<CommitBatch> batches = ledger.align(checkpointId);
                    committer.commit(checkpointId, batches);
                    committed(checkpointId);
                });
    }

    void notifyCheckpointAborted(long checkpointId) {
        run(
                "checkpoint " + checkpointId + " aborted",
                () -> {
                    if (ledger.alignedOrRestoring(checkpointId)) {
                        committer.abort(checkpointId);
                    }
                    memory.aborted().carriedOut(checkpointId);
                });
    }

    // ------------------------------------------------------------------------
    //  Waiting for commits
    // ------------------------------------------------------------------------

    CompletableFuture<CoordinationResponse> handleCoordinationRequest(CoordinationRequest request) {
        if (!(request instanceof AwaitCommitRequest)) {
            CompletableFuture<CoordinationResponse> refused = new CompletableFuture<>();
            refused.completeExceptionally(
                    new IllegalArgumentException(
                            "Unknown request of type " + request.getClass().getName() + "."));
            return refused;
        }
        CompletableFuture<CoordinationResponse> answer =
                awaitedCommits.add((AwaitCommitRequest) request);
        // The loop may hang in a commit for long, and a writer asks again every few seconds.
        if (lookQueued.compareAndSet(false, true)
                && !loop.execute("answer to a writer that ends", this::answerWriters)) {
            lookQueued.set(false);
            awaitedCommits.failed(closed().getMessage());
        }
        return answer;
    }

    private void answerWriters() {
        lookQueued.set(false);
        if (state == State.FAILED) {
            awaitedCommits.failed(closed().getMessage());
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
                    if (state != State.FAILED) {
                        action.run();
                    }
                });
    }

    /** A8: the one place where failures arrive, inside the loop. */
    private void fail(String actionName, Throwable failure) {
        if (state == State.FAILED) {
            LOG.debug("Ignoring the failure of '{}' after an earlier one.", actionName, failure);
            return;
        }
        become(State.FAILED);
        FlinkException cause =
                new FlinkException(
                        String.format(
                                "The coordinator that commits to %s failed at '%s': %s",
                                committerOpener.table(), actionName, failure.getMessage()),
                        failure);
        if (closing) {
            LOG.info("Failed while closing; the successor takes over.", cause);
        } else {
            LOG.error("Failing the job; its restart tries again.", cause);
            context.failJob(cause);
        }
        this.failure = cause;
        answerAllExceptionally(cause);
    }

    private void answerAllExceptionally(Throwable cause) {
        deferredCheckpoints.values().forEach(result -> result.completeExceptionally(cause));
        deferredCheckpoints.clear();
        awaitedCommits.failed(cause.getMessage());
    }

    private void remember(CompletableFuture<?> answer) {
        unanswered.add(answer);
        answer.whenComplete((value, failure) -> unanswered.remove(answer));
    }

    private FlinkException closed() {
        Throwable cause = failure;
        return new FlinkException(
                cause == null
                        ? "The coordinator that commits to "
                                + committerOpener.table()
                                + " was closed."
                        : cause.getMessage(),
                cause);
    }

    private void become(State next) {
        loop.assertInside();
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(
                    String.format("A session that is %s cannot become %s.", state, next));
        }
        LOG.debug("{} -> {}", state, next);
        state = next;
    }

    private static CoordinatorState readState(long checkpointId, byte[] bytes) throws IOException {
        try {
            return SimpleVersionedSerialization.readVersionAndDeSerialize(STATE_SERIALIZER, bytes);
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    String.format(
                            "The coordinator's state in checkpoint %d (%d bytes) cannot be read:"
                                    + " %s",
                            checkpointId, bytes.length, e.getMessage()),
                    e);
        }
    }

    /** The states of a session; see the diagram of the class. */
    enum State {
        CLOSED(),
        FAILED(CLOSED),
        RUNNING(FAILED, CLOSED),
        RESTORING(RUNNING, FAILED, CLOSED),
        CREATED(RESTORING, RUNNING, FAILED, CLOSED);

        private final List<State> next;

        State(State... next) {
            this.next = Arrays.asList(next);
        }

        boolean mayBecome(State state) {
            return next.contains(state);
        }
    }
}
