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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.coordinator.AwaitCommitRequest;
import org.apache.paimon.flink.sink.coordinator.AwaitCommitResponse;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CommittingWriteOperatorCoordinator;
import org.apache.paimon.flink.sink.coordinator.CoordinationResponseUtils;
import org.apache.paimon.flink.sink.coordinator.SimulationAccess;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;
import org.apache.paimon.tag.UndecidedCommitException;

import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.groups.OperatorCoordinatorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A JobManager's side of one job and the writers: a small model of Flink around the real
 * coordinator and the real bookkeeping of the writers.
 *
 * <p>It keeps to what Flink guarantees (read in the sources of Flink 2.0.0):
 *
 * <ul>
 *   <li>The checkpoint coordinator's calls to the operator coordinator are queued behind each other
 *       on the main thread, in the order in which it decided: {@code checkpointCoordinator(k)},
 *       completions, aborts. A restart is decided and done on the main thread at once, so what is
 *       queued then still arrives, behind the reset.
 *   <li>Tasks get the barrier of k after the coordinator has acknowledged k.
 *   <li>Messages of one attempt arrive in order; those of an attempt that is over are dropped. An
 *       attempt is announced as ready when it begins to initialise, before it has sent anything.
 *   <li>A checkpoint is triggered only while all tasks run or have finished; an ordinary one only
 *       after the ordinary one before is done with; savepoints at any time.
 *   <li>An asynchronous savepoint is never notified as complete, and never restored from on
 *       failure.
 *   <li>Pending checkpoints are aborted when something is restarted.
 *   <li>When a job has completed its synchronous savepoint, no failure restarts it: somebody
 *       restores it from that savepoint.
 * </ul>
 */
final class SimulatedJob {

    private static final int MAX_PENDING = 4;

    final JobHistory history;
    final SimulatedProcess process;
    private final Simulation simulation;
    private final SimulationAccess.Memory jobMaster;
    private CommittingWriteOperatorCoordinator coordinator;

    /** The loop of its newest coordinator. */
    private SimulatedLoop loop;

    /** All that its coordinators were restored from. */
    final List<Checkpoint> restored = new ArrayList<>();

    /** The number of the last commit before its first look at the table; -1 before that. */
    int firstLook = -1;

    /** Identifier of its last commit; -1 for none. */
    long lastCommitted = -1;

    /** Whether it has done more than start. */
    boolean working;

    /** Snapshots that it has tagged. */
    final BitSet tagged = new BitSet();

    /** Why it refuses to work; null when it does not. */
    Refusal refusal;

    final Attempt[] current;
    private final int[] nextAttempt;
    final Deque<Action> mainThread = new ArrayDeque<>();
    final List<Integer> failedSubtasks = new ArrayList<>();
    final List<Checkpoint> pending = new ArrayList<>();
    boolean failedAsAWhole;

    /** Finished, or failed for good. */
    boolean ended;

    /** Why the coordinator failed the job, until it was restarted. */
    Throwable failure;

    /** Whether the coordinator was not told of the completion before the next one. */
    private boolean completionLost;

    /** Whether an event was lost, and not everything restarted since. */
    private boolean eventLost;

    /** Attempts that are over and had more to say. */
    final Deque<Attempt> graveyard = new ArrayDeque<>();

    SimulatedJob(Simulation simulation, JobHistory history, SimulatedProcess process) {
        this.simulation = simulation;
        this.history = history;
        this.process = process;
        this.current = new Attempt[history.parallelism];
        this.nextAttempt = new int[history.parallelism];
        this.jobMaster = new SimulationAccess.Memory(simulation.tableName());
        if (history.newest != null) {
            restored.add(history.newest);
        }
        this.coordinator = newCoordinator();
    }

    private CommittingWriteOperatorCoordinator newCoordinator() {
        return SimulationAccess.coordinator(
                new Context(),
                simulation.tableName() + "#" + process.number,
                jobMaster,
                "job",
                simulation::openCommitter,
                simulation.savepoints(),
                simulation.table().serializer(),
                history.initialUser,
                failureHandler -> loop = simulation.newLoop(this, failureHandler),
                closing -> loop.setCloser(closing));
    }

    /** In whose name it commits an identifier. */
    SimulatedJob inWhoseName(long identifier) {
        Checkpoint newest = restored.isEmpty() ? null : restored.get(restored.size() - 1);
        boolean recovers = newest != null && identifier <= newest.id;
        return recovers && newest.takenBy != null ? newest.takenBy : this;
    }

    /** Whether whoever has taken what it was restored from had missed a foreign commit. */
    boolean hasMissedForeignCommit() {
        return restored.stream().anyMatch(checkpoint -> checkpoint.missedForeignCommit);
    }

    /** Starts or recovers the job. */
    void start() {
        if (history.newest != null) {
            coordinator.resetToCheckpoint(history.newest.id, history.newest.coordinatorState);
        }
        coordinator.start();
        history.restoreAll(history.newest);
        deployAll();
    }

    // ------------------------------------------------------------------------
    //  Tasks
    // ------------------------------------------------------------------------

    private void deployAll() {
        for (int i = 0; i < current.length; i++) {
            deploy(i);
        }
    }

    /** What the main thread has queued before is done before the attempt can say anything. */
    private void deploy(int subtask) {
        Attempt attempt = new Attempt(subtask, nextAttempt[subtask]++);
        current[subtask] = attempt;
        mainThread.add(new Action("deploy", 0, () -> deployed(attempt)));
    }

    private void deployed(Attempt attempt) {
        if (attempt.phase != Attempt.Phase.DEPLOYED) {
            return;
        }
        int subtask = attempt.subtask;
        attempt.send(Attempt.MessageKind.INITIALIZING, 0, null);
        Checkpoint restored = history.newest;
        if (restored != null && restored.allFinished()) {
            attempt.send(Attempt.MessageKind.RUNNING, 0, null);
            attempt.send(Attempt.MessageKind.FINISHED, 0, null);
            return;
        }
        attempt.sender =
                SimulationAccess.sender(
                        event -> attempt.send(Attempt.MessageKind.EVENT, 0, event),
                        simulation.config().maxPartBytes);
        List<EncodedReport> reports = state(restored, subtask);
        attempt.reports.restored(reports);
        // R1: a task of a vertex without state is not told which checkpoint it is restored from.
        replay(
                attempt,
                restored == null || restored.withoutSink() ? -1 : restored.id,
                reports,
                sideStates(restored, subtask));
        attempt.send(Attempt.MessageKind.RUNNING, 0, null);
    }

    private static void replay(
            Attempt attempt,
            long restoredCheckpointId,
            List<EncodedReport> reports,
            List<ReportSideState> sideStates) {
        try {
            attempt.sender.replay(restoredCheckpointId, reports, sideStates);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("Nobody waits for an answer here.", e);
        }
    }

    /** S6: its own, or its share when the parallelism changed, which is split in another way. */
    private List<ReportSideState> sideStates(Checkpoint restored, int subtask) {
        List<ReportSideState> found = new ArrayList<>();
        if (restored == null) {
            return found;
        }
        boolean rescaled = restored.parallelism != current.length;
        int next = 0;
        for (int i = 0; i < restored.parallelism; i++) {
            if (restored.sideStates[i] == null) {
                continue;
            }
            for (byte[] element : restored.sideStates[i]) {
                int owner = rescaled ? (current.length - 1 + next++) % current.length : i;
                if (owner == subtask) {
                    found.add(sideState(element));
                }
            }
        }
        return found;
    }

    private static ReportSideState sideState(byte[] element) {
        try {
            return ReportSideState.fromBytes(element);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a subtask finds in its state: its own, or its share when the parallelism changed. */
    private List<EncodedReport> state(Checkpoint restored, int subtask) {
        if (restored == null) {
            return Collections.emptyList();
        }
        List<byte[]> elements = new ArrayList<>();
        if (restored.parallelism == current.length) {
            if (restored.states[subtask] != null) {
                elements.addAll(restored.states[subtask]);
            }
        } else {
            int next = 0;
            for (List<byte[]> state : restored.states) {
                if (state != null) {
                    for (byte[] element : state) {
                        if (next++ % current.length == subtask) {
                            elements.add(element);
                        }
                    }
                }
            }
        }
        List<EncodedReport> reports = new ArrayList<>(elements.size());
        for (byte[] element : elements) {
            try {
                reports.add(EncodedReport.fromState(element));
            } catch (IOException e) {
                throw new Violation("A writer cannot read its own state.", e);
            }
        }
        return reports;
    }

    boolean write(int subtask, int files) {
        Attempt attempt = current[subtask];
        if (!attempt.alive()
                || attempt.sender == null
                || attempt.blockedBy != 0
                || attempt.awaiting
                || attempt.reports.inputEnded()
                || attempt.flushed.size() + files > 8) {
            return false;
        }
        for (int i = 0; i < files; i++) {
            attempt.flushed.add(simulation.oracle().newFile());
        }
        return true;
    }

    boolean finishInput(int subtask) {
        Attempt attempt = current[subtask];
        if (!attempt.alive()
                || attempt.sender == null
                || attempt.blockedBy != 0
                || attempt.reports.inputEnded()) {
            return false;
        }
        attempt.reports.endInput();
        return true;
    }

    boolean barrier(int subtask) {
        Attempt attempt = current[subtask];
        if (!attempt.alive()
                || attempt.barriers.isEmpty()
                || attempt.blockedBy != 0
                || attempt.awaiting) {
            return false;
        }
        Checkpoint checkpoint = attempt.barriers.remove();
        if (attempt.skipped.remove(checkpoint.id)) {
            return true;
        }
        if (attempt.sender == null) {
            // Finished in the restored checkpoint: it acknowledges without its operators.
            checkpoint.takesPart[subtask] = false;
            completeIfAcknowledged(checkpoint);
            return true;
        }
        if (checkpoint.type == Checkpoint.Type.STOP_WITH_DRAIN) {
            attempt.reports.endInput();
        }
        take(attempt, checkpoint);
        return true;
    }

    private void take(Attempt attempt, Checkpoint checkpoint) {
        BitSet files = new BitSet();
        List<Committable> committables = new ArrayList<>(attempt.flushed.size());
        try {
            for (int file : attempt.flushed) {
                files.set(file);
                committables.add(new Committable(checkpoint.id, simulation.table().newFile(file)));
            }
            EncodedReport report =
                    EncodedReport.encode(
                            new CheckpointCommittables(
                                    checkpoint.id,
                                    committables,
                                    checkpoint.id,
                                    false,
                                    simulation.config().autoTag && checkpoint.type.savepoint()),
                            simulation.table().serializer());
            report = report.withSavepointPath(checkpoint.path);
            attempt.flushed.clear();
            attempt.reports.add(report);
            if (checkpoint.type.synchronous()) {
                attempt.reports.stopsWith(checkpoint.id);
                attempt.blockedBy = checkpoint.id;
            }
            history.reports.get(attempt.subtask).add(new JobHistory.Report(checkpoint.id, files));
            history.lineage.or(files);
            simulation.oracle().reported(files);
            checkpoint.before[attempt.subtask] = history.files(attempt.subtask);
            checkpoint.states[attempt.subtask] = attempt.reports.toState();
            checkpoint.sideStates[attempt.subtask] = attempt.reports.sideState(checkpoint.id);
            checkpoint.ownFiles += files.cardinality();
            if (attempt.reports.inputEnded()) {
                attempt.sender.reportEndOfInput(report);
            } else {
                attempt.sender.report(report);
            }
        } catch (Exception e) {
            throw new Violation("A writer failed.", e);
        }
        attempt.send(Attempt.MessageKind.ACKNOWLEDGE, checkpoint.id, null);
    }

    boolean notifyWriter(int subtask, int which) {
        Attempt attempt = current[subtask];
        if (!attempt.alive() || attempt.notifications.isEmpty() || attempt.awaiting) {
            return false;
        }
        int index = which % attempt.notifications.size();
        if (attempt.notifications.get(index).completed) {
            // Completions keep their order.
            index = 0;
            while (!attempt.notifications.get(index).completed) {
                index++;
            }
        }
        Attempt.Notification notification = attempt.notifications.remove(index);
        long id = notification.checkpointId;
        if (notification.completed) {
            if (attempt.sender != null && attempt.reports.completed(id)) {
                attempt.awaiting = true;
                attempt.send(Attempt.MessageKind.AWAIT, id, null);
            }
            return true;
        }
        attempt.reports.aborted(id);
        if (attempt.blockedBy == id) {
            // The task of a stop that came to nothing fails.
            failWriter(subtask);
        } else {
            attempt.skipped.add(id);
        }
        return true;
    }

    // ------------------------------------------------------------------------
    //  Messages
    // ------------------------------------------------------------------------

    boolean deliver(int subtask) {
        Attempt attempt = current[subtask];
        if (!attempt.alive()) {
            return false;
        }
        if (attempt.answer != null) {
            boolean committed = attempt.answer;
            attempt.answer = null;
            if (committed) {
                attempt.send(Attempt.MessageKind.FINISHED, 0, null);
            } else {
                failWriter(subtask);
            }
            return true;
        }
        if (attempt.outgoing.isEmpty()) {
            return false;
        }
        deliver(attempt, attempt.outgoing.remove());
        return true;
    }

    private void deliver(Attempt attempt, Attempt.Message message) {
        switch (message.kind) {
            case INITIALIZING:
                attempt.phase = Attempt.Phase.INITIALIZING;
                coordinator.executionAttemptReady(attempt.subtask, attempt.number, null);
                return;
            case RUNNING:
                attempt.phase = Attempt.Phase.RUNNING;
                return;
            case EVENT:
                attempt.heardOf = true;
                coordinator.handleEventFromOperator(attempt.subtask, attempt.number, message.event);
                return;
            case ACKNOWLEDGE:
                acknowledge(attempt.subtask, message.checkpointId);
                return;
            case AWAIT:
                await(attempt, message.checkpointId);
                return;
            case FINISHED:
                attempt.phase = Attempt.Phase.FINISHED;
                declineWhatItMissed(attempt);
                endWhenAllFinished();
                return;
            default:
                throw new IllegalStateException(message.kind.toString());
        }
    }

    private void await(Attempt attempt, long checkpointId) {
        coordinator
                .handleCoordinationRequest(new AwaitCommitRequest(attempt.subtask, checkpointId))
                .whenComplete(
                        (response, problem) -> {
                            if (current[attempt.subtask] == attempt && attempt.alive()) {
                                boolean committed =
                                        problem == null
                                                && CoordinationResponseUtils
                                                                .<AwaitCommitResponse>unwrap(
                                                                        response)
                                                                .failure()
                                                        == null;
                                attempt.answer = committed;
                                if (committed) {
                                    answered(checkpointId);
                                }
                            }
                        });
    }

    private void answered(long checkpointId) {
        try {
            simulation.oracle().answered(this, checkpointId);
        } catch (Violation violation) {
            // The future that told of it would keep it to itself.
            simulation.report(violation);
        }
    }

    /**
     * A task that has finished can take no checkpoint any more that still waits for it. Should the
     * abort be forgotten, all that the task has written is in the checkpoint.
     */
    private void declineWhatItMissed(Attempt attempt) {
        for (Checkpoint checkpoint : new ArrayList<>(pending)) {
            if (checkpoint.takesPart[attempt.subtask]
                    && checkpoint.before[attempt.subtask] == null) {
                checkpoint.before[attempt.subtask] = history.files(attempt.subtask);
                abort(checkpoint);
            }
        }
    }

    private void endWhenAllFinished() {
        if (history.stopped == null) {
            return;
        }
        for (Attempt attempt : current) {
            if (attempt.phase != Attempt.Phase.FINISHED) {
                return;
            }
        }
        end();
    }

    /** Its JobManager is gone: nobody hears of its tasks any more. */
    void abandon() {
        ended = true;
        for (Attempt attempt : current) {
            attempt.phase = Attempt.Phase.GONE;
        }
    }

    /** Cancels it, or takes note that it has ended. */
    void end() {
        if (ended) {
            return;
        }
        ended = true;
        for (Attempt attempt : current) {
            if (attempt.alive()) {
                attempt.phase = Attempt.Phase.GONE;
            }
        }
        for (Checkpoint checkpoint : pending) {
            checkpoint.status = Checkpoint.Status.LOST;
        }
        pending.clear();
        mainThread.clear();
        coordinator.close();
    }

    // ------------------------------------------------------------------------
    //  Checkpoints
    // ------------------------------------------------------------------------

    boolean trigger(Checkpoint.Type type) {
        if (ended || failedAsAWhole || !failedSubtasks.isEmpty() || pending.size() >= MAX_PENDING) {
            return false;
        }
        boolean[] takesPart = new boolean[current.length];
        BitSet finishedFiles = new BitSet();
        boolean any = false;
        for (Attempt attempt : current) {
            if (attempt.phase == Attempt.Phase.RUNNING) {
                takesPart[attempt.subtask] = true;
                any = true;
            } else if (attempt.phase == Attempt.Phase.FINISHED) {
                finishedFiles.or(history.files(attempt.subtask));
            } else {
                return false;
            }
        }
        for (Checkpoint other : pending) {
            if (other.type.synchronous() || other.type == type && !type.savepoint()) {
                return false;
            }
        }
        if (history.stopped != null || type.synchronous() && !any) {
            return false;
        }
        Checkpoint checkpoint =
                new Checkpoint(
                        history.nextCheckpointId++, type, takesPart, history.base, finishedFiles);
        if (type.savepoint()) {
            checkpoint.path = simulation.savepoints().begin(checkpoint);
        }
        history.checkpoints.put(checkpoint.id, checkpoint);
        pending.add(checkpoint);
        mainThread.add(new Action("take", checkpoint.id, () -> takeCoordinator(checkpoint)));
        return true;
    }

    private void takeCoordinator(Checkpoint checkpoint) {
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        coordinator.checkpointCoordinator(checkpoint.id, state);
        state.whenComplete(
                (bytes, problem) -> {
                    if (bytes != null) {
                        simulation.oracle().coordinatorTaken(this, checkpoint);
                    }
                    mainThread.add(
                            new Action(
                                    "taken",
                                    checkpoint.id,
                                    () -> coordinatorTaken(checkpoint, bytes)));
                });
    }

    private void coordinatorTaken(Checkpoint checkpoint, byte[] state) {
        if (checkpoint.status != Checkpoint.Status.PENDING || !pending.contains(checkpoint)) {
            return;
        }
        if (state == null) {
            abort(checkpoint);
            return;
        }
        checkpoint.coordinatorState = state;
        checkpoint.coordinatorAcknowledged = true;
        for (Attempt attempt : current) {
            if (checkpoint.takesPart[attempt.subtask] && attempt.alive()) {
                attempt.barriers.add(checkpoint);
            }
        }
        completeIfAcknowledged(checkpoint);
    }

    boolean othersAcknowledge(int which) {
        if (pending.isEmpty()) {
            return false;
        }
        Checkpoint checkpoint = pending.get(which % pending.size());
        if (checkpoint.othersAcknowledged || !checkpoint.coordinatorAcknowledged) {
            return false;
        }
        checkpoint.othersAcknowledged = true;
        completeIfAcknowledged(checkpoint);
        return true;
    }

    boolean othersAcknowledgeAll(boolean savepointsToo) {
        boolean any = false;
        for (Checkpoint checkpoint : new ArrayList<>(pending)) {
            if (savepointsToo || !checkpoint.type.savepoint()) {
                any |= othersAcknowledge(pending.indexOf(checkpoint));
            }
        }
        return any;
    }

    private void acknowledge(int subtask, long checkpointId) {
        for (Checkpoint checkpoint : pending) {
            if (checkpoint.id == checkpointId) {
                checkpoint.acknowledged[subtask] = true;
                completeIfAcknowledged(checkpoint);
                return;
            }
        }
    }

    private void completeIfAcknowledged(Checkpoint checkpoint) {
        if (!pending.contains(checkpoint) || !checkpoint.acknowledgedByAll()) {
            return;
        }
        pending.remove(checkpoint);
        checkpoint.status = Checkpoint.Status.COMPLETED;
        if (checkpoint.type == Checkpoint.Type.CHECKPOINT) {
            history.newest = checkpoint;
        } else if (checkpoint.type.synchronous()) {
            history.stopped = checkpoint;
        } else {
            return;
        }
        simulation.oracle().completed(history, checkpoint);
        for (Attempt attempt : current) {
            if (checkpoint.takesPart[attempt.subtask] && attempt.alive()) {
                attempt.notifications.add(new Attempt.Notification(true, checkpoint.id));
            }
        }
        CommittingWriteOperatorCoordinator notified = coordinator;
        mainThread.add(
                new Action(
                        "complete",
                        checkpoint.id,
                        () -> {
                            completionLost = false;
                            notified.notifyCheckpointComplete(checkpoint.id);
                        }));
    }

    boolean abort(int which) {
        if (pending.isEmpty()) {
            return false;
        }
        abort(pending.get(which % pending.size()));
        return true;
    }

    private void abort(Checkpoint checkpoint) {
        pending.remove(checkpoint);
        checkpoint.status = Checkpoint.Status.ABORTED;
        for (Attempt attempt : current) {
            if (checkpoint.takesPart[attempt.subtask] && attempt.alive()) {
                attempt.notifications.add(new Attempt.Notification(false, checkpoint.id));
            }
        }
        CommittingWriteOperatorCoordinator notified = coordinator;
        mainThread.add(
                new Action(
                        "abort",
                        checkpoint.id,
                        () -> notified.notifyCheckpointAborted(checkpoint.id)));
    }

    // ------------------------------------------------------------------------
    //  Failures
    // ------------------------------------------------------------------------

    boolean failWriter(int subtask) {
        Attempt attempt = current[subtask];
        if (ended || failedAsAWhole || !attempt.alive()) {
            return false;
        }
        if (history.stopped != null) {
            end();
            return true;
        }
        bury(attempt);
        failedSubtasks.add(subtask);
        return true;
    }

    private void bury(Attempt attempt) {
        boolean known = attempt.phase != Attempt.Phase.GONE;
        attempt.phase = Attempt.Phase.GONE;
        graveyard.add(attempt);
        if (graveyard.size() > 8) {
            graveyard.remove();
        }
        if (known) {
            coordinator.executionAttemptFailed(
                    attempt.subtask, attempt.number, new Exception("simulated"));
        }
    }

    boolean failAll() {
        if (ended || failedAsAWhole) {
            return false;
        }
        if (history.stopped != null) {
            end();
            return true;
        }
        failedAsAWhole = true;
        failedSubtasks.clear();
        for (Attempt attempt : current) {
            if (attempt.alive()) {
                bury(attempt);
            } else {
                attempt.phase = Attempt.Phase.GONE;
            }
        }
        return true;
    }

    /**
     * Starts again what has failed.
     *
     * @param adaptively whether a job that has failed as a whole gets new coordinators, as the
     *     adaptive scheduler makes them, instead of resetting those it has
     */
    boolean restart(boolean adaptively) {
        if (ended || !failedAsAWhole && failedSubtasks.isEmpty()) {
            return false;
        }
        if (history.stopped != null) {
            end();
            return true;
        }
        for (Checkpoint checkpoint : new ArrayList<>(pending)) {
            abort(checkpoint);
        }
        Checkpoint restored = history.newest;
        if (failedAsAWhole && restored != null) {
            this.restored.add(restored);
        }
        if (failedAsAWhole) {
            failedAsAWhole = false;
            eventLost = false;
            simulation.effects().add(Effects.Effect.RESTART);
            simulation.oracle().restarted(history);
            failure = null;
            refusal = null;
            if (adaptively) {
                coordinator.close();
                coordinator = newCoordinator();
            }
            coordinator.resetToCheckpoint(
                    restored == null ? OperatorCoordinator.NO_CHECKPOINT : restored.id,
                    restored == null ? null : restored.coordinatorState);
            if (adaptively) {
                coordinator.start();
            }
            history.restoreAll(restored);
            history.breakAllAfter(restored == null ? -1 : restored.id);
            deployAll();
            return true;
        }
        for (int subtask : failedSubtasks) {
            long id = restored == null ? OperatorCoordinator.NO_CHECKPOINT : restored.id;
            coordinator.subtaskReset(subtask, id);
            history.restoreOne(subtask, id);
            history.breakAllAfter(id);
        }
        for (int subtask : failedSubtasks) {
            deploy(subtask);
        }
        failedSubtasks.clear();
        return true;
    }

    // ------------------------------------------------------------------------
    //  Hostile
    // ------------------------------------------------------------------------

    boolean loseEvent(int subtask) {
        if (completionLost) {
            return false;
        }
        for (Attempt.Message message : current[subtask].outgoing) {
            if (message.kind == Attempt.MessageKind.EVENT) {
                current[subtask].outgoing.remove(message);
                eventLost = true;
                if (current[subtask].replayLost()) {
                    simulation.oracle().replayLost(history);
                }
                return true;
            }
        }
        return false;
    }

    boolean repeatEvent(int subtask) {
        Attempt.Message first = current[subtask].outgoing.peek();
        if (first == null || first.kind != Attempt.MessageKind.EVENT) {
            return false;
        }
        current[subtask].outgoing.addFirst(first);
        return true;
    }

    boolean swapEvents(int subtask) {
        Deque<Attempt.Message> outgoing = current[subtask].outgoing;
        if (outgoing.size() < 2) {
            return false;
        }
        Attempt.Message first = outgoing.remove();
        Attempt.Message second = outgoing.remove();
        if (first.kind != Attempt.MessageKind.EVENT || second.kind != first.kind) {
            outgoing.addFirst(second);
            outgoing.addFirst(first);
            return false;
        }
        outgoing.addFirst(first);
        outgoing.addFirst(second);
        return true;
    }

    boolean staleEvent() {
        for (Attempt attempt : graveyard) {
            while (!attempt.outgoing.isEmpty()) {
                Attempt.Message message = attempt.outgoing.remove();
                if (message.kind == Attempt.MessageKind.EVENT) {
                    coordinator.handleEventFromOperator(
                            attempt.subtask, attempt.number, message.event);
                    return true;
                }
            }
        }
        return false;
    }

    boolean loseNotification() {
        Action first = mainThread.peek();
        boolean completion = first != null && "complete".equals(first.name);
        if (first == null || !first.notification() || completion && (completionLost || eventLost)) {
            return false;
        }
        mainThread.remove();
        completionLost |= completion;
        Checkpoint checkpoint = history.checkpoint(first.checkpointId);
        if (checkpoint != null && "abort".equals(first.name)) {
            checkpoint.excuse = "its abort was lost";
        }
        return true;
    }

    boolean repeatNotification(int which) {
        if (history.checkpoints.isEmpty() || ended) {
            return false;
        }
        List<Checkpoint> all = new ArrayList<>(history.checkpoints.values());
        Checkpoint checkpoint = all.get(all.size() - 1 - which % all.size());
        if (checkpoint.status == Checkpoint.Status.ABORTED) {
            coordinator.notifyCheckpointAborted(checkpoint.id);
        } else if (checkpoint.status == Checkpoint.Status.COMPLETED
                && checkpoint.type != Checkpoint.Type.SAVEPOINT
                && checkpoint.id <= (history.newest == null ? -1 : history.newest.id)) {
            coordinator.notifyCheckpointComplete(checkpoint.id);
        } else {
            return false;
        }
        return true;
    }

    boolean swapNotifications() {
        if (mainThread.size() < 2) {
            return false;
        }
        Action first = mainThread.remove();
        Action second = mainThread.remove();
        boolean swap = first.notification() && second.notification();
        mainThread.addFirst(swap ? first : second);
        mainThread.addFirst(swap ? second : first);
        return swap;
    }

    boolean staleFailure(int subtask) {
        int number = current[subtask].number - 1;
        if (number < 0) {
            return false;
        }
        coordinator.executionAttemptFailed(subtask, number, new Exception("simulated, again"));
        return true;
    }

    boolean staleReady(int subtask, int number) {
        coordinator.executionAttemptReady(subtask, number % (current[subtask].number + 1), null);
        return true;
    }

    @Override
    public String toString() {
        return "the job of " + history.user + " in process " + process.number;
    }

    /** Why a job refuses to work until somebody has done something about it. */
    enum Refusal {
        /** R2. */
        ROLLED_BACK,
        /** A4. */
        UNDECIDED,
        /** As the base does. */
        FILES_GONE,
        /** A7. */
        FOREIGN,
        /** A7: in the same process. */
        LOCKED;

        static Refusal of(Throwable failure) {
            for (Throwable t = failure; t != null; t = t.getCause()) {
                String message = String.valueOf(t.getMessage());
                if (t instanceof UndecidedCommitException) {
                    return UNDECIDED;
                } else if (t.getClass().getSimpleName().equals("ForeignCommitException")) {
                    return FOREIGN;
                } else if (t instanceof IllegalStateException
                        && message.contains("rolled back further than the checkpoint")) {
                    return ROLLED_BACK;
                } else if (message.contains("are gone: a very old savepoint")
                        || message.contains("does not exist any more. The job was restored")) {
                    return FILES_GONE;
                } else if (t instanceof IllegalStateException
                        && message.contains("of another running job commits as")) {
                    return LOCKED;
                }
            }
            return null;
        }
    }

    /** An action of the main thread. */
    static final class Action {

        final String name;
        final long checkpointId;
        final Runnable work;

        Action(String name, long checkpointId, Runnable work) {
            this.name = name;
            this.checkpointId = checkpointId;
            this.work = work;
        }

        boolean notification() {
            return "complete".equals(name) || "abort".equals(name);
        }

        @Override
        public String toString() {
            return name + " " + checkpointId;
        }
    }

    /** What the coordinator knows of Flink. */
    /** Nobody reads them. */
    private static final class Metrics extends UnregisteredMetricsGroup
            implements OperatorCoordinatorMetricGroup {}

    private final class Context implements OperatorCoordinator.Context {

        private final OperatorCoordinatorMetricGroup metrics = new Metrics();

        @Override
        public JobID getJobID() {
            return null;
        }

        @Override
        public OperatorID getOperatorId() {
            return null;
        }

        @Override
        public OperatorCoordinatorMetricGroup metricGroup() {
            return metrics;
        }

        @Override
        public void failJob(Throwable cause) {
            if (!process.alive() || ended) {
                return;
            }
            failure = cause;
            refusal = Refusal.of(cause);
            simulation.oracle().failed(SimulatedJob.this, cause);
            mainThread.add(new Action("fail", 0, SimulatedJob.this::failAll));
        }

        @Override
        public int currentParallelism() {
            return current.length;
        }

        @Override
        public ClassLoader getUserCodeClassloader() {
            return SimulatedJob.class.getClassLoader();
        }

        @Override
        public CoordinatorStore getCoordinatorStore() {
            return null;
        }

        @Override
        public boolean isConcurrentExecutionAttemptsSupported() {
            return false;
        }

        @Override
        public CheckpointCoordinator getCheckpointCoordinator() {
            return null;
        }
    }
}
