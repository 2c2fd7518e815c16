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

import org.apache.paimon.flink.sink.coordinator.commit.SavepointOutcome;
import org.apache.paimon.tag.SavepointTagStatistics;

import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;

/**
 * Knows what every writer had written before each barrier, and from that alone what the table and
 * its tags must hold. It shares nothing with the classes under test.
 *
 * <p><b>After each step</b> ({@link #look}): a new snapshot holds whole reports only, none of them
 * for the second time, none that no completed checkpoint of its job holds; it holds exactly what
 * the checkpoint of its identifier holds (A3); a tag holds what its savepoint holds; no tag of
 * somebody else is touched; a savepoint is tagged before anything later is committed (T3); nobody
 * commits beside a living predecessor, after it was told to stop, or after another job has
 * committed as its user (A7); who refuses to work has a reason (R2, A4, A7).
 *
 * <p><b>At the end</b> ({@link #checkEnd}): the table holds each file of the newest checkpoint
 * once, and the tags are those that the promise demands.
 */
final class Oracle {

    private final Simulation simulation;
    private final SimulatedTable table;

    /** Number of files so far, and the report that each of them is in; -1 while in none. */
    private int files;

    private int[] reportOf = new int[64];
    private final List<BitSet> reports = new ArrayList<>();

    /** All that a snapshot holds. */
    private final NavigableMap<Long, BitSet> contents = new TreeMap<>();

    private final List<JobHistory> histories = new ArrayList<>();

    /** All commits of the jobs, oldest first, and those that are in the table by snapshot. */
    private final List<Checkpoint.Commit> commits = new ArrayList<>();

    private final Map<Long, Committed> bySnapshot = new HashMap<>();

    private Map<String, SimulatedTable.TagView> tags = new HashMap<>();

    /** Snapshots that were tagged once, and those whose tag the owner has deleted since. */
    private BitSet tagged = new BitSet();

    private final BitSet deletedByOwner = new BitSet();

    /** T4: the tag that the owner deleted stood for each later snapshot of the savepoint, too. */
    private final Set<Checkpoint> withoutTag = new HashSet<>();

    /** What the table held before it was rolled back, and not after. */
    private final BitSet rolledAway = new BitSet();

    /** The snapshots by which the table went back. */
    private final List<Checkpoint.Commit> rollbacksAsLatest = new ArrayList<>();

    /** Who is changing a tag right now, and whether that fails afterwards. */
    private SimulatedJob tagging;

    private boolean taggingFailed;

    private final List<WatchedTagger> taggers = new ArrayList<>();

    /** Savepoints whose tag stayed although they were aborted: what is known and documented. */
    private int knownLimits;

    private final Map<SimulatedJob.Refusal, Integer> refusals =
            new EnumMap<>(SimulatedJob.Refusal.class);

    Oracle(Simulation simulation, SimulatedTable table) {
        this.simulation = simulation;
        this.table = table;
        contents.put(0L, new BitSet());
    }

    int knownLimits() {
        return knownLimits;
    }

    /** How often a job refused to work, with reason. */
    Map<SimulatedJob.Refusal, Integer> refusals() {
        return refusals;
    }

    // ------------------------------------------------------------------------
    //  What happens
    // ------------------------------------------------------------------------

    /** Looks from now on whether this tagger gives savepoints up without need. */
    void watch(String user, SavepointTagStatistics statistics) {
        taggers.add(new WatchedTagger(user, statistics));
    }

    int newFile() {
        if (files == reportOf.length) {
            reportOf = Arrays.copyOf(reportOf, 2 * files);
        }
        reportOf[files] = -1;
        return files++;
    }

    void reported(BitSet reported) {
        for (int file = reported.nextSetBit(0); file >= 0; file = reported.nextSetBit(file + 1)) {
            reportOf[file] = reports.size();
        }
        reports.add(reported);
    }

    void completed(JobHistory history, Checkpoint checkpoint) {
        history.committable = checkpoint.holds();
    }

    /** The coordinator says that all is committed up to this checkpoint. */
    void answered(SimulatedJob job, long checkpointId) {
        look();
        Checkpoint checkpoint = job.history.checkpoint(checkpointId);
        BitSet expected = checkpoint.holds();
        BitSet missing = (BitSet) expected.clone();
        missing.andNot(contentOf(job.history, latest()));
        missing.andNot(uncertain(job.history));
        if (!missing.isEmpty()) {
            throw new Violation(
                    "T2, E3: the coordinator said that "
                            + checkpoint
                            + " is committed. The table holds "
                            + contentOf(job.history, latest())
                            + ", it should hold "
                            + expected);
        }
        if (demand(checkpoint) == Demand.MUST && tagOf(checkpoint) == null) {
            throw new Violation(
                    "T2: the coordinator said that " + checkpoint + " is committed: no tag.");
        }
    }

    /** A coordinator of a job is about to look at the table. */
    void opens(SimulatedJob job) {
        if (job.firstLook < 0) {
            job.firstLook = commits.size();
            expectAnotherForm(job.history);
        }
    }

    /**
     * A3: when a writer was reset to before the restored savepoint, and its job went on, what that
     * writer had written is in the table in another form.
     */
    private void expectAnotherForm(JobHistory history) {
        Checkpoint restored = history.startedFrom;
        if (restored == null || restored.takenBy == null) {
            return;
        }
        Checkpoint original = restored.takenBy.history.checkpoint(restored.id);
        if (original.broken && newestIdentifier(history.user) > restored.id) {
            BitSet gone = restored.holds();
            gone.andNot(content());
            history.uncertain.or(gone);
        }
    }

    /** The coordinator has failed the job: there must be a reason. */
    void failed(SimulatedJob job, Throwable cause) {
        simulation
                .effects()
                .add(job.refusal != null ? Effects.Effect.REFUSAL : Effects.Effect.FAILURE);
        if (job.refusal != null) {
            checkRefusal(job, cause);
            refusals.merge(job.refusal, 1, Integer::sum);
            return;
        }
        if (simulation.config().mode == Mode.HOSTILE) {
            return;
        }
        // The base swallows a failure to delete a tag, and only its consequence is seen.
        if (!simulation.faults().takeTagFailed() && !simulated(cause)) {
            throw new Violation("The coordinator failed the job for no reason: " + cause, cause);
        }
    }

    private void checkRefusal(SimulatedJob job, Throwable cause) {
        boolean hasReason;
        switch (job.refusal) {
            case ROLLED_BACK:
                Checkpoint restored = job.history.newest;
                hasReason =
                        !job.working && (restored.lost() != null || rollbacksAsLatest.size() > 1);
                // It has looked at the table, and taken nothing from it.
                job.firstLook = -1;
                break;
            case UNDECIDED:
                hasReason = !rollbacksAsLatest.isEmpty();
                break;
            case FILES_GONE:
                hasReason =
                        commits.stream()
                                        .anyMatch(
                                                commit ->
                                                        commit.rolledBack
                                                                && isOfUser(
                                                                        commit, job.history.user))
                                // What a clone has committed has expired and was compacted (A7).
                                || job.hasMissedForeignCommit();
                break;
            case FOREIGN:
                hasReason = foreignCommit(job, false) != null;
                break;
            case LOCKED:
                hasReason = simulation.otherRuns(job);
                break;
            default:
                throw new IllegalStateException(job.refusal.toString());
        }
        if (!hasReason) {
            throw new Violation(
                    "The coordinator refuses to work without need (" + job.refusal + "): " + cause,
                    cause);
        }
    }

    /**
     * A7: a commit of somebody else as the user of a job since that has looked at the table first;
     * null for none.
     */
    private Checkpoint.Commit foreignCommit(SimulatedJob job, boolean stillThere) {
        for (int i = commits.size() - 1; i >= 0 && i >= job.firstLook; i--) {
            Checkpoint.Commit commit = commits.get(i);
            if (commit.job != job
                    && isOfUser(commit, job.history.user)
                    && !isOfPredecessor(job, commit)
                    && !(stillThere && (commit.rolledBack || !exists(commit.snapshotId)))) {
                return commit;
            }
        }
        return null;
    }

    /** Whether the table has commits of a job's commit user that another course has made. */
    boolean hasCommitsOfAnotherCourse(SimulatedJob job) {
        return commits.stream()
                .anyMatch(
                        commit ->
                                !commit.rolledBack
                                        && commit.job != job
                                        && isOfUser(commit, job.history.user));
    }

    private static boolean isOfUser(Checkpoint.Commit commit, String user) {
        return commit.job.history.user.equals(user);
    }

    /** Whether a commit is of what was restored: of whom took it, or whoever else restored it. */
    private static boolean isOfPredecessor(SimulatedJob job, Checkpoint.Commit commit) {
        if (commit.inNameOf == job && commit.identifier <= job.lastCommitted) {
            // Committed by both, as the table was rolled back in between. It says that this job
            // has committed it, which is true.
            return true;
        }
        for (Checkpoint restored : job.restored) {
            if (commit.identifier <= restored.id && restored.takenBy == commit.inNameOf) {
                return true;
            }
        }
        return false;
    }

    private static boolean simulated(Throwable cause) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof SimulatedFailure
                    || t instanceof InterruptedException
                    || t instanceof ClosedByInterruptException
                    || t instanceof CancellationException) {
                return true;
            }
            for (Throwable suppressed : t.getSuppressed()) {
                if (simulated(suppressed)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A commit is about to begin in this loop. */
    void committing(SimulatedLoop loop, long identifier) {
        if (loop.cancelled()) {
            throw new Violation(
                    "A7: "
                            + loop
                            + " begins to commit "
                            + identifier
                            + " after it was told to end.");
        }
        checkAlone(loop, "commits " + identifier);
    }

    void checkAlone(SimulatedLoop loop, String what) {
        for (SimulatedLoop other : loop.process.loops) {
            if (other.number < loop.number && !other.terminated() && loop.user.equals(other.user)) {
                throw new Violation("A7: " + loop + " " + what + " while " + other + " lives.");
            }
        }
    }

    /**
     * Nobody remembers the aborts so far: a flag in the restored state comes back, and a tag that
     * was still to be deleted stays.
     */
    private void memoryLost(JobHistory history) {
        for (Checkpoint checkpoint : history.checkpoints.values()) {
            if (checkpoint.status == Checkpoint.Status.ABORTED
                    && (tagOf(checkpoint) != null
                            || history.newest != null && history.newest.flags(checkpoint.id))) {
                checkpoint.abortForgotten = true;
            }
            if (checkpoint.status == Checkpoint.Status.PENDING) {
                checkpoint.status = Checkpoint.Status.LOST;
            }
        }
    }

    /** Its job was canceled: what it left undone is nobody's business. */
    void canceled(JobHistory history, long restoredId) {
        look();
        for (Checkpoint checkpoint : history.checkpoints.values()) {
            if (checkpoint.status == Checkpoint.Status.ABORTED && tagOf(checkpoint) != null) {
                checkpoint.abortForgotten = true;
            }
        }
        for (Checkpoint checkpoint : history.checkpoints.tailMap(restoredId, false).values()) {
            if (checkpoint.excuse == null
                    && (checkpoint.status == Checkpoint.Status.LOST || tagOf(checkpoint) == null)) {
                checkpoint.excuse = "its job was canceled";
            }
        }
        Checkpoint restored = history.checkpoints.get(restoredId);
        for (Checkpoint checkpoint : history.checkpoints.headMap(restoredId, false).values()) {
            // Another course has committed it again, and has ended before it was tagged.
            if (restored != null
                    && checkpoint.excuse == null
                    && tagOf(checkpoint) == null
                    && (!restored.flags(checkpoint.id)
                            || checkpoint.id <= restored.committedUpTo)) {
                checkpoint.excuse = "its job was canceled, and the restored one knows it as tagged";
            }
        }
    }

    /** A job starts in a JobMaster of its own: from a checkpoint, or with nothing. */
    void started(JobHistory history) {
        simulation.effects().add(Effects.Effect.START);
        if (!histories.contains(history)) {
            histories.add(history);
        }
        memoryLost(history);
        Checkpoint restored = history.newest;
        if (restored != null) {
            history.committable = restored.holds();
            if (restored.commit() == null || exists(restored.commit().snapshotId)) {
                restored.excuse = null;
            }
            history.mayLack = restored.holds();
            history.mayLack.andNot(restored.committedBefore);
        }
        history.startedFrom = restored;
        restarted(history);
    }

    /**
     * A job has changed the file of a tag.
     *
     * @param failed whether it does not know that
     */
    void tagChanged(SimulatedJob job, boolean failed) {
        tagging = job;
        taggingFailed = failed;
        try {
            look();
        } catch (Violation violation) {
            // The base would take it for a failure of the file system.
            simulation.report(violation);
        }
        tagging = null;
    }

    /** The state of a coordinator is taken: what was restored is recovered. */
    void coordinatorTaken(SimulatedJob job, Checkpoint checkpoint) {
        look();
        job.working = true;
        checkpoint.takenBy = job;
        checkpoint.missedForeignCommit = foreignCommit(job, false) != null;
        checkpoint.committedUpTo = job.history.newest == null ? -1 : job.history.newest.id;
        checkpoint.knownOwn = knownOwn(job.history);
        checkpoint.knownRollback =
                rollbacksAsLatest.isEmpty()
                        ? null
                        : rollbacksAsLatest.get(rollbacksAsLatest.size() - 1);
        checkpoint.committedBefore = contentOf(job.history, latest());
        // A4: without replays it passes on what the restored state has said, until a later
        // checkpoint has completed.
        boolean learnsNothing =
                job.history.withoutReplays != null
                        && job.history.withoutReplays == job.history.newest;
        checkpoint.taggedBefore = learnsNothing ? job.history.newest.taggedBefore : tagged;
    }

    /** R2: also what a clone has committed in the name of the checkpoint that both restored. */
    private static Checkpoint.Commit knownOwn(JobHistory history) {
        Checkpoint.Commit own = history.newestOwn;
        Checkpoint.Commit inOurName = newestCommit(history);
        return own == null || inOurName != null && own.number < inOurName.number ? inOurName : own;
    }

    /**
     * The job goes back to its newest checkpoint. What writers said that have finished before is in
     * no state any more: they waited for the commit of their last data, but not for the empty
     * savepoints that came after it.
     */
    void restarted(JobHistory history) {
        if (history.newest == null || !history.newest.someFinished()) {
            return;
        }
        for (Checkpoint checkpoint :
                history.checkpoints.headMap(history.newest.id, true).values()) {
            if (checkpoint.ownFiles == 0 && checkpoint.excuse == null) {
                checkpoint.excuse = "its writers have finished, and had nothing to say";
            }
        }
    }

    /** A replay was lost as a whole: what is restored then looks as if all writers had finished. */
    void replayLost(JobHistory history) {
        history.withoutReplays = history.newest;
        for (Checkpoint checkpoint : history.checkpoints.values()) {
            if (tagOf(checkpoint) == null && checkpoint.excuse == null) {
                checkpoint.excuse = "its replay was lost as a whole";
            }
        }
    }

    /** Snapshots were expired: a savepoint that had no tag yet never gets one (T10). */
    void expired() {
        look();
        for (JobHistory history : histories) {
            for (Checkpoint checkpoint : history.checkpoints.values()) {
                if (checkpoint.commit() != null
                        && checkpoint.excuse == null
                        && tagOf(checkpoint) == null
                        && !exists(checkpoint.commit().snapshotId)) {
                    checkpoint.excuse = "its snapshot has expired";
                }
            }
        }
    }

    /**
     * The table was rolled back to a snapshot.
     *
     * @param removed whether the snapshots above it are gone, and their tags
     */
    void rolledBack(long snapshotId, boolean removed) {
        if (removed) {
            rolledAway.or(contents.get(latest()));
        } else {
            look();
            rolledAway.or(contents.get(latest() - 1));
        }
        rolledAway.andNot(contents.get(snapshotId));
        if (!removed) {
            rollbacksAsLatest.add(
                    new Checkpoint.Commit(commits.size(), latest(), Long.MAX_VALUE, null));
        }
        List<Checkpoint.Commit> all = new ArrayList<>(commits);
        all.addAll(rollbacksAsLatest);
        for (Checkpoint.Commit commit : all) {
            if (commit.snapshotId == latest() && !removed) {
                continue;
            }
            if (commit.snapshotId > snapshotId && !commit.rolledBack) {
                commit.rolledBack = true;
                commit.rolledBackBy = removed ? 0 : latest();
            } else if (removed && commit.rolledBackBy > snapshotId) {
                // The snapshot that took it back was itself removed.
                commit.rolledBack = commit.snapshotId > snapshotId;
                commit.rolledBackBy = 0;
            }
        }
        for (JobHistory history : histories) {
            Checkpoint.Commit newestOwn = newestCommit(history);
            if (newestOwn != null || history.newestOwn != null && history.newestOwn.rolledBack) {
                history.newestOwn = newestOwn;
                history.lastIdentifier = -1;
            }
            for (Checkpoint checkpoint : history.checkpoints.values()) {
                if (checkpoint.commit() != null && checkpoint.commit().rolledBack) {
                    checkpoint.excuse = "the table was rolled back";
                    if (removed) {
                        checkpoint.committedAs(null);
                    }
                }
            }
        }
        if (removed) {
            contents.tailMap(snapshotId, false).clear();
            bySnapshot.keySet().removeIf(id -> id > snapshotId);
            BitSet left = (BitSet) tagged.clone();
            left.clear((int) snapshotId + 1, Math.max(left.length(), (int) snapshotId + 1));
            tagged = left;
            deletedByOwner.clear(
                    (int) snapshotId + 1, Math.max(deletedByOwner.length(), (int) snapshotId + 1));
            tags.values().removeIf(tag -> tag.snapshotId > snapshotId);
            withoutTag.removeIf(checkpoint -> checkpoint.commit() == null);
        }
        look();
    }

    private static Checkpoint.Commit newestCommit(JobHistory history) {
        Checkpoint.Commit newest = null;
        for (Checkpoint checkpoint : history.checkpoints.values()) {
            Checkpoint.Commit commit = checkpoint.commit();
            if (commit != null
                    && !commit.rolledBack
                    && (newest == null || newest.number < commit.number)) {
                newest = commit;
            }
        }
        return newest;
    }

    /** The owner of the table has deleted a tag: it must not come back. */
    void tagDeletedByOwner(SimulatedTable.TagView tag) {
        deletedByOwner.set((int) tag.snapshotId);
        Committed committed = bySnapshot.get(tag.snapshotId);
        if (committed != null) {
            withoutTag.add(committed.checkpoint);
        }
        look();
    }

    // ------------------------------------------------------------------------
    //  After each step
    // ------------------------------------------------------------------------

    void look() {
        lookAtTheNewest(null);
        for (WatchedTagger tagger : taggers) {
            if (tagger.hasGivenUp()) {
                checkGone(tagger.user);
            }
        }
    }

    /** A job has committed right now. */
    void committed(SimulatedJob job) {
        lookAtTheNewest(job);
        look();
    }

    /** T10: only what is neither there nor tagged, or should not be, may be called gone. */
    private void checkGone(String user) {
        List<Checkpoint> all = new ArrayList<>();
        for (JobHistory history : histories) {
            if (!history.user.equals(user)) {
                continue;
            }
            for (Checkpoint checkpoint : history.checkpoints.values()) {
                boolean needsNone =
                        checkpoint.abortForgotten
                                || checkpoint.broken
                                || checkpoint.excused()
                                || checkpoint.ownFiles == 0
                                || history.superseded;
                boolean gone =
                        checkpoint.commit() != null && !exists(checkpoint.commit().snapshotId);
                if (checkpoint.type.savepoint()
                        && (needsNone || gone)
                        && (tagOf(checkpoint) == null || checkpoint.committedTwice())) {
                    return;
                }
                all.add(checkpoint);
            }
        }
        throw new Violation(
                "T10: a savepoint of "
                        + user
                        + " was said to have lost its snapshot, but all are there or tagged: "
                        + all);
    }

    private void lookAtTheNewest(SimulatedJob committer) {
        try {
            List<SimulatedTable.SnapshotView> snapshots = table.newSnapshots();
            if (table.tagsChanged()) {
                // Snapshots that came with the tags are seen first.
                lookAtTags(snapshots, committer);
            } else {
                for (SimulatedTable.SnapshotView snapshot : snapshots) {
                    lookAt(snapshot, committer);
                    checkTaggedBefore(snapshot, committer);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void lookAtTags(List<SimulatedTable.SnapshotView> snapshots, SimulatedJob committer)
            throws Exception {
        Map<String, SimulatedTable.TagView> before = tags;
        for (SimulatedTable.SnapshotView snapshot : snapshots) {
            lookAt(snapshot, committer);
        }
        tags = new HashMap<>();
        for (SimulatedTable.TagView tag : table.tags()) {
            tags.put(tag.name, tag);
            lookAt(tag, before.get(tag.name));
        }
        for (SimulatedTable.TagView tag : before.values()) {
            if (!tags.containsKey(tag.name)) {
                lookAtDeleted(tag);
            }
        }
        for (SimulatedTable.SnapshotView snapshot : snapshots) {
            checkTaggedBefore(snapshot, committer);
        }
    }

    private void lookAt(SimulatedTable.SnapshotView snapshot, SimulatedJob committer) {
        if (snapshot.target > 0) {
            contents.put(snapshot.id, contents.get(snapshot.target));
            return;
        }
        if (committer == null || !committer.history.user.equals(snapshot.user)) {
            contents.put(snapshot.id, contents.get(snapshot.id - 1));
            return;
        }
        simulation.effects().add(Effects.Effect.COMMIT);
        BitSet content = (BitSet) contents.get(snapshot.id - 1).clone();
        contents.put(snapshot.id, content);
        JobHistory history = committer.history;
        Checkpoint.Commit foreign = foreignCommit(committer, true);
        if (foreign != null) {
            throw new Violation(
                    String.format(
                            "A7: %s has committed %d, although there was %s.",
                            committer, snapshot.identifier, foreign));
        }
        // A snapshot without files may be made again when nothing tells of the first one any more.
        boolean unseen =
                foreignCommit(committer, false) != null || committer.hasMissedForeignCommit();
        if (unseen) {
            // What has expired between two looks can be seen by nobody.
            knownLimits++;
            history.lastIdentifier = -1;
            for (int file : snapshot.files) {
                history.uncertain.set(file);
            }
        }
        if (history.lastIdentifier >= snapshot.identifier && snapshot.files.length > 0) {
            throw new Violation(
                    String.format(
                            "Snapshot %d has identifier %d of %s, which had committed %d before.",
                            snapshot.id,
                            snapshot.identifier,
                            snapshot.user,
                            history.lastIdentifier));
        }
        BitSet added = new BitSet();
        for (int file : snapshot.files) {
            if (content.get(file) && !unseen) {
                throw new Violation(
                        String.format(
                                "File %d is committed again, in snapshot %d (identifier %d of %s).",
                                file, snapshot.id, snapshot.identifier, snapshot.user));
            }
            content.set(file);
            added.set(file);
        }
        for (int file : snapshot.files) {
            BitSet report = (BitSet) reports.get(reportOf[file]).clone();
            report.andNot(added);
            if (!report.isEmpty()) {
                throw new Violation(
                        String.format(
                                "Snapshot %d (identifier %d of %s) has file %d without %s of the"
                                        + " same report.",
                                snapshot.id, snapshot.identifier, snapshot.user, file, report));
            }
        }
        BitSet uncompleted = (BitSet) added.clone();
        uncompleted.andNot(history.committable);
        if (!uncompleted.isEmpty()) {
            throw new Violation(
                    String.format(
                            "Snapshot %d (identifier %d of %s) has the files %s, which no completed"
                                    + " checkpoint holds.",
                            snapshot.id, snapshot.identifier, snapshot.user, uncompleted));
        }
        Checkpoint checkpoint = history.checkpoint(snapshot.identifier);
        if (checkpoint == null) {
            throw new Violation(
                    "Nobody took a checkpoint " + snapshot.identifier + " of " + snapshot.user);
        }
        history.committed.or(added);
        checkHoldsAll(snapshot, history, checkpoint);
        Checkpoint.Commit commit =
                new Checkpoint.Commit(commits.size(), snapshot.id, snapshot.identifier, committer);
        commits.add(commit);
        bySnapshot.put(snapshot.id, new Committed(history, checkpoint));
        if (checkpoint.commit() != null && added.isEmpty()) {
            checkpoint.committedAgainWithoutFiles();
        }
        checkpoint.committedAs(commit);
        if (checkpoint.ownFiles == 0) {
            excuseWhoHasLookedBefore(committer, checkpoint);
        }
        excuseWhoCompletesItLater(checkpoint);
        history.newestOwn = commit;
        history.lastIdentifier = snapshot.identifier;
        committer.working = true;
        committer.lastCommitted = snapshot.identifier;
    }

    /**
     * Where snapshots above the anchor have expired, files decide, and this savepoint has none: a
     * clone that has looked at the table takes it for committed, and does not look for it again.
     */
    private void excuseWhoHasLookedBefore(SimulatedJob committer, Checkpoint committed) {
        for (SimulatedJob clone : simulation.jobs()) {
            Checkpoint copy = clone.history.checkpoint(committed.id);
            boolean looked = clone != committer && clone.firstLook >= 0;
            if (looked && copy != null && copy.is(committed)) {
                copy.excuse = "it holds nothing, and was committed after this clone had looked";
            }
        }
    }

    /**
     * L2, known limit: a clone has committed a savepoint that was pending in the other job, as one
     * that never completed. Its snapshot does not name it, so it gets no tag when it completes.
     */
    private void excuseWhoCompletesItLater(Checkpoint committed) {
        if (committed.status != Checkpoint.Status.LOST || committed.path == null) {
            return;
        }
        for (JobHistory each : histories) {
            Checkpoint other = each.checkpoint(committed.id);
            if (other != committed && committed.is(other)) {
                other.excuse = "a clone has committed it while it was pending";
                knownLimits++;
            }
        }
    }

    /** A3: who restores this checkpoint takes its snapshot for all of it. */
    private void checkHoldsAll(
            SimulatedTable.SnapshotView snapshot, JobHistory history, Checkpoint checkpoint) {
        BitSet content = contentOf(history, snapshot.id);
        BitSet differs = difference(history, checkpoint, snapshot.id);
        // Of one that was aborted early, a writer whose input had ended may not have heard yet.
        boolean incomplete =
                !checkpoint.taken() && checkpoint.status == Checkpoint.Status.COMPLETED;
        if (incomplete || checkpoint.taken() && !differs.isEmpty()) {
            throw new Violation(
                    String.format(
                            "A3: snapshot %d carries the identifier of %s, which holds %s; the"
                                    + " table holds %s of that job then.",
                            snapshot.id,
                            checkpoint,
                            checkpoint.taken() ? checkpoint.holds() : "an incomplete cut",
                            content));
        }
    }

    /** T3: what is due is there before anything later is committed. */
    private void checkTaggedBefore(SimulatedTable.SnapshotView snapshot, SimulatedJob committer) {
        if (committer == null || !committer.history.user.equals(snapshot.user)) {
            return;
        }
        for (Checkpoint earlier :
                committer.history.checkpoints.headMap(snapshot.identifier, false).values()) {
            if (demand(earlier) == Demand.MUST && tagOf(earlier) == null) {
                throw new Violation(
                        String.format(
                                "T3: identifier %d was committed before %s was tagged.",
                                snapshot.identifier, earlier));
            }
        }
    }

    private void lookAt(SimulatedTable.TagView tag, SimulatedTable.TagView before) {
        if (before != null) {
            if (before.snapshotId != tag.snapshotId
                    || before.identifier != tag.identifier
                    || !before.user.equals(tag.user)) {
                throw new Violation("T5: tag " + before + " became " + tag + ".");
            }
            return;
        }
        simulation.effects().add(Effects.Effect.TAG);
        Committed committed = bySnapshot.get(tag.snapshotId);
        if (committed == null || !committed.checkpoint.type.savepoint()) {
            throw new Violation("Tag " + tag + " is of no savepoint: " + committed + ".");
        }
        Checkpoint savepoint = committed.checkpoint;
        if (!simulation.config().autoTag) {
            throw new Violation("T7: tag " + tag + " was created with the option off.");
        }
        String plain = "savepoint-" + tag.identifier;
        if (!tag.name.equals(plain) && !tag.name.equals(plain + "-" + tag.snapshotId)) {
            throw new Violation("Tag " + tag + " has the wrong name.");
        }
        BitSet content = contentOf(committed.history, tag.snapshotId);
        BitSet differs = difference(committed.history, savepoint, tag.snapshotId);
        if (!savepoint.taken() || !differs.isEmpty()) {
            throw new Violation(
                    "Tag "
                            + tag
                            + " holds the files "
                            + content
                            + ", but "
                            + savepoint
                            + " holds "
                            + (savepoint.taken() ? savepoint.holds() : "an incomplete cut"));
        }
        if (savepoint.broken) {
            throw new Violation(
                    "A3: tag " + tag + ", although a writer was reset to before " + savepoint);
        }
        if (tagging != null) {
            checkNotDeletedByOwner(tag, savepoint);
        }
        BitSet more = (BitSet) tagged.clone();
        more.set((int) tag.snapshotId);
        tagged = more;
    }

    /** A4: whoever has tagged it, or restores a state of after that, does not tag it again. */
    private void checkNotDeletedByOwner(SimulatedTable.TagView tag, Checkpoint savepoint) {
        int snapshotId = (int) tag.snapshotId;
        Checkpoint restored = tagging.history.newest;
        boolean known =
                tagging.tagged.get(snapshotId)
                        || restored != null
                                && restored.taggedBefore.get(snapshotId)
                                && !restored.is(savepoint);
        if (deletedByOwner.get(snapshotId) && known) {
            throw new Violation("A4: tag " + tag + " came back, which its owner had deleted.");
        }
        tagging.tagged.set(snapshotId, !taggingFailed);
    }

    /** L2, known limit: a clone that starts meanwhile takes it for one that never completed. */
    private boolean isWithdrawnByAClone(Checkpoint savepoint) {
        boolean withdrawn =
                savepoint.status == Checkpoint.Status.PENDING && simulation.jobs().size() > 1;
        if (withdrawn) {
            savepoint.excuse = "a clone has withdrawn it";
            knownLimits++;
        }
        return withdrawn;
    }

    private void lookAtDeleted(SimulatedTable.TagView tag) {
        simulation.effects().add(Effects.Effect.DELETED_TAG);
        Checkpoint savepoint = bySnapshot.get(tag.snapshotId).checkpoint;
        boolean mayGo =
                savepoint.status == Checkpoint.Status.ABORTED
                        || savepoint.status == Checkpoint.Status.LOST
                        || deletedByOwner.get((int) tag.snapshotId)
                        || isWithdrawnByAClone(savepoint);
        if (!mayGo) {
            throw new Violation("Tag " + tag + " was deleted, although it is of " + savepoint);
        }
    }

    // ------------------------------------------------------------------------
    //  At the end
    // ------------------------------------------------------------------------

    void checkEnd(JobHistory history) {
        look();
        Checkpoint newest = history.stopped != null ? history.stopped : history.newest;
        BitSet differs = difference(history, newest, latest());
        if (!differs.isEmpty()) {
            BitSet missing = newest == null ? new BitSet() : newest.holds();
            missing.and(differs);
            differs.andNot(missing);
            throw new Violation(
                    "The table does not hold what "
                            + newest
                            + " holds: missing "
                            + missing
                            + ", too many "
                            + differs);
        }
        for (JobHistory each : histories) {
            if (!each.superseded) {
                each.checkpoints.values().forEach(checkpoint -> checkTag(each, checkpoint));
            }
        }
    }

    private void checkTag(JobHistory history, Checkpoint checkpoint) {
        SimulatedTable.TagView tag = tagOf(checkpoint);
        Demand demand = demand(checkpoint);
        if (tag == null) {
            if (demand == Demand.MUST) {
                throw new Violation("There is no tag for " + checkpoint + ".");
            }
            return;
        }
        if (demand == Demand.MUST_NOT) {
            if (bySnapshot.get(tag.snapshotId).checkpoint != checkpoint) {
                // Broken for this job, but not for the one that has committed and tagged it.
                return;
            }
            SavepointOutcome outcome = simulation.savepoints().of(checkpoint.path);
            boolean lost = checkpoint.status == Checkpoint.Status.LOST;
            if (lost && outcome == SavepointOutcome.COMPLETE) {
                // Lost to this job, but the one that it was cloned from has completed it.
                return;
            }
            // L2: it looks like one that completed and was moved, or nobody came back to look.
            boolean moved = (lost || checkpoint.abortForgotten) && outcome == SavepointOutcome.GONE;
            if (moved || simulation.hasDiedWhileItEnded(history)) {
                knownLimits++;
                return;
            }
            throw new Violation("Tag " + tag + " exists, although it is of " + checkpoint + ".");
        }
    }

    /** Whether a tag has to exist at the end. */
    private enum Demand {
        MUST,
        MAY,
        MUST_NOT
    }

    private Demand demand(Checkpoint checkpoint) {
        if (!checkpoint.type.savepoint() || !simulation.config().autoTag) {
            return Demand.MUST_NOT;
        }
        if (checkpoint.excused()) {
            return Demand.MAY;
        }
        switch (checkpoint.status) {
            case ABORTED:
            case LOST:
                // A1, L2
                return Demand.MUST_NOT;
            case COMPLETED:
                break;
            default:
                return Demand.MAY;
        }
        if (checkpoint.broken) {
            return Demand.MUST_NOT;
        }
        if (checkpoint.commit() == null
                || deletedByOwner.get((int) checkpoint.commit().snapshotId)
                || withoutTag.stream().anyMatch(checkpoint::is)) {
            // T8, or never committed: a job that went back to before it knows nothing of it.
            return Demand.MAY;
        }
        return Demand.MUST;
    }

    // ------------------------------------------------------------------------

    private SimulatedTable.TagView tagOf(Checkpoint savepoint) {
        if (savepoint.commit() == null) {
            return null;
        }
        long snapshotId = savepoint.commit().snapshotId;
        String plain = "savepoint-" + savepoint.id;
        for (String name : new String[] {plain, plain + "-" + snapshotId}) {
            SimulatedTable.TagView tag = tags.get(name);
            if (tag != null && (tag.snapshotId == snapshotId || isOwned(tag, savepoint))) {
                return tag;
            }
        }
        return null;
    }

    /** T4: a tag on an earlier snapshot of this very savepoint stays. */
    private boolean isOwned(SimulatedTable.TagView tag, Checkpoint savepoint) {
        Committed committed = bySnapshot.get(tag.snapshotId);
        return committed != null && committed.checkpoint.is(savepoint);
    }

    private long latest() {
        return contents.lastKey();
    }

    /** The files of one job in a snapshot. */
    private BitSet contentOf(JobHistory history, long snapshotId) {
        BitSet content = (BitSet) contents.get(snapshotId).clone();
        content.and(history.lineage);
        return content;
    }

    /**
     * The files by which a snapshot differs from what a checkpoint holds: what it lacks, and what
     * that job has committed besides. What others have committed is theirs.
     */
    private BitSet difference(JobHistory history, Checkpoint checkpoint, long snapshotId) {
        BitSet expected = checkpoint == null ? new BitSet() : checkpoint.holds();
        BitSet difference = (BitSet) contents.get(snapshotId).clone();
        difference.and(history.committed);
        difference.andNot(expected);
        expected.andNot(contents.get(snapshotId));
        difference.or(expected);
        difference.andNot(uncertain(history));
        return difference;
    }

    /**
     * Files that may be in the table or not. A file that a rollback has taken from the table looks
     * like one that was compacted, once the snapshots are gone that would tell.
     */
    private BitSet uncertain(JobHistory history) {
        BitSet uncertain = (BitSet) history.mayLack.clone();
        Checkpoint from = history.startedFrom;
        uncertain.and(rolledAway);
        if (!uncertain.isEmpty()
                && rollbacksAsLatest.stream().allMatch(rollback -> exists(rollback.snapshotId))) {
            uncertain.and(table.deletedFiles());
        }
        if (from != null && from.lost() != null && !exists(from.lost().snapshotId)) {
            // Nothing tells that this snapshot was rolled back before it expired.
            BitSet lost = from.holds();
            lost.and(rolledAway);
            uncertain.or(lost);
        }
        uncertain.or(history.uncertain);
        return uncertain;
    }

    /** All rows in the table. */
    BitSet content() {
        look();
        return contents.get(latest());
    }

    boolean exists(long snapshotId) {
        try {
            return table.snapshotExists(snapshotId);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    long newestIdentifier(String user) {
        long newest = -1;
        for (Checkpoint.Commit commit : commits) {
            if (isOfUser(commit, user)) {
                newest = Math.max(newest, commit.identifier);
            }
        }
        return newest;
    }

    long latestSnapshot() {
        return latest();
    }

    Set<String> tagNames() {
        return new TreeSet<>(tags.keySet());
    }

    /** All tags, the newest first. */
    List<SimulatedTable.TagView> tags() {
        List<SimulatedTable.TagView> all = new ArrayList<>(tags.values());
        all.sort(Comparator.comparingLong(tag -> -tag.snapshotId));
        return all;
    }

    /** The savepoint of a tag. */
    Checkpoint savepointOf(SimulatedTable.TagView tag) {
        return bySnapshot.get(tag.snapshotId).checkpoint;
    }

    JobHistory historyOf(SimulatedTable.TagView tag) {
        return bySnapshot.get(tag.snapshotId).history;
    }

    /** All histories of a user, the newest first. */
    List<JobHistory> histories(String user) {
        List<JobHistory> ofUser = new ArrayList<>();
        for (int i = histories.size() - 1; i >= 0; i--) {
            if (histories.get(i).user.equals(user)) {
                ofUser.add(histories.get(i));
            }
        }
        return ofUser;
    }

    /** Whose snapshot it is. */
    private static final class Committed {

        private final JobHistory history;
        private final Checkpoint checkpoint;

        private Committed(JobHistory history, Checkpoint checkpoint) {
            this.history = history;
            this.checkpoint = checkpoint;
        }

        @Override
        public String toString() {
            return checkpoint.toString();
        }
    }

    /** What a tagger counts of the savepoints that it gives up. */
    private static final class WatchedTagger {

        private final String user;
        private final SavepointTagStatistics statistics;
        private long gone;

        private WatchedTagger(String user, SavepointTagStatistics statistics) {
            this.user = user;
            this.statistics = statistics;
        }

        /** Whether it has given one up since the last call. */
        private boolean hasGivenUp() {
            long before = gone;
            gone = statistics.snapshotsGone();
            return gone > before;
        }
    }
}
