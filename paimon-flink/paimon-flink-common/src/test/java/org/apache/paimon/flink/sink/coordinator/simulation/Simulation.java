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

import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.SimulationAccess;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.coordinator.commit.TaggedSavepoints;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagStatistics;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.SavepointTags;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.api.common.state.ListState;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
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

    /** More than the look for a snapshot reads whose place is unknown. */
    private static final int MANY = 1_100;

    /** On a real table each of them takes a while. */
    private static final int FEW = 20;

    private final RunConfig config;
    private final String tableName = "simulated-" + TABLES.incrementAndGet();
    private final Effects effects = new Effects();
    private final Faults faults = new Faults(effects);
    private final SimulatedTable table;
    private final SavepointDirectories savepoints = new SavepointDirectories();
    private final Oracle oracle;
    private final List<SimulatedProcess> processes = new ArrayList<>();

    /** Loops that are not known to have ended, oldest first. */
    private final List<SimulatedLoop> loops = new ArrayList<>();

    private int loopCount;
    private int jobCount;
    private boolean manyCommitted;
    private SimulatedJob job;

    /** The second of two jobs that run at once; null when there is none. */
    private SimulatedJob other;

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

    /** What the steps have brought about so far. */
    Effects effects() {
        return effects;
    }

    Faults faults() {
        return faults;
    }

    Oracle oracle() {
        return oracle;
    }

    SavepointDirectories savepoints() {
        return savepoints;
    }

    /** The job, and its clone while there is one. */
    List<SimulatedJob> jobs() {
        return other == null ? Collections.singletonList(job) : Arrays.asList(job, other);
    }

    SimulatedTable table() {
        return table;
    }

    String tableName() {
        return tableName;
    }

    SimulatedLoop newLoop(SimulatedJob owner, EventLoop.FailureHandler failureHandler) {
        SimulatedProcess process = owner.process;
        SimulatedLoop loop =
                new SimulatedLoop(
                        ++loopCount,
                        process,
                        owner,
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
        oracle.opens(loop.job);
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
                            null,
                            new SavepointTagStatistics());
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
        SimulatedJob owner = runningLoop().job;
        try {
            faults.afterTag(runningLoop());
        } catch (ProcessDied e) {
            if (faults.tears() && table instanceof MemoryTable) {
                // The base writes tags in place: the beginning of the file is there.
                ((MemoryTable) table).tear(path);
            }
            oracle.tagChanged(owner, true);
            throw e;
        } catch (java.io.IOException e) {
            oracle.tagChanged(owner, true);
            throw e;
        }
        oracle.tagChanged(owner, false);
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
                return job.restart(step.b % 2 == 1);
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
                return anotherCommits(1);
            case MANY_COMMITS:
                return manyCommits();
            case RESTORE_OLD:
                return restoreOld(step.a);
            case RESTORE_AFTER_ROLLBACK:
                return restoreAfterRollback(step.a, step.b / 2 % 2, step.b % 2 == 1);
            case ROLL_BACK_BELOW:
                return rollBackBelow(1 + step.a, step.b % 2 == 1);
            case NEW_SINK:
                return newSink(1 + step.a % 8);
            case CLONE:
                return startClone(step.a, step.b % 2 == 1);
            case SWITCH_JOBS:
                return switchJobs();
            case KEEP_ONE:
                return keepOne();
            case COMPACT:
                return compact();
            case DELETE_TAG:
                return deleteTag(step.a);
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
        boolean mayHang = other == null && loop.process == job.process && faults.hangDue();
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
        oracle.started(history);
        job = new SimulatedJob(this, history, process);
        job.start();
    }

    /** Whether the last JobManager of a job died while the job ended: nobody looks any more. */
    boolean hasDiedWhileItEnded(JobHistory history) {
        SimulatedLoop last = null;
        for (SimulatedProcess process : processes) {
            for (SimulatedLoop loop : process.loops) {
                if (history.user.equals(loop.user) && (last == null || last.number < loop.number)) {
                    last = loop;
                }
            }
        }
        if (last == null) {
            return false;
        }
        // A session that had not opened its committer yet has no user.
        for (SimulatedLoop loop : last.process.loops) {
            if (loop.killedAtWork
                    && (loop == last || loop.user == null && loop.number > last.number)) {
                return true;
            }
        }
        return false;
    }

    private boolean commitHangs() {
        for (SimulatedLoop loop : loops) {
            if (loop.hanging() && loop.process.alive()) {
                return true;
            }
        }
        return false;
    }

    private boolean jobManagerDies(boolean frozen) {
        if (frozen && (other != null || commitHangs())) {
            // What happens in the middle of a commit can be told by nobody else.
            return false;
        }
        if (job.ended || job.history.stopped != null) {
            if (other != null && other.process == job.process) {
                return false;
            }
            job.process.die();
            job.end();
            return true;
        }
        SimulatedJob second = other != null && other.process == job.process ? other : null;
        if (second != null && second.history.stopped != null) {
            return false;
        }
        if (!frozen) {
            job.process.die();
        }
        JobHistory history = abandon(job);
        SimulatedProcess process = newProcess();
        if (second != null) {
            JobHistory secondHistory = abandon(second);
            start(secondHistory, process);
            other = job;
        }
        start(history, process);
        return true;
    }

    private JobHistory abandon(SimulatedJob abandoned) {
        JobHistory history = abandoned.history;
        oracle.look();
        abandoned.abandon();
        history.breakAllAfter(history.newest == null ? -1 : history.newest.id);
        return history;
    }

    /** Ends the job and, in time or not, its coordinator; whatever is later than that is lost. */
    private void cancel(long restoredId) {
        if (other != null) {
            other.end();
            oracle.canceled(other.history, other.history.newest == null ? -1 : restoredId);
            other.history.superseded = true;
            other = null;
        }
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
        cancel(newest.id);
        restoreFrom(job.history, newest, parallelism);
        return true;
    }

    private SimulatedProcess processForNext() {
        return job.process.alive() ? job.process : newProcess();
    }

    /** The newest savepoint that completed after everything that the job has committed. */
    private Checkpoint restorable() {
        JobHistory history = job.history;
        for (Checkpoint checkpoint : history.checkpoints.descendingMap().values()) {
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
        cancel(savepoint.id);
        restoreFrom(job.history, savepoint, parallelism);
        return true;
    }

    private JobHistory restoreFrom(JobHistory old, Checkpoint restored, int parallelism) {
        if (restored.withoutSink()) {
            return startNewSink(restored.id, parallelism);
        }
        job.history.superseded = true;
        old.superseded = true;
        JobHistory history = old.restoredFrom(restored, nextUser(), parallelism);
        start(history, processForNext());
        return history;
    }

    private boolean rollBack(int parallelism, int which) {
        List<SimulatedTable.TagView> owned = new ArrayList<>(oracle.tags());
        owned.removeIf(tag -> !tag.user.equals(job.history.user));
        if (owned.isEmpty()) {
            return false;
        }
        SimulatedTable.TagView tag = owned.get(which % owned.size());
        JobHistory history = oracle.historyOf(tag);
        Checkpoint savepoint = oracle.savepointOf(tag);
        if (savepoint.status != Checkpoint.Status.COMPLETED || savepoint.someFinished()) {
            return false;
        }
        cancel(savepoint.id);
        processes.forEach(SimulatedProcess::die);
        rollTableBack(tag.snapshotId, false);
        restoreFrom(history, savepoint, parallelism);
        return true;
    }

    /**
     * @param asLatest whether by a new snapshot
     */
    private void rollTableBack(long snapshotId, boolean asLatest) {
        try {
            SimulatedTable.TagView tag = null;
            for (SimulatedTable.TagView each : oracle.tags()) {
                if (each.snapshotId == snapshotId) {
                    tag = each;
                }
            }
            if (asLatest && tag == null) {
                table.rollbackToAsLatest(snapshotId);
            } else if (asLatest) {
                table.rollbackToAsLatest(tag);
            } else if (tag == null) {
                table.rollbackTo(snapshotId);
            } else {
                table.rollbackTo(tag);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        oracle.rolledBack(snapshotId, !asLatest);
    }

    /** All completed checkpoints and savepoints of the job's user, the newest of each job first. */
    private List<Checkpoint> retained() {
        List<Checkpoint> retained = new ArrayList<>();
        for (JobHistory history : oracle.histories(job.history.user)) {
            for (Checkpoint checkpoint : history.checkpoints.descendingMap().values()) {
                if (checkpoint.status == Checkpoint.Status.COMPLETED
                        && checkpoint.takenBy != null
                        && checkpoint.takenBy.history == history
                        && !checkpoint.someFinished()
                        && !startsFromAnotherCourse(history, checkpoint)) {
                    retained.add(checkpoint);
                }
            }
        }
        return retained;
    }

    /**
     * Whether files of a broken savepoint, which this checkpoint holds as its own, were committed
     * by a job that was restored from that savepoint: two courses of the job share them then.
     */
    private static boolean startsFromAnotherCourse(JobHistory history, Checkpoint checkpoint) {
        for (Checkpoint earlier : history.checkpoints.headMap(checkpoint.id, false).values()) {
            if (earlier.broken && earlier.commit() != null) {
                return true;
            }
        }
        return false;
    }

    private boolean restoreOld(int which) {
        List<Checkpoint> retained = retained();
        if (retained.isEmpty()) {
            return false;
        }
        Checkpoint restored = retained.get(which % retained.size());
        JobHistory old = restored.takenBy.history;
        cancel(restored.id);
        restoreFrom(old, restored, job.history.parallelism);
        return true;
    }

    private boolean restoreAfterRollback(int which, int furtherBack, boolean asLatest) {
        List<Checkpoint> retained = retained();
        if (retained.isEmpty() || asLatest && !table.rollsBackAsLatest()) {
            return false;
        }
        Checkpoint restored = retained.get(which % retained.size());
        JobHistory old = restored.takenBy.history;
        List<Long> targets = new ArrayList<>();
        for (Checkpoint earlier :
                old.checkpoints.headMap(restored.id, true).descendingMap().values()) {
            if (earlier.commit() != null
                    && !earlier.commit().rolledBack
                    && restorable(earlier.commit().snapshotId)) {
                targets.add(earlier.commit().snapshotId);
            }
        }
        targets.sort(Comparator.reverseOrder());
        if (furtherBack >= targets.size()) {
            return false;
        }
        if (asLatest && !(table instanceof MemoryTable)) {
            // The real table's rows are not followed through such a rollback.
            return false;
        }
        cancel(restored.id);
        processes.forEach(SimulatedProcess::die);
        rollTableBack(targets.get(furtherBack), asLatest);
        restoreFrom(old, restored, job.history.parallelism);
        return true;
    }

    /** Whether the table can be rolled back to a snapshot. */
    private boolean restorable(long snapshotId) {
        return oracle.exists(snapshotId)
                || oracle.tags().stream().anyMatch(tag -> tag.snapshotId == snapshotId);
    }

    private boolean rollBackBelow(int snapshots, boolean asLatest) {
        long target = oracle.latestSnapshot() - snapshots;
        if (other != null
                || target < 1
                || !oracle.exists(target)
                || commitHangs()
                || asLatest && !table.rollsBackAsLatest()) {
            return false;
        }
        for (SimulatedProcess process : processes) {
            if (process != job.process) {
                process.die();
            }
        }
        BitSet removed = (BitSet) oracle.content().clone();
        rollTableBack(target, asLatest);
        removed.andNot(oracle.content());
        job.history.uncertain.or(removed);
        if (job.history.newest != null && oracle.hasCommitsOfAnotherCourse(job)) {
            // R2: the failover goes by the base's rule, which cannot tell the courses apart.
            job.history.uncertain.or(job.history.newest.holds());
        }
        return true;
    }

    private boolean newSink(int parallelism) {
        Checkpoint newest = job.history.newest;
        if (newest == null) {
            return false;
        }
        cancel(-1);
        startNewSink(newest.id, parallelism);
        return true;
    }

    private JobHistory startNewSink(long restoredId, int parallelism) {
        String user = nextUser();
        JobHistory history = new JobHistory(user, user, parallelism, restoredId + 1);
        history.newest = Checkpoint.ofNewSink(restoredId, parallelism);
        history.checkpoints.put(restoredId, history.newest);
        start(history, processForNext());
        return history;
    }

    // ------------------------------------------------------------------------
    //  Two jobs
    // ------------------------------------------------------------------------

    private boolean startClone(int which, boolean sameProcess) {
        if (other != null || job.ended || job.history.stopped != null || commitHangs()) {
            return false;
        }
        Checkpoint restored = null;
        for (Checkpoint checkpoint : job.history.checkpoints.values()) {
            if (checkpoint.status == Checkpoint.Status.COMPLETED
                    && !checkpoint.broken
                    && !checkpoint.withoutSink()
                    && checkpoint.type.savepoint() == (which % 2 == 1)) {
                restored = checkpoint;
            }
        }
        if (restored == null || restored.someFinished()) {
            return false;
        }
        for (SimulatedProcess process : processes) {
            if (process != job.process) {
                process.die();
            }
        }
        other = job;
        start(
                job.history.restoredFrom(restored, nextUser(), job.history.parallelism),
                sameProcess ? job.process : newProcess());
        return true;
    }

    private boolean switchJobs() {
        if (other == null || other.ended) {
            return false;
        }
        SimulatedJob next = other;
        other = job;
        job = next;
        return true;
    }

    private boolean keepOne() {
        if (other == null || job.ended || job.history.stopped != null) {
            return false;
        }
        return restoreNewest();
    }

    /** Stops everything and goes on from the newest checkpoint of the job. */
    private boolean restoreNewest() {
        Checkpoint newest = job.history.newest;
        if (newest == null || newest.someFinished()) {
            cancel(-1);
            startFresh(job.history.parallelism);
            return true;
        }
        cancel(newest.id);
        restoreFrom(job.history, newest, job.history.parallelism);
        return true;
    }

    /** Whether another job of the same process has not ended, as the same user. */
    boolean otherRuns(SimulatedJob one) {
        for (SimulatedJob two : new SimulatedJob[] {job, other}) {
            if (two != null
                    && two != one
                    && !two.ended
                    && two.process == one.process
                    && two.history.user.equals(one.history.user)) {
                return true;
            }
        }
        return false;
    }

    // ------------------------------------------------------------------------
    //  The table
    // ------------------------------------------------------------------------

    private boolean expire(int retained) {
        if (commitHangs()) {
            // What happens between the last look and the base's own is known to nobody.
            return false;
        }
        try {
            table.expireAllBut(retained);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        oracle.expired();
        return true;
    }

    private boolean anotherCommits(int times) {
        try {
            table.commitByAnother(times);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return true;
    }

    /** Once in a run: it takes as long as all else in it. */
    private boolean manyCommits() {
        if (manyCommitted) {
            return false;
        }
        manyCommitted = true;
        return anotherCommits(table instanceof MemoryTable ? MANY : FEW);
    }

    private boolean compact() {
        try {
            return table.compact();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean deleteTag(int which) {
        List<SimulatedTable.TagView> tags = oracle.tags();
        if (tags.isEmpty()) {
            return false;
        }
        SimulatedTable.TagView tag = tags.get(which % tags.size());
        try {
            table.deleteTag(tag);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        oracle.tagDeletedByOwner(tag);
        oracle.expired();
        return true;
    }

    // ------------------------------------------------------------------------
    //  The end
    // ------------------------------------------------------------------------

    /** Turns the faults off, takes two more checkpoints, and lets the oracle judge. */
    void finish() {
        faults.off();
        if (other != null) {
            restoreNewest();
        }
        recover();
        if (job.history.stopped != null) {
            Checkpoint stopped = job.history.stopped;
            if (!stopped.someFinished()) {
                cancel(stopped.id);
                restoreFrom(job.history, stopped, job.current.length);
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
        oracle.checkEnd(job.history);
    }

    /** Runs until nothing is left to do and everything runs. */
    private void recover() {
        for (int attempt = 0; attempt < PATIENCE; attempt++) {
            drain(-1, 1);
            look();
            if (doWhatItAsksFor() || job.restart(false)) {
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

    /** What the message of a job that refuses to work says. */
    private boolean doWhatItAsksFor() {
        if (job.refusal == null) {
            return false;
        }
        switch (job.refusal) {
            case FOREIGN:
            case LOCKED:
                return restoreNewest();
            default:
                cancel(-1);
                startFresh(job.history.parallelism);
                return true;
        }
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
        for (SimulatedProcess process : processes) {
            process.loops.forEach(SimulationAccess::forget);
        }
        table.close();
    }
}
