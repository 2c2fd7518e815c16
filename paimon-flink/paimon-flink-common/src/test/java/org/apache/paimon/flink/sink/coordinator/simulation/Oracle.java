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

import org.apache.paimon.tag.SavepointTagStatistics;

import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
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
 * for the second time, none that no completed checkpoint holds; identifiers rise per user; a tag
 * holds what its savepoint holds; no tag of somebody else is touched; a savepoint is tagged before
 * anything later is committed (T3); nobody commits beside a living predecessor, nor after it was
 * told to stop (A7).
 *
 * <p><b>At the end</b> ({@link #settled}): the table holds each file of the newest checkpoint once,
 * and the tags are those that the promise demands.
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

    /** Newest identifier per commit user. */
    private final Map<String, Long> newestIdentifier = new HashMap<>();

    /** Newest snapshot per commit user. */
    private final Map<String, Long> newestSnapshot = new HashMap<>();

    /** What may be committed per commit user: all that its newest completed checkpoint holds. */
    private final Map<String, BitSet> committable = new HashMap<>();

    /** All that was written per commit user. */
    private final Map<String, NavigableMap<Long, Checkpoint>> checkpoints = new HashMap<>();

    private Map<String, SimulatedTable.TagView> tags = new HashMap<>();

    private final List<WatchedTagger> taggers = new ArrayList<>();

    /** Savepoints whose tag stayed although they were aborted: what is known and documented. */
    private int knownLimits;

    Oracle(Simulation simulation, SimulatedTable table) {
        this.simulation = simulation;
        this.table = table;
        contents.put(0L, new BitSet());
    }

    int knownLimits() {
        return knownLimits;
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

    void triggered(JobHistory history, Checkpoint checkpoint) {
        checkpoints
                .computeIfAbsent(history.user, user -> new TreeMap<>())
                .put(checkpoint.id, checkpoint);
    }

    void completed(JobHistory history, Checkpoint checkpoint) {
        committable.put(history.user, checkpoint.holds());
    }

    /** The coordinator says that all is committed up to this checkpoint. */
    void answered(SimulatedJob job, long checkpointId) {
        look();
        Checkpoint checkpoint = job.history.checkpoint(checkpointId);
        BitSet expected = checkpoint.holds();
        BitSet missing = (BitSet) expected.clone();
        missing.andNot(contentOf(job.history.user, latest()));
        if (!missing.isEmpty()) {
            throw new Violation(
                    "T2, E3: the coordinator said that "
                            + checkpoint
                            + " is committed. The table holds "
                            + contentOf(job.history.user, latest())
                            + ", it should hold "
                            + expected);
        }
        if (demand(checkpoint) == Demand.MUST && tagOf(job.history.user, checkpoint.id) == null) {
            throw new Violation(
                    "T2: the coordinator said that " + checkpoint + " is committed: no tag.");
        }
    }

    /** The coordinator has failed the job: in legal mode there must be a reason. */
    void failed(SimulatedJob job, Throwable cause) {
        if (simulation.config().mode == Mode.HOSTILE) {
            return;
        }
        // The base swallows a failure to delete a tag, and only its consequence is seen.
        if (!simulation.faults().takeTagFailed() && !simulated(cause)) {
            throw new Violation("The coordinator failed the job for no reason: " + cause, cause);
        }
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
    void memoryLost(JobHistory history, Checkpoint restored) {
        for (Checkpoint checkpoint : all(history.user).values()) {
            if (checkpoint.status == Checkpoint.Status.ABORTED
                    && (tagOf(history.user, checkpoint.id) != null
                            || restored != null && restored.flags(checkpoint.id))) {
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
        for (Checkpoint checkpoint : all(history.user).values()) {
            if (checkpoint.status == Checkpoint.Status.ABORTED
                    && tagOf(history.user, checkpoint.id) != null) {
                checkpoint.abortForgotten = true;
            }
        }
        for (Checkpoint checkpoint : all(history.user).tailMap(restoredId, false).values()) {
            if (checkpoint.excuse == null
                    && (checkpoint.status == Checkpoint.Status.LOST
                            || tagOf(history.user, checkpoint.id) == null)) {
                checkpoint.excuse = "its job was canceled";
            }
        }
    }

    /** A job starts from a savepoint, as its user. */
    void restored(JobHistory history) {
        if (history.newest != null) {
            committable.put(history.user, history.newest.holds());
            history.newest.excuse = null;
        }
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
        for (Checkpoint checkpoint : all(history.user).headMap(history.newest.id, true).values()) {
            if (checkpoint.ownFiles == 0 && checkpoint.excuse == null) {
                checkpoint.excuse = "its writers have finished, and had nothing to say";
            }
        }
    }

    /** A replay was lost as a whole: what is restored then looks as if all writers had finished. */
    void replayLost(JobHistory history) {
        for (Checkpoint checkpoint : all(history.user).values()) {
            if (tagOf(history.user, checkpoint.id) == null && checkpoint.excuse == null) {
                checkpoint.excuse = "its replay was lost as a whole";
            }
        }
    }

    /** Snapshots were expired: a savepoint that had no tag yet never gets one (T10). */
    void expired() {
        look();
        for (Map.Entry<String, NavigableMap<Long, Checkpoint>> entry : checkpoints.entrySet()) {
            for (Checkpoint checkpoint : entry.getValue().values()) {
                if (checkpoint.snapshotId > 0
                        && checkpoint.excuse == null
                        && tagOf(entry.getKey(), checkpoint.id) == null
                        && !exists(checkpoint.snapshotId)) {
                    checkpoint.excuse = "its snapshot has expired";
                }
            }
        }
    }

    /** The job goes on from before it. */
    void forget(String user, Checkpoint checkpoint) {
        all(user).remove(checkpoint.id, checkpoint);
    }

    void rolledBack(SimulatedTable.TagView tag) {
        contents.tailMap(tag.snapshotId, false).clear();
        newestIdentifier.clear();
        newestSnapshot.clear();
        newestIdentifier.put(tag.user, tag.identifier);
        newestSnapshot.put(tag.user, tag.snapshotId);
        for (NavigableMap<Long, Checkpoint> ofUser : checkpoints.values()) {
            for (Checkpoint checkpoint : ofUser.values()) {
                if (checkpoint.snapshotId > tag.snapshotId) {
                    checkpoint.excuse = "the table was rolled back";
                }
            }
        }
        checkpoints.get(tag.user).tailMap(tag.identifier, false).clear();
        tags = new HashMap<>();
        look();
    }

    // ------------------------------------------------------------------------
    //  After each step
    // ------------------------------------------------------------------------

    void look() {
        lookAtTheNewest();
        for (WatchedTagger tagger : taggers) {
            if (tagger.hasGivenUp()) {
                checkGone(tagger.user);
            }
        }
    }

    /**
     * T10: what is there and waits for its tag must not be called gone. What was tagged before a
     * restore may be: when its snapshot is not found, the tag cannot be known as its own.
     */
    private void checkGone(String user) {
        for (Checkpoint checkpoint : all(user).values()) {
            boolean needsNone =
                    checkpoint.abortForgotten || checkpoint.broken || checkpoint.excuse != null;
            boolean gone = checkpoint.snapshotId > 0 && !exists(checkpoint.snapshotId);
            boolean tagged = tagOf(user, checkpoint.id) != null;
            if (checkpoint.type.savepoint() && (needsNone || gone || tagged)) {
                return;
            }
        }
        throw new Violation(
                "T10: a savepoint of "
                        + user
                        + " was said to have lost its snapshot, but all are there and untagged: "
                        + all(user).values());
    }

    private void lookAtTheNewest() {
        try {
            List<SimulatedTable.SnapshotView> snapshots = table.newSnapshots();
            if (table.tagsChanged()) {
                // Snapshots that came with the tags are seen first.
                lookAtTags(snapshots);
            } else {
                for (SimulatedTable.SnapshotView snapshot : snapshots) {
                    lookAt(snapshot, true);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void lookAtTags(List<SimulatedTable.SnapshotView> snapshots) throws Exception {
        Map<String, SimulatedTable.TagView> before = tags;
        for (SimulatedTable.SnapshotView snapshot : snapshots) {
            lookAt(snapshot, false);
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
            checkTaggedBefore(snapshot);
        }
    }

    private void lookAt(SimulatedTable.SnapshotView snapshot, boolean tagsAreKnown) {
        BitSet content = (BitSet) contents.get(snapshot.id - 1).clone();
        contents.put(snapshot.id, content);
        NavigableMap<Long, Checkpoint> ofUser = checkpoints.get(snapshot.user);
        if (ofUser == null) {
            return;
        }
        Long newest = newestIdentifier.get(snapshot.user);
        if (newest != null && newest >= snapshot.identifier) {
            throw new Violation(
                    String.format(
                            "Snapshot %d has identifier %d of %s, which had committed %d before.",
                            snapshot.id, snapshot.identifier, snapshot.user, newest));
        }
        BitSet added = new BitSet();
        for (int file : snapshot.files) {
            if (content.get(file)) {
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
        uncompleted.andNot(committable.getOrDefault(snapshot.user, new BitSet()));
        if (!uncompleted.isEmpty()) {
            throw new Violation(
                    String.format(
                            "Snapshot %d (identifier %d of %s) has the files %s, which no completed"
                                    + " checkpoint holds.",
                            snapshot.id, snapshot.identifier, snapshot.user, uncompleted));
        }
        newestIdentifier.put(snapshot.user, snapshot.identifier);
        newestSnapshot.put(snapshot.user, snapshot.id);
        Checkpoint checkpoint = ofUser.get(snapshot.identifier);
        if (checkpoint == null) {
            throw new Violation(
                    "Nobody took a checkpoint " + snapshot.identifier + " of " + snapshot.user);
        }
        checkpoint.snapshotId = snapshot.id;
        if (tagsAreKnown) {
            checkTaggedBefore(snapshot);
        }
    }

    /** T3: what is due is there before anything later is committed. */
    private void checkTaggedBefore(SimulatedTable.SnapshotView snapshot) {
        NavigableMap<Long, Checkpoint> ofUser = checkpoints.get(snapshot.user);
        if (ofUser == null) {
            return;
        }
        for (Checkpoint earlier : ofUser.headMap(snapshot.identifier, false).values()) {
            if (demand(earlier) == Demand.MUST && tagOf(snapshot.user, earlier.id) == null) {
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
        Checkpoint savepoint = all(tag.user).get(tag.identifier);
        if (savepoint == null || !savepoint.type.savepoint()) {
            throw new Violation("Tag " + tag + " is of no savepoint: " + savepoint + ".");
        }
        if (!simulation.config().autoTag) {
            throw new Violation("T7: tag " + tag + " was created with the option off.");
        }
        String plain = "savepoint-" + tag.identifier;
        if (!tag.name.equals(plain) && !tag.name.equals(plain + "-" + tag.snapshotId)) {
            throw new Violation("Tag " + tag + " has the wrong name.");
        }
        BitSet content = contentOf(tag.user, tag.snapshotId);
        if (!savepoint.taken() || !content.equals(savepoint.holds())) {
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
    }

    private void lookAtDeleted(SimulatedTable.TagView tag) {
        Checkpoint savepoint = all(tag.user).get(tag.identifier);
        boolean mayGo =
                savepoint != null
                        && (savepoint.status == Checkpoint.Status.ABORTED
                                || savepoint.status == Checkpoint.Status.LOST);
        if (!mayGo) {
            throw new Violation("Tag " + tag + " was deleted, although it is of " + savepoint);
        }
    }

    // ------------------------------------------------------------------------
    //  At the end
    // ------------------------------------------------------------------------

    void settled(JobHistory history) {
        look();
        Checkpoint newest = history.stopped != null ? history.stopped : history.newest;
        BitSet expected = newest == null ? new BitSet() : newest.holds();
        BitSet content = contentOf(history.user, latest());
        if (!content.equals(expected)) {
            BitSet missing = (BitSet) expected.clone();
            missing.andNot(content);
            BitSet tooMany = (BitSet) content.clone();
            tooMany.andNot(expected);
            throw new Violation(
                    "The table does not hold what "
                            + newest
                            + " holds: missing "
                            + missing
                            + ", too many "
                            + tooMany);
        }
        for (Map.Entry<String, NavigableMap<Long, Checkpoint>> entry : checkpoints.entrySet()) {
            for (Checkpoint checkpoint : entry.getValue().values()) {
                checkTag(entry.getKey(), checkpoint);
            }
        }
    }

    private void checkTag(String user, Checkpoint checkpoint) {
        SimulatedTable.TagView tag = tagOf(user, checkpoint.id);
        Demand demand = demand(checkpoint);
        if (tag == null) {
            if (demand == Demand.MUST) {
                throw new Violation("There is no tag for " + checkpoint + " of " + user + ".");
            }
            return;
        }
        if (demand == Demand.MUST_NOT) {
            if (checkpoint.abortForgotten) {
                knownLimits++;
                return;
            }
            throw new Violation("Tag " + tag + " exists, although it is of " + checkpoint + ".");
        }
    }

    /** Whether a tag has to exist when all has settled. */
    private enum Demand {
        MUST,
        MAY,
        MUST_NOT
    }

    private Demand demand(Checkpoint checkpoint) {
        if (!checkpoint.type.savepoint() || !simulation.config().autoTag) {
            return Demand.MUST_NOT;
        }
        if (checkpoint.excuse != null) {
            return Demand.MAY;
        }
        switch (checkpoint.status) {
            case ABORTED:
                return Demand.MUST_NOT;
            case COMPLETED:
                break;
            default:
                return Demand.MAY;
        }
        if (checkpoint.broken) {
            return Demand.MUST_NOT;
        }
        if (checkpoint.snapshotId == 0) {
            // T8, or never committed: a job that went back to before it knows nothing of it.
            return Demand.MAY;
        }
        return Demand.MUST;
    }

    // ------------------------------------------------------------------------

    private NavigableMap<Long, Checkpoint> all(String user) {
        return checkpoints.getOrDefault(user, Collections.emptyNavigableMap());
    }

    private SimulatedTable.TagView tagOf(String user, long savepointId) {
        String plain = "savepoint-" + savepointId;
        SimulatedTable.TagView tag = tags.get(plain);
        if (tag != null && tag.user.equals(user) && tag.identifier == savepointId) {
            return tag;
        }
        for (SimulatedTable.TagView other : tags.values()) {
            if (other.user.equals(user)
                    && other.identifier == savepointId
                    && other.name.equals(plain + "-" + other.snapshotId)) {
                return other;
            }
        }
        return null;
    }

    private long latest() {
        return contents.lastKey();
    }

    /** The files of one user in a snapshot. */
    private BitSet contentOf(String user, long snapshotId) {
        BitSet content = (BitSet) contents.get(snapshotId).clone();
        BitSet own = new BitSet();
        for (Checkpoint checkpoint : all(user).values()) {
            own.or(checkpoint.base);
            own.or(checkpoint.finishedFiles);
            for (BitSet before : checkpoint.before) {
                if (before != null) {
                    own.or(before);
                }
            }
        }
        content.and(own);
        return content;
    }

    private boolean exists(long snapshotId) {
        try {
            return table.snapshotExists(snapshotId);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    long newestSnapshot(String user) {
        return newestSnapshot.getOrDefault(user, 0L);
    }

    long newestIdentifier(String user) {
        return newestIdentifier.getOrDefault(user, -1L);
    }

    long latestSnapshot() {
        return latest();
    }

    Set<String> tagNames() {
        return new TreeSet<>(tags.keySet());
    }

    List<SimulatedTable.TagView> ownedTags(String user) {
        List<SimulatedTable.TagView> owned = new ArrayList<>();
        for (Checkpoint checkpoint : all(user).descendingMap().values()) {
            SimulatedTable.TagView tag = tagOf(user, checkpoint.id);
            if (tag != null) {
                owned.add(tag);
            }
        }
        return owned;
    }

    Checkpoint checkpointOf(String user, long id) {
        return all(user).get(id);
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
