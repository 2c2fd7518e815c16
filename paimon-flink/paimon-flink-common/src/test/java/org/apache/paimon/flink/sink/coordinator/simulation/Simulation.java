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

import org.apache.paimon.flink.sink.CommitRun;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.TaggedSavepoints;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.SavepointTags;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.api.common.state.ListState;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * One run: a table, JobManager processes, one job at a time, and the steps that may happen next.
 *
 * <p>All of it runs on one thread, the caller's (a call that stops in its middle borrows one, see
 * {@link Strand}), so that the same steps always give the same run.
 */
final class Simulation implements AutoCloseable {

    private static final AtomicLong TABLES = new AtomicLong();

    /** More failures than this in a row, with all faults off, and the job does not recover. */
    private static final int PATIENCE = 20;

    private final RunConfig config;
    private final String tableName = "simulated-" + TABLES.incrementAndGet();
    private final Faults faults = new Faults();
    private final SimulatedTable table;
    private final Oracle oracle;
    private final List<SimulatedProcess> processes = new ArrayList<>();

    /** Loops that are not known to have ended, oldest first. */
    private final List<SimulatedLoop> loops = new ArrayList<>();

    private int loopCount;
    private int jobCount;
    private SimulatedJob job;

    /** What was found where it could not be thrown. */
    private Violation reported;

    Simulation(RunConfig config, Function<Simulation, SimulatedTable> tables) {
        this.config = config;
        this.table = tables.apply(this);
        this.oracle = new Oracle(this, table);
        startFresh(config.parallelism);
    }

    /** A run on a table in memory. */
    static Simulation inMemory(RunConfig config) {
        return new Simulation(
                config,
                simulation ->
                        new MemoryTable(
                                new MemoryFileIO.Watcher() {
                                    @Override
                                    public void before(MemoryFileIO.Change change, String path)
                                            throws java.io.IOException {
                                        simulation.beforeTag(path);
                                    }

                                    @Override
                                    public void after(MemoryFileIO.Change change, String path)
                                            throws java.io.IOException {
                                        simulation.afterTag(path);
                                    }
                                },
                                config.forceSnapshots));
    }

    // ------------------------------------------------------------------------
    //  Parts
    // ------------------------------------------------------------------------

    RunConfig config() {
        return config;
    }

    Faults faults() {
        return faults;
    }

    Oracle oracle() {
        return oracle;
    }

    SimulatedTable table() {
        return table;
    }

    String tableName() {
        return tableName;
    }

    EventLoop newLoop(SimulatedProcess process, EventLoop.FailureHandler failureHandler) {
        SimulatedLoop loop =
                new SimulatedLoop(
                        ++loopCount,
                        process,
                        failureHandler,
                        new SimulatedLoop.Listener() {
                            @Override
                            public void entered(SimulatedLoop entered) {
                                process.running(entered);
                            }

                            @Override
                            public void left(SimulatedLoop left) {
                                process.running(null);
                            }

                            @Override
                            public void violated(Violation violation) {
                                report(violation);
                            }
                        });
        process.loops.add(loop);
        loops.add(loop);
        return loop;
    }

    SimulatedLoop lastLoop(SimulatedProcess process) {
        return process.loops.get(process.loops.size() - 1);
    }

    /** Whether the caller is an action of some loop. */
    boolean inLoop() {
        for (SimulatedProcess process : processes) {
            if (process.running() != null) {
                return true;
            }
        }
        return false;
    }

    private SimulatedLoop runningLoop() {
        for (SimulatedProcess process : processes) {
            if (process.running() != null) {
                return process.running();
            }
        }
        throw new Violation("Somebody uses the table outside of an event loop.");
    }

    /** Puts the real committer together, as it is done for a real table. */
    SavepointTaggingCommitter openCommitter(
            Committer.Context context,
            CommitRun run,
            long restoredCheckpointId,
            TaggedSavepoints tagged,
            SavepointTaggingCommitter.BeforeCommit beforeCommit)
            throws Exception {
        SimulatedLoop loop = runningLoop();
        loop.user = context.commitUser();
        oracle.checkAlone(loop, "opens");
        CommitUserSnapshots snapshots =
                new CommitUserSnapshots(table.snapshotManager(), context.commitUser());
        ListState<byte[]> progressState =
                SavepointTaggingCommitterFactory.progressState(context.stateStore());
        CommitProgress progress =
                SavepointTaggingCommitterFactory.progress(progressState, restoredCheckpointId);
        TableCreation creation =
                new TableCreation(tableName, () -> OptionalLong.of(table.creationMillis()));
        if (progress != null) {
            creation.require(progress);
        }
        SavepointTagger tagger = null;
        if (config.autoTag) {
            tagger =
                    new SavepointTagger(
                            context.commitUser(),
                            table.snapshotManager(),
                            table.tagManager(),
                            table::tagDeletion,
                            Collections::emptyList,
                            null);
            oracle.watch(context.commitUser(), tagger.statistics());
        }
        return new SavepointTaggingCommitter(
                new FailingCommitter(table.committer(context), this, loop),
                snapshots,
                new RestoredCommits(
                        snapshots,
                        new SavepointTags(table.tagManager(), table.snapshotManager().fileIO()),
                        table.files(),
                        progress),
                table.files(),
                creation,
                progressState,
                run,
                tagger,
                tagged,
                beforeCommit);
    }

    void beforeTag(String path) throws java.io.IOException {
        SimulatedLoop loop = runningLoop();
        oracle.checkAlone(loop, "changes " + path);
        faults.beforeTag(loop);
    }

    void afterTag(String path) throws java.io.IOException {
        try {
            faults.afterTag(runningLoop());
        } catch (ProcessDied e) {
            if (faults.tears() && table instanceof MemoryTable) {
                // The base writes tags in place: the beginning of the file is there.
                ((MemoryTable) table).tear(path);
            }
            throw e;
        }
    }

    // ------------------------------------------------------------------------
    //  Steps
    // ------------------------------------------------------------------------

    /**
     * Lets one thing happen.
     *
     * @return false when it cannot happen now; then nothing has changed
     */
    boolean execute(Step step) {
        if (!tryExecute(step)) {
            return false;
        }
        while (faults.takeCrash()) {
            jobManagerDies(false);
        }
        look();
        return true;
    }

    void report(Violation violation) {
        if (reported == null) {
            reported = violation;
        }
    }

    private void look() {
        if (reported != null) {
            throw reported;
        }
        oracle.look();
    }

    private boolean tryExecute(Step step) {
        int writer = step.a % job.current.length;
        switch (step.kind) {
            case WRITE:
                return !job.ended && job.write(writer, 1 + step.b % 3);
            case CHECKPOINT:
                return job.trigger(Checkpoint.Type.CHECKPOINT);
            case SAVEPOINT:
                return job.trigger(Checkpoint.Type.SAVEPOINT);
            case STOP:
                return job.trigger(
                        step.b % 2 == 0 ? Checkpoint.Type.STOP : Checkpoint.Type.STOP_WITH_DRAIN);
            case FINISH:
                return !job.ended && job.finishInput(writer);
            case ABORT:
                return job.abort(step.a);
            case MAIN:
                return runMain();
            case LOOP:
                return stepLoop(loop(step.a));
            case RPC:
                return job.deliver(writer);
            case BARRIER:
                return job.barrier(writer);
            case OTHERS:
                return job.othersAcknowledge(step.a);
            case NOTIFY:
                return job.notifyWriter(writer, step.b);
            case DRAIN:
                return drain(-1, step.b);
            case DRAIN_WITHOUT:
                return drain(writer, step.b);
            case FAIL_WRITER:
                return job.failWriter(writer);
            case FAIL_ALL:
                return job.failAll();
            case RESTART:
                return job.restart();
            case DEADLINE:
                return deadline(loop(step.a));
            case CLOSED:
                return finish(loop(step.a));
            case JOB_MANAGER_DIES:
                return jobManagerDies(false);
            case JOB_MANAGER_FREEZES:
                return jobManagerDies(true);
            case CRASH:
                faults.crashIn(1 + step.a % 4, step.b % 2 == 1);
                return true;
            case COMMIT_FAILS:
                faults.commitFails(point(step.b));
                return true;
            case COMMIT_HANGS:
                faults.commitHangs(point(step.b), step.b / 2 % 2 == 1);
                return true;
            case TAG_FAILS:
                if (!config.autoTag) {
                    return false;
                }
                faults.tagFails(point(step.b));
                return true;
            case RESCALE:
                return rescale(1 + step.a % 8);
            case RESTORE_SAVEPOINT:
                return restoreSavepoint(1 + step.a % 8);
            case ROLL_BACK:
                return rollBack(1 + step.a % 8, step.b);
            case FRESH_JOB:
                cancel(-1);
                startFresh(1 + step.a % 8);
                return true;
            case EXPIRE:
                return expire(1 + step.a % 3);
            case ANOTHER_COMMITS:
                return anotherCommits();
            case LOSE_EVENT:
                return job.loseEvent(writer);
            case REPEAT_EVENT:
                return job.repeatEvent(writer);
            case SWAP_EVENTS:
                return job.swapEvents(writer);
            case STALE_EVENT:
                return !job.ended && job.staleEvent();
            case LOSE_NOTIFICATION:
                return job.loseNotification();
            case REPEAT_NOTIFICATION:
                return job.repeatNotification(step.a);
            case SWAP_NOTIFICATIONS:
                return job.swapNotifications();
            case STALE_FAILURE:
                return !job.ended && job.staleFailure(writer);
            case STALE_READY:
                return !job.ended && job.staleReady(writer, step.b);
            default:
                throw new IllegalStateException(step.toString());
        }
    }

    private static Faults.Point point(int b) {
        return b % 2 == 0 ? Faults.Point.BEFORE : Faults.Point.AFTER;
    }

    private boolean runMain() {
        SimulatedJob.Action action = job.mainThread.poll();
        if (action == null) {
            return false;
        }
        action.work.run();
        return true;
    }

    /** The a-th newest loop that is not known to have ended. */
    private SimulatedLoop loop(int a) {
        loops.removeIf(loop -> loop.terminated() && !loop.closing());
        return loops.isEmpty() ? null : loops.get(loops.size() - 1 - a % loops.size());
    }

    private boolean stepLoop(SimulatedLoop loop) {
        if (loop == null || !loop.canStep()) {
            return false;
        }
        // A frozen one cannot be told what happens in the middle of its commit: see the docs.
        boolean mayHang = loop.process == job.process && faults.hangDue();
        loop.step(mayHang || loop.nextOpens() && hasCompany(loop));
        return true;
    }

    private static boolean hasCompany(SimulatedLoop loop) {
        for (SimulatedLoop other : loop.process.loops) {
            if (other != loop && !other.terminated()) {
                return true;
            }
        }
        return false;
    }

    private static boolean deadline(SimulatedLoop loop) {
        if (loop == null || !loop.process.alive() || !loop.closing() || loop.canFinish()) {
            return false;
        }
        loop.deadlinePassed();
        return true;
    }

    private static boolean finish(SimulatedLoop loop) {
        if (loop == null || !loop.canFinish()) {
            return false;
        }
        loop.finish();
        return true;
    }

    /**
     * Runs whatever can run, except for one writer.
     *
     * @param how odd: what a frozen process has left, too; from 2 on: the writers come first
     */
    private boolean drain(int without, int how) {
        boolean frozenProcesses = how % 2 == 1;
        boolean any = false;
        boolean progress = true;
        while (progress) {
            progress = how / 2 % 2 == 1 && drainWriters(without);
            while (runMain()) {
                progress = true;
            }
            loops.removeIf(loop -> loop.terminated() && !loop.closing());
            for (SimulatedLoop loop : new ArrayList<>(loops)) {
                if (loop.process != job.process && !frozenProcesses) {
                    continue;
                }
                while (loop.canStep()) {
                    stepLoop(loop);
                    progress = true;
                    if (faults.takeCrash()) {
                        jobManagerDies(false);
                        return true;
                    }
                }
                progress |= finish(loop);
            }
            progress |= job.othersAcknowledgeAll(without < 0);
            progress |= drainWriters(without);
            any |= progress;
        }
        return any;
    }

    private boolean drainWriters(int without) {
        boolean any = false;
        for (int i = 0; i < job.current.length; i++) {
            if (i == without) {
                continue;
            }
            while (job.deliver(i)) {
                any = true;
            }
            while (job.barrier(i)) {
                any = true;
            }
            while (job.notifyWriter(i, 0)) {
                any = true;
            }
        }
        return any;
    }

    // ------------------------------------------------------------------------
    //  Jobs and processes
    // ------------------------------------------------------------------------

    private SimulatedProcess newProcess() {
        SimulatedProcess process = new SimulatedProcess(processes.size());
        processes.add(process);
        return process;
    }

    /** The last eight characters tell the users apart, as tag names need it. */
    private String nextUser() {
        return "job-" + (10_000_000 + ++jobCount);
    }

    private void startFresh(int parallelism) {
        String user = nextUser();
        start(new JobHistory(user, user, parallelism, 1), newProcess());
    }

    private void start(JobHistory history, SimulatedProcess process) {
        oracle.restored(history);
        oracle.restarted(history);
        job = new SimulatedJob(this, history, process);
        job.start();
    }

    private boolean jobManagerDies(boolean frozen) {
        if (job.ended || job.history.stopped != null) {
            job.process.die();
            job.end();
            return true;
        }
        if (!frozen) {
            job.process.die();
        } else {
            for (SimulatedLoop loop : job.process.loops) {
                if (loop.hanging()) {
                    // What happens in the middle of a commit can be told by nobody else.
                    return false;
                }
            }
        }
        JobHistory history = job.history;
        for (Checkpoint checkpoint : history.checkpoints) {
            for (SimulatedJob.Action action : job.mainThread) {
                if (action.checkpointId == checkpoint.id && "abort".equals(action.name)) {
                    checkpoint.excuse = "its abort died with the JobManager";
                }
            }
        }
        oracle.look();
        oracle.memoryLost(history, history.newest);
        job.abandon();
        start(history, newProcess());
        return true;
    }

    /** Ends the job and, in time or not, its coordinator; whatever is later than that is lost. */
    private void cancel(long restoredId) {
        if (!job.ended) {
            job.end();
        }
        oracle.canceled(job.history, restoredId);
        for (SimulatedProcess process : processes) {
            if (process != job.process) {
                process.die();
            }
        }
    }

    private boolean rescale(int parallelism) {
        Checkpoint newest = job.history.newest;
        if (job.ended || newest == null || newest.someFinished() || job.history.stopped != null) {
            return false;
        }
        JobHistory old = job.history;
        cancel(newest.id);
        oracle.memoryLost(old, newest);
        JobHistory history =
                new JobHistory(nextUser(), old.user, parallelism, old.nextCheckpointId);
        history.newest = newest;
        history.checkpoints.addAll(old.checkpoints);
        start(history, processForNext());
        return true;
    }

    private SimulatedProcess processForNext() {
        return job.process.alive() ? job.process : newProcess();
    }

    /** The newest savepoint that completed after everything that the job has committed. */
    private Checkpoint restorable() {
        JobHistory history = job.history;
        for (int i = history.checkpoints.size() - 1; i >= 0; i--) {
            Checkpoint checkpoint = history.checkpoints.get(i);
            if (history.newest != null && checkpoint.id <= history.newest.id) {
                return null;
            }
            if (checkpoint.type.savepoint()
                    && checkpoint.status == Checkpoint.Status.COMPLETED
                    && (history.stopped == null || history.stopped == checkpoint)) {
                return checkpoint;
            }
        }
        return null;
    }

    private boolean restoreSavepoint(int parallelism) {
        Checkpoint savepoint = restorable();
        if (savepoint == null || savepoint.someFinished()) {
            return false;
        }
        JobHistory old = job.history;
        cancel(savepoint.id);
        restoreFrom(old, savepoint, parallelism);
        return true;
    }

    private void restoreFrom(JobHistory old, Checkpoint savepoint, int parallelism) {
        oracle.memoryLost(old, savepoint);
        JobHistory history = new JobHistory(nextUser(), old.user, parallelism, savepoint.id + 1);
        history.newest = savepoint;
        for (Checkpoint checkpoint : old.checkpoints) {
            if (checkpoint.id <= savepoint.id) {
                // A writer that was reset later than that was not reset at all.
                checkpoint.broken &= checkpoint.brokenBefore <= savepoint.id;
                history.checkpoints.add(checkpoint);
            } else {
                oracle.forget(old.user, checkpoint);
            }
        }
        start(history, processForNext());
    }

    private boolean rollBack(int parallelism, int which) {
        List<SimulatedTable.TagView> owned = oracle.ownedTags(job.history.user);
        if (owned.isEmpty()) {
            return false;
        }
        SimulatedTable.TagView tag = owned.get(which % owned.size());
        Checkpoint savepoint = oracle.checkpointOf(tag.user, tag.identifier);
        if (savepoint.status != Checkpoint.Status.COMPLETED || savepoint.someFinished()) {
            return false;
        }
        JobHistory old = job.history;
        cancel(savepoint.id);
        for (SimulatedProcess process : processes) {
            process.die();
        }
        try {
            table.rollbackTo(tag);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        oracle.rolledBack(tag);
        restoreFrom(old, savepoint, parallelism);
        return true;
    }

    private boolean expire(int retained) {
        // A table keeps the newest snapshot of a job that runs on it, or the base commits again.
        long oldest = oldestNeeded(job.history.user, oracle.latestSnapshot());
        for (SimulatedLoop loop : loops) {
            if (!loop.terminated() && loop.user != null) {
                oldest = oldestNeeded(loop.user, oldest);
            }
        }
        long keep = Math.max(retained, oracle.latestSnapshot() - oldest + 1);
        try {
            table.expireAllBut((int) keep);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        oracle.expired();
        return true;
    }

    private long oldestNeeded(String user, long oldest) {
        long newest = oracle.newestSnapshot(user);
        return newest == 0 ? oldest : Math.min(newest, oldest);
    }

    private boolean anotherCommits() {
        try {
            table.commitByAnother(1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return true;
    }

    // ------------------------------------------------------------------------
    //  The end
    // ------------------------------------------------------------------------

    /** Turns the faults off, takes two more checkpoints, and lets the oracle judge. */
    void settle() {
        faults.off();
        recover();
        if (job.history.stopped != null) {
            Checkpoint stopped = job.history.stopped;
            if (!stopped.someFinished()) {
                restoreSavepoint(job.current.length);
                recover();
            } else {
                oracle.look();
                return;
            }
        }
        for (int round = 0; round < 2; round++) {
            long before = job.history.newest == null ? -1 : job.history.newest.id;
            for (int attempt = 0; ; attempt++) {
                for (int i = 0; i < job.current.length; i++) {
                    job.write(i, 1);
                }
                job.trigger(Checkpoint.Type.CHECKPOINT);
                recover();
                if (job.history.newest != null && job.history.newest.id > before) {
                    break;
                }
                if (attempt == PATIENCE) {
                    throw new Violation("No checkpoint completes any more: " + state());
                }
            }
        }
        oracle.settled(job.history);
    }

    /** Runs until nothing is left to do and everything runs. */
    private void recover() {
        for (int attempt = 0; attempt < PATIENCE; attempt++) {
            drain(-1, 1);
            look();
            if (job.restart()) {
                continue;
            }
            if (job.ended || quiet()) {
                return;
            }
            // Somebody waits for what was lost.
            job.failAll();
        }
        throw new Violation(
                "With all faults off, the job still fails or hangs: " + state(), job.failure);
    }

    private boolean quiet() {
        for (Attempt attempt : job.current) {
            if (attempt.alive()
                    && (attempt.phase != Attempt.Phase.RUNNING
                            || attempt.awaiting
                            || attempt.blockedBy != 0)) {
                return false;
            }
        }
        return job.pending.isEmpty();
    }

    private String state() {
        StringBuilder state = new StringBuilder();
        state.append("pending ").append(job.pending);
        for (SimulatedLoop loop : loops) {
            state.append(", ").append(loop).append(" has ").append(loop.pending());
        }
        return state.append(", main thread ").append(job.mainThread).toString();
    }

    @Override
    public void close() {
        processes.forEach(SimulatedProcess::die);
        table.close();
    }
}
