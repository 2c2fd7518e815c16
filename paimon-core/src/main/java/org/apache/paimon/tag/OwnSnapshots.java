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

import java.io.FileNotFoundException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

/**
 * The snapshots that one commit user has in a table.
 *
 * <p><b>What it is for.</b> A committer asks, before each commit, whether its commit user has got
 * further than it knows (A7), and, before each tag, which snapshot a savepoint was committed as
 * (T10).
 *
 * <p><b>Threads.</b> One, the committer's. Only {@link #anchor} may be called from others.
 *
 * <p><b>How it looks.</b> Snapshot ids are dense at the young end; expiration eats them from the
 * other one. The identifiers of one commit user rise with the snapshot ids, save that a commit that
 * compacts as well has two snapshots of the same identifier. So each walk knows when to stop:
 *
 * <pre>
 *   id          17    18    19    20    21    22    23    24
 *   user         b     a     a     b     a     b     a     b       own user: a
 *   identifier   3     6     7     4     8     5     9     6
 *
 *   findAfter(18, 8)         19 -&gt; 20 -&gt; 21 -&gt; 22 -&gt; 23  stops at 9
 *   find(8)                              21 &lt;- 22 &lt;- 23 &lt;- 24
 *   latestIdentifier(), 20 seen                      23 &lt;- 24
 * </pre>
 *
 * <p>They fall once when a job is restored from an older savepoint and keeps its commit user, but
 * the table was not rolled back. {@link #latestIdentifier} is that of the newest own snapshot then;
 * the walks find what lies on their side of the fall, and nothing wrong beyond it.
 *
 * <p>Whatever is read comes from the file system, never from a cache: the question is what other
 * processes have done. Reads per search are bounded by {@link #MAX_READS}; the first {@link
 * #latestIdentifier} alone is not, since a commit user that has no snapshot at all can be told from
 * one that has an old one only by reading them all (the base does the same when it starts to
 * commit).
 */
public final class OwnSnapshots {

    /** Most snapshot files that one {@link #find} or {@link #findAfter} reads. */
    public static final int MAX_READS = 1_024;

    /** Most snapshots read behind the one found, for another of its commit, or before an anchor. */
    static final int MAX_READS_BEHIND = 4;

    private static final Logger LOG = LoggerFactory.getLogger(OwnSnapshots.class);

    private final SnapshotManager snapshotManager;
    private final String commitUser;
    private final int maxReads;

    /** Id up to which {@link #latestIdentifier} has looked; 0 before the first snapshot. */
    private long lastSeen;

    private OptionalLong latestIdentifier = OptionalLong.empty();

    private volatile long anchor;

    public OwnSnapshots(SnapshotManager snapshotManager, String commitUser) {
        this(snapshotManager, commitUser, MAX_READS);
    }

    OwnSnapshots(SnapshotManager snapshotManager, String commitUser, int maxReads) {
        this.snapshotManager = snapshotManager;
        this.commitUser = commitUser;
        this.maxReads = maxReads;
    }

    /**
     * The identifier that this commit user has committed last, as of now. Later calls read the hint
     * of the newest snapshot and those snapshots alone that have appeared since the last look.
     */
    public OptionalLong latestIdentifier() {
        long newest = newest();
        anchor = newest;
        if (newest < lastSeen) {
            LOG.warn(
                    "The newest snapshot is {} after it was {}: the table was rolled back. "
                            + "Looking for the snapshots of commit user {} from scratch.",
                    newest,
                    lastSeen,
                    commitUser);
            lastSeen = 0;
            latestIdentifier = OptionalLong.empty();
        }

        long id = newest;
        while (id > lastSeen) {
            Optional<Snapshot> snapshot = read(id);
            if (!snapshot.isPresent() && id < earliest()) {
                break; // and so has everything before it gone
            }
            if (snapshot.isPresent() && isOwn(snapshot.get())) {
                latestIdentifier = OptionalLong.of(snapshot.get().commitIdentifier());
                break;
            }
            id--;
        }
        lastSeen = newest;
        return latestIdentifier;
    }

    /**
     * Lets the next {@link #latestIdentifier} begin at the table's newest snapshot. For a commit
     * user that has committed nothing yet, so that nobody has to read the whole table to find that.
     */
    public void ignoreExisting() {
        mark();
        lastSeen = anchor;
        latestIdentifier = OptionalLong.empty();
    }

    /**
     * Id of the newest snapshot of the table, of whatever user, at the last {@link
     * #latestIdentifier} or {@link #mark}; 0 when there was none. Whoever remembers it can ask
     * {@link #findAfter} later.
     */
    public long anchor() {
        return anchor;
    }

    /** Moves the anchor to the table's newest snapshot. */
    public void mark() {
        anchor = newest();
    }

    /**
     * The snapshot that this commit user has committed with the identifier since the anchor, the
     * last one if there are several: a commit that compacts as well writes that snapshot at once,
     * so only a few behind the first one are read, however many others have been committed since.
     * Walks forward.
     *
     * @return empty when there is no such snapshot (any more), or more than {@link #MAX_READS} of
     *     other users lie before it
     */
    public Optional<Snapshot> findAfter(long afterSnapshotId, long identifier) {
        long newest = newest();
        Snapshot found = null;
        int reads = 0;
        int readsBehind = 0;
        long id = afterSnapshotId + 1;
        while (id <= newest) {
            if (found != null && readsBehind++ == MAX_READS_BEHIND) {
                break;
            }
            if (reads++ == maxReads) {
                if (found == null) {
                    tellGivenUp(identifier, "after snapshot " + afterSnapshotId, id);
                }
                break;
            }
            Optional<Snapshot> snapshot = read(id);
            if (!snapshot.isPresent()) {
                // Expired, before we came or right now: on to what is left, in one step.
                id = Math.max(id + 1, earliest());
                continue;
            }
            if (isOwn(snapshot.get())) {
                if (snapshot.get().commitIdentifier() > identifier) {
                    break;
                }
                if (snapshot.get().commitIdentifier() == identifier) {
                    found = snapshot.get();
                }
            }
            id++;
        }
        return Optional.ofNullable(found);
    }

    /**
     * The same when no anchor is known. Walks backward from the newest snapshot.
     *
     * @return empty when there is no such snapshot (any more), or it is older than the newest
     *     {@link #MAX_READS}
     */
    public Optional<Snapshot> find(long identifier) {
        return walkBack(
                newest(),
                maxReads,
                identifier,
                id -> tellGivenUp(identifier, "among the newest snapshots", id));
    }

    /**
     * The same for a snapshot that may have been committed shortly before the anchor was set. Reads
     * {@link #MAX_READS_BEHIND} snapshots at most.
     */
    public Optional<Snapshot> findBefore(long anchor, long identifier) {
        return walkBack(anchor, MAX_READS_BEHIND, identifier, id -> {});
    }

    /**
     * Goes from a snapshot back to older ones.
     *
     * @param givenUpAt is told where the search ended when the limit was reached
     */
    private Optional<Snapshot> walkBack(
            long from, int limit, long identifier, LongConsumer givenUpAt) {
        long id = from;
        for (int reads = 0; id >= Snapshot.FIRST_SNAPSHOT_ID; id--) {
            if (reads++ == limit) {
                givenUpAt.accept(id);
                return Optional.empty();
            }
            Optional<Snapshot> snapshot = read(id);
            if (!snapshot.isPresent()) {
                if (id < earliest()) {
                    return Optional.empty();
                }
            } else if (isOwn(snapshot.get())) {
                if (snapshot.get().commitIdentifier() == identifier) {
                    return snapshot;
                }
                if (snapshot.get().commitIdentifier() < identifier) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    private boolean isOwn(Snapshot snapshot) {
        return commitUser.equals(snapshot.commitUser());
    }

    private long newest() {
        Long newest = snapshotManager.latestSnapshotIdFromFileSystem();
        return newest == null ? Snapshot.FIRST_SNAPSHOT_ID - 1 : newest;
    }

    private long earliest() {
        Long earliest = snapshotManager.earliestSnapshotId();
        return earliest == null ? Long.MAX_VALUE : earliest;
    }

    /** A snapshot, or empty when it does not exist. */
    private Optional<Snapshot> read(long id) {
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

    private void tellGivenUp(long identifier, String where, long next) {
        LOG.warn(
                "Looked for the snapshot of commit user {} with identifier {} {} and gave up at "
                        + "snapshot {}, after {} reads.",
                commitUser,
                identifier,
                where,
                next,
                maxReads);
    }
}
