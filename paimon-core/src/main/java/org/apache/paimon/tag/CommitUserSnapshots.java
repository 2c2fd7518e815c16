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
import org.apache.paimon.fs.Path;
import org.apache.paimon.utils.SnapshotManager;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.FileNotFoundException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The history of a table as one commit user sees it.
 *
 * <p><b>What it is for.</b> A committer looks, before each commit, at the snapshots that have
 * appeared since its last look (A7), finds the snapshot that it has just committed (T10), and reads
 * after a restore what lies above an anchor (A4).
 *
 * <p><b>Threads.</b> One, the committer's.
 *
 * <p><b>How it reads.</b> Snapshot ids are dense at the young end; expiration removes them from the
 * other one, and a rollback removes the youngest. Whatever is read comes from the file system,
 * never from a cache: the question is what other processes have done.
 */
public final class CommitUserSnapshots {

    /** Most snapshot files that {@link #find} reads. */
    public static final int MAX_READS = 1_024;

    /** The commit user of a {@code rollback_to_as_latest}, which does not name its target. */
    private static final String ROLLBACK_USER_PREFIX = "rollback-to-as-latest-";

    private static final Logger LOG = LoggerFactory.getLogger(CommitUserSnapshots.class);

    private final SnapshotManager snapshotManager;
    private final String commitUser;
    private final int maxReads;

    /** The newest snapshot at the last look. */
    private SnapshotPosition seen = SnapshotPosition.START;

    /** Whether the table was rolled back behind the place where the last look began. */
    private boolean rolledBack;

    /** Whether snapshots had expired before the last look could see them. */
    private boolean missed;

    /** The newest snapshot of this commit user that a look has found; null when none is known. */
    @Nullable private OwnSnapshot newestOwn;

    public CommitUserSnapshots(SnapshotManager snapshotManager, String commitUser) {
        this(snapshotManager, commitUser, MAX_READS);
    }

    CommitUserSnapshots(SnapshotManager snapshotManager, String commitUser, int maxReads) {
        this.snapshotManager = snapshotManager;
        this.commitUser = commitUser;
        this.maxReads = maxReads;
    }

    public String commitUser() {
        return commitUser;
    }

    public boolean isOwn(Snapshot snapshot) {
        return commitUser.equals(snapshot.commitUser());
    }

    static boolean isRollbackToAsLatest(Snapshot snapshot) {
        return snapshot.commitUser().startsWith(ROLLBACK_USER_PREFIX);
    }

    // ------------------------------------------------------------------------
    //  Looks
    // ------------------------------------------------------------------------

    /** The next look begins here; nothing is read. */
    public void lookFrom(SnapshotPosition position, @Nullable OwnSnapshot newestOwnSoFar) {
        seen = position;
        newestOwn = newestOwnSoFar;
    }

    /**
     * Reads the snapshots that have appeared since the last look, of whatever user, oldest first.
     * When the table was rolled back behind the last look, those are returned that were committed
     * later than the snapshot that was seen last, by their commit times.
     */
    public List<Snapshot> look() {
        List<Snapshot> appeared = new ArrayList<>(1);
        long newest = newestId();
        missed = false;
        SnapshotPosition newestKnown = newestKnown();
        rolledBack = newest < newestKnown.id() || isReplaced(newestKnown);
        if (rolledBack) {
            SnapshotPosition before = seen;
            seen = head();
            if (newestOwn != null
                    && (newestOwn.position().id() > seen.id()
                            || isReplaced(newestOwn.position()))) {
                newestOwn = newestOwnOfAll().map(OwnSnapshot::of).orElse(null);
            }
            LOG.warn(
                    "The table was rolled back behind {}, where commit user {} has seen it last; its"
                            + " newest snapshot is {} now.",
                    before,
                    commitUser,
                    seen.id());
            return laterThan(before.timeMillis());
        }
        missed = forEachAfter(seen.id(), newest, appeared::add);
        for (Snapshot snapshot : appeared) {
            if (isOwn(snapshot) || isRollbackToAsLatest(snapshot)) {
                // R2: what a rollback has kept is lost when the table goes back behind that.
                newestOwn = OwnSnapshot.of(snapshot);
            }
        }
        if (!appeared.isEmpty()) {
            seen = SnapshotPosition.of(appeared.get(appeared.size() - 1));
        }
        return appeared;
    }

    /** What this process has committed since the last look may be newer than that. */
    private SnapshotPosition newestKnown() {
        return newestOwn != null && newestOwn.position().id() > seen.id()
                ? newestOwn.position()
                : seen;
    }

    /** The newest snapshots, as far as they were committed after a point in time, oldest first. */
    private List<Snapshot> laterThan(long timeMillis) {
        Deque<Snapshot> later = new ArrayDeque<>(1);
        for (long id = seen.id(); id >= Snapshot.FIRST_SNAPSHOT_ID; id--) {
            Optional<Snapshot> snapshot = read(id);
            if (!snapshot.isPresent() || snapshot.get().timeMillis() <= timeMillis) {
                break;
            }
            later.addFirst(snapshot.get());
        }
        return new ArrayList<>(later);
    }

    /** Moves the last look to the table's newest snapshot, and reads nothing in between. */
    public void skipToHead() {
        seen = head();
        // There may be newer ones of this commit user in between.
        newestOwn = null;
    }

    /** Whether the last look found that the table was rolled back behind the one before it. */
    public boolean rolledBack() {
        return rolledBack;
    }

    /** Whether snapshots had expired before the last look could see them. */
    public boolean missed() {
        return missed;
    }

    /** The newest snapshot of the table, of whatever user, at the last look. */
    public SnapshotPosition seen() {
        return seen;
    }

    /** The newest snapshot of this commit user that is known; null when none is. */
    @Nullable
    public OwnSnapshot newestOwn() {
        return newestOwn;
    }

    /**
     * The snapshot that this commit user has committed since the last look, the last one if there
     * are several (a commit that compacts as well makes two). Others may have committed any number
     * meanwhile.
     *
     * @return empty when it has been removed already
     */
    public Optional<Snapshot> findSinceLook(long identifier, String runId) {
        List<Snapshot> found = new ArrayList<>(1);
        forEachAfter(
                seen.id(),
                newestId(),
                snapshot -> {
                    if (isOwn(snapshot)
                            && snapshot.commitIdentifier() == identifier
                            && runId.equals(CommitProperties.runId(snapshot))) {
                        found.add(snapshot);
                    }
                });
        if (found.isEmpty()) {
            return Optional.empty();
        }
        Snapshot newest = found.get(found.size() - 1);
        // R2: it may have expired when the next look comes.
        newestOwn = OwnSnapshot.of(newest);
        return Optional.of(newest);
    }

    /**
     * R2: files show that this commit user has committed an identifier, and its snapshot has
     * expired: it was older than the oldest one.
     *
     * @param newestId the newest one that it can have been, as far as tags show
     */
    public void rememberExpired(long identifier, @Nullable String runId, long newestId) {
        Optional<Snapshot> oldest = oldest();
        if (!oldest.isPresent()) {
            return;
        }
        OwnSnapshot expired =
                OwnSnapshot.expired(Math.min(oldest.get().id() - 1, newestId), identifier, runId);
        // What is remembered of an earlier identifier was not newer than this one.
        if (newestOwn == null
                || newestOwn.position().isExpired()
                || newestOwn.position().id() < expired.position().id()) {
            newestOwn = expired;
        }
    }

    // ------------------------------------------------------------------------
    //  The past
    // ------------------------------------------------------------------------

    /** The newest snapshot of the table, of whatever user. */
    public SnapshotPosition head() {
        long id = newestId();
        while (id >= Snapshot.FIRST_SNAPSHOT_ID) {
            Optional<Snapshot> newest = read(id);
            if (newest.isPresent()) {
                return SnapshotPosition.of(newest.get());
            }
            if (id > earliestId()) {
                // The table is being rolled back, or its hint runs ahead of its files.
                id--;
            } else {
                // It has expired meanwhile: then there is a newer one.
                long next = newestId();
                if (next <= id) {
                    break;
                }
                id = next;
            }
        }
        return SnapshotPosition.START;
    }

    /** The oldest snapshot that has not expired. */
    Optional<Snapshot> oldest() {
        for (long id = earliestId(); id != Long.MAX_VALUE; id = earliestId()) {
            Optional<Snapshot> oldest = read(id);
            if (oldest.isPresent()) {
                return oldest;
            }
        }
        return Optional.empty();
    }

    /** Whether another snapshot has this one's id now. One that has expired is not replaced. */
    boolean isReplaced(SnapshotPosition position) {
        return position.id() >= Snapshot.FIRST_SNAPSHOT_ID
                && read(position.id()).map(snapshot -> !position.isAt(snapshot)).orElse(false);
    }

    /** Whether the snapshot is in the table still. */
    boolean isThere(SnapshotPosition position) {
        return read(position.id()).filter(position::isAt).isPresent();
    }

    /**
     * Reads all snapshots above an id, oldest first.
     *
     * @return whether those directly above the id are gone
     */
    boolean forEachAfter(long id, SnapshotVisitor visitor) {
        return forEachAfter(id, newestId(), visitor);
    }

    private boolean forEachAfter(long after, long newest, SnapshotVisitor visitor) {
        boolean expired = false;
        long id = after + 1;
        while (id <= newest) {
            Optional<Snapshot> snapshot = read(id);
            if (snapshot.isPresent()) {
                visitor.visit(snapshot.get());
                id++;
            } else {
                // Expired, before we came or right now: on to what is left, in one step.
                expired = true;
                id = Math.max(id + 1, earliestId());
            }
        }
        return expired;
    }

    /** Sees snapshots one by one. */
    interface SnapshotVisitor {

        void visit(Snapshot snapshot);
    }

    /** The newest snapshot of this commit user, as the base looks for it before it commits. */
    Optional<Snapshot> newestOwnOfAll() {
        return snapshotManager.latestSnapshotOfUserFromFilesystem(commitUser);
    }

    /** Its identifier; {@link Long#MIN_VALUE} when there is none. */
    public long newestOwnIdentifier() {
        return newestOwnOfAll().map(Snapshot::commitIdentifier).orElse(Long.MIN_VALUE);
    }

    /**
     * The snapshot with this identifier, when its place is unknown. Walks backward from the newest
     * snapshot.
     *
     * @return empty when there is no such snapshot (any more), or it is older than the newest
     *     {@link #MAX_READS}
     */
    Optional<Snapshot> find(long identifier) {
        long id = newestId();
        for (int reads = 0; id >= Snapshot.FIRST_SNAPSHOT_ID; id--, reads++) {
            if (reads == maxReads) {
                LOG.warn(
                        "Looked for the snapshot of commit user {} with identifier {} among the"
                                + " newest snapshots and gave up at snapshot {}, after {} reads.",
                        commitUser,
                        identifier,
                        id,
                        maxReads);
                return Optional.empty();
            }
            Optional<Snapshot> snapshot = read(id);
            if (!snapshot.isPresent()) {
                if (id < earliestId()) {
                    return Optional.empty();
                }
            } else if (isOwn(snapshot.get()) && snapshot.get().commitIdentifier() <= identifier) {
                return snapshot.filter(own -> own.commitIdentifier() == identifier);
            }
        }
        return Optional.empty();
    }

    private long newestId() {
        Long newest = snapshotManager.latestSnapshotIdFromFileSystem();
        return newest == null ? SnapshotPosition.START.id() : newest;
    }

    private long earliestId() {
        Long earliest = snapshotManager.earliestSnapshotId();
        return earliest == null ? Long.MAX_VALUE : earliest;
    }

    /** A snapshot, or empty when it does not exist. */
    Optional<Snapshot> read(long id) {
        Path path = snapshotManager.snapshotPath(id);
        try {
            return Optional.of(SnapshotManager.tryFromPath(snapshotManager.fileIO(), path));
        } catch (FileNotFoundException e) {
            return Optional.empty();
        } catch (RuntimeException e) {
            throw new IllegalStateException(
                    "Cannot read the snapshot file " + path + ": " + e.getMessage(), e);
        }
    }
}
