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

package org.apache.paimon.tag;

import org.apache.paimon.Snapshot;
import org.apache.paimon.table.sink.CommitMessage;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A4: which of the commits that a restored checkpoint replays are in the table already.
 *
 * <p><b>Rules</b>, in this order:
 *
 * <ol>
 *   <li>Snapshots above the checkpoint's anchor, of its commit user and run: everything up to their
 *       highest identifier is committed. Other runs are other courses of the job.
 *   <li>Behind a {@code rollback_to_as_latest}, what was committed before it counts only when one
 *       of its files belongs to that snapshot.
 *   <li>Where snapshots directly above the anchor have expired: savepoint tags count as snapshots
 *       do; then a commit is in the table when one of its files is in the oldest snapshot or in a
 *       tag, or does not exist any more.
 *   <li>A checkpoint without {@link CommitProgress}: the base's rule, with savepoint tags.
 * </ol>
 *
 * <p>Where the table does not show it, {@link UndecidedCommitException}. Threads: the committer's.
 */
public final class RestoredCommits {

    private static final Logger LOG = LoggerFactory.getLogger(RestoredCommits.class);

    private static final long NONE = Long.MIN_VALUE;

    private final CommitUserSnapshots snapshots;
    private final SavepointTags tags;
    private final CommittedFiles files;

    /** Null for a checkpoint of a build that writes none, and for a job without a checkpoint. */
    @Nullable private CommitProgress progress;

    /** The run of the checkpoint; null when it names none. */
    @Nullable private final String runId;

    private final Map<Long, Snapshot> byIdentifier = new HashMap<>();

    /** Highest identifier that is known to be committed and in the table. */
    private long committedUpTo = NONE;

    /** Whether snapshots directly above the anchor have expired. */
    private boolean expired;

    /** Each {@code rollback_to_as_latest} above the anchor. */
    private final ObservedRollbacks rollbacks;

    /** The newest snapshot of the commit user, of whatever run; null when there is none. */
    @Nullable private Snapshot newestOfUser;

    /** Where the look above began. */
    private long anchorId;

    /** Above this snapshot tags show what was committed since the checkpoint. */
    private long tagsAbove;

    private boolean read;

    /** What the checkpoint has said to be committed and tagged, when nothing else of it counts. */
    private long decidedUpTo = NONE;

    public RestoredCommits(
            CommitUserSnapshots snapshots,
            SavepointTags tags,
            TableFiles files,
            @Nullable CommitProgress progress) {
        this.snapshots = snapshots;
        this.tags = tags;
        this.files = new CommittedFiles(snapshots, tags, files);
        this.progress = progress;
        this.runId = progress == null ? null : progress.runId();
        this.rollbacks = new ObservedRollbacks(files, snapshots.commitUser());
    }

    /** Reads the table, at the first question or now. */
    public void read() {
        if (read) {
            return;
        }
        read = true;
        if (progress == null) {
            readWithoutProgress();
            return;
        }
        anchorId = anchorId(progress);
        // An anchor that has expired does not show whether the table was rolled back behind it.
        boolean anchorExpired =
                anchorId >= Snapshot.FIRST_SNAPSHOT_ID && !snapshots.read(anchorId).isPresent();
        expired = snapshots.forEachAfter(anchorId, this::observe) || anchorExpired;
        tagsAbove = anchorExpired ? 0 : anchorId;
        if (expired) {
            for (Tag tag : tags.savepointTags()) {
                if (tag.id() > tagsAbove && rollbacks.allBefore(tag)) {
                    observe(tag.trimToSnapshot());
                }
            }
        }
    }

    /** Goes by the base's rule from now on, as if the checkpoint knew nothing (R2). */
    public void ignoreProgress() {
        if (progress != null) {
            decidedUpTo = progress.committedUpTo();
        }
        progress = null;
        forget();
    }

    /** A4: whether a savepoint had been tagged, or not, before the restored checkpoint. */
    public boolean decided(long savepointId) {
        return savepointId <= decidedUpTo;
    }

    /** In whose name to commit what is not committed; empty when the checkpoint names nobody. */
    public Optional<String> runId() {
        return Optional.ofNullable(runId);
    }

    /** What the checkpoint knows of the commits before it; empty when it says nothing of them. */
    public Optional<CommitProgress> progress() {
        return Optional.ofNullable(progress);
    }

    /**
     * The newest snapshot of this course above the anchor, up to an identifier: what comes later
     * than the checkpoint belongs to another course. Empty when there is none.
     */
    public Optional<Snapshot> newest(long upToIdentifier) {
        read();
        Snapshot newest = null;
        for (Snapshot snapshot : byIdentifier.values()) {
            if (snapshot.commitIdentifier() <= Math.min(upToIdentifier, committedUpTo)
                    && rollbacks.allBefore(snapshot)
                    && (newest == null || newest.id() < snapshot.id())) {
                newest = snapshot;
            }
        }
        // R2: what a rollback has kept is lost when the table goes back behind that.
        return newest == null ? rollbacks.last() : Optional.of(newest);
    }

    /**
     * A7: a commit of this commit user that the checkpoint does not know; empty if there is none.
     */
    public Optional<Snapshot> laterThan(long checkpointId) {
        read();
        return Optional.ofNullable(newestOfUser)
                .filter(
                        newest ->
                                newest.commitIdentifier() > checkpointId
                                        || !isOfThisCourse(newest));
    }

    /** Everything up to here was committed and tagged before the restored checkpoint; or -1. */
    public long committedBefore() {
        return Math.max(-1, progress == null ? decidedUpTo : progress.committedUpTo());
    }

    /** L2: the snapshots that this course has committed for savepoints since the checkpoint. */
    public List<Snapshot> savepoints() {
        List<Snapshot> savepoints = new ArrayList<>();
        if (progress == null) {
            // A fresh job has no reason to read the table.
            return savepoints;
        }
        read();
        for (Snapshot snapshot : byIdentifier.values()) {
            if (CommitProperties.savepointPath(snapshot) != null) {
                savepoints.add(snapshot);
            }
        }
        return savepoints;
    }

    /**
     * Identifier of the newest snapshot of the commit user, of whatever run, with which the base
     * compares. Reads that snapshot once more, since it may have expired meanwhile.
     *
     * @return empty when it is not above the anchor, or not in the table any more
     */
    public OptionalLong newestIdentifier() {
        read();
        return newestOfUser != null && snapshots.isThere(SnapshotPosition.of(newestOfUser))
                ? OptionalLong.of(newestOfUser.commitIdentifier())
                : OptionalLong.empty();
    }

    /** Takes a snapshot into account that has appeared since. */
    public void observe(Snapshot snapshot) {
        if (CommitUserSnapshots.isRollbackToAsLatest(snapshot)) {
            rollbacks.observe(snapshot, committedUpTo);
            committedUpTo = NONE;
            newestOfUser = null;
            return;
        }
        if (snapshots.isOwn(snapshot)) {
            newestOfUser = newer(newestOfUser, snapshot);
        }
        if (isOfThisCourse(snapshot)) {
            committedUpTo = Math.max(committedUpTo, snapshot.commitIdentifier());
            // Behind a rollback an identifier is committed again, and the tag of the first stays.
            byIdentifier.merge(snapshot.commitIdentifier(), snapshot, RestoredCommits::newer);
        }
    }

    private static Snapshot newer(@Nullable Snapshot one, Snapshot other) {
        return one != null && one.id() > other.id() ? one : other;
    }

    /** Reads the table again: it was rolled back meanwhile. */
    public void readAgain() {
        forget();
        read();
    }

    private void forget() {
        rollbacks.forget();
        expired = false;
        committedUpTo = NONE;
        newestOfUser = null;
        byIdentifier.clear();
        read = false;
    }

    /** Takes into account that snapshots have expired which nobody here has seen. */
    public void missed() {
        expired |= progress != null;
    }

    private boolean isOfThisCourse(Snapshot snapshot) {
        return snapshots.isOwn(snapshot)
                && (progress == null || runId.equals(CommitProperties.runId(snapshot)));
    }

    private long anchorId(CommitProgress known) {
        SnapshotPosition anchor = known.anchor();
        if (anchor.id() <= snapshots.head().id() && !snapshots.isReplaced(anchor)) {
            return anchor.id();
        }
        long replacement =
                known.newestOwn() != null
                        ? known.newestOwn().position().id()
                        : snapshots.oldest().map(Snapshot::id).orElse(anchor.id() + 1) - 1;
        LOG.warn(
                "The table was rolled back behind {}, its newest snapshot when checkpoint {} was"
                        + " taken. Looking for what is committed above snapshot {}.",
                anchor,
                known.checkpointId(),
                replacement);
        return replacement;
    }

    private void readWithoutProgress() {
        Optional<Snapshot> newest = snapshots.newestOwnOfAll();
        for (Tag tag : tags.savepointTags()) {
            if (!snapshots.isOwn(tag)) {
                continue;
            }
            byIdentifier.put(tag.commitIdentifier(), tag.trimToSnapshot());
            if (!newest.isPresent() || newest.get().id() < tag.id()) {
                newest = Optional.of(tag.trimToSnapshot());
            }
        }
        newest.ifPresent(this::observe);
        // R2: behind a rollback, what would tell may have expired. The base's rule holds as long as
        // the table has any snapshot of this commit user.
        expired =
                decidedUpTo != NONE
                        && !newest.isPresent()
                        && snapshots
                                .oldest()
                                .filter(oldest -> oldest.id() > Snapshot.FIRST_SNAPSHOT_ID)
                                .isPresent();
        tagsAbove = 0;
    }

    // ------------------------------------------------------------------------
    //  Answers
    // ------------------------------------------------------------------------

    /** Whether a commit is in the table, as far as snapshots show. */
    public boolean committed(long identifier) {
        read();
        return identifier <= committedUpTo;
    }

    /** Whether a snapshot of this course with the identifier is above the anchor. */
    public boolean hasSnapshot(long identifier) {
        read();
        return !rollbacks.any() && byIdentifier.containsKey(identifier);
    }

    /** Whether files have to decide what {@link #committed(long)} denies. */
    public boolean filesDecide() {
        read();
        return rollbacks.any() || expired;
    }

    /**
     * Whether a commit of these files is in the table.
     *
     * @throws UndecidedCommitException when that cannot be decided
     */
    public boolean committed(long identifier, Collection<CommitMessage> written)
            throws IOException {
        if (committed(identifier)) {
            return true;
        }
        if (!filesDecide()) {
            return false;
        }
        if (written.isEmpty()) {
            // It has nothing that could be there twice. But behind later commits its snapshot would
            // hold their files as well.
            return progress != null && identifier < progress.checkpointId();
        }
        return rollbacks.any()
                ? rollbacks.kept(identifier, written, expired)
                : files.areOrWereInTable(written, tagsAbove);
    }

    /**
     * R2: id of the newest snapshot that can have committed these files, where nothing but files
     * shows that it did.
     */
    public long newestPossible(long identifier, Collection<CommitMessage> written)
            throws IOException {
        read();
        return files.newestPossible(identifier, written, tagsAbove);
    }

    /** The snapshot of a commit that is in the table; empty when it has expired. */
    public Optional<Snapshot> snapshot(long identifier) {
        read();
        Snapshot known = byIdentifier.get(identifier);
        if (known != null) {
            return Optional.of(known);
        }
        if (progress == null) {
            return snapshots.find(identifier);
        }
        for (Tag tag : tags.savepointTags()) {
            if (tag.commitIdentifier() == identifier && isOfThisCourse(tag)) {
                return Optional.of(tag.trimToSnapshot());
            }
        }
        return Optional.empty();
    }

    /**
     * R2: why the newest own snapshot that the checkpoint knows is not part of the table's history
     * any more; empty when it is, or has merely expired.
     */
    public Optional<String> lostHistory() {
        read();
        OwnSnapshot known = progress == null ? null : progress.newestOwn();
        return known == null
                ? Optional.empty()
                : new HistoryCheck(snapshots, tags, rollbacks).lost(known);
    }
}
