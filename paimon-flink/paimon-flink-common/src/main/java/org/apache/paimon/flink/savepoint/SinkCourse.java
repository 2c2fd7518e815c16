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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.Snapshot;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.OwnSnapshot;
import org.apache.paimon.tag.SnapshotPosition;

import javax.annotation.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The snapshots of one sink in the course that a savepoint belongs to. A job that was restored from
 * an older savepoint keeps its commit user and uses its checkpoint ids a second time, so commit
 * user and identifier alone do not name a snapshot. Pure: works on what was read.
 *
 * <p>The savepoint says which run commits what it holds, up to which identifier everything was
 * committed before it, and which snapshot of the sink was the newest then. One of a build that does
 * not say so belongs to the only course there is; where there are several, nobody can tell.
 */
final class SinkCourse {

    private static final long NONE = 0;

    private static final long UNKNOWN = Long.MAX_VALUE;

    private final SavepointSink sink;
    private final long savepointId;

    /** Of the table, of whatever commit user, oldest first. */
    private final List<Snapshot> all;

    /** All of the sink's commit user, oldest first. */
    private final List<Snapshot> own = new ArrayList<>();

    SinkCourse(SavepointSink sink, long savepointId, List<Snapshot> snapshots) {
        this.sink = sink;
        this.savepointId = savepointId;
        this.all = snapshots;
        for (Snapshot snapshot : snapshots) {
            if (snapshot.commitUser().equals(sink.commitUser())) {
                own.add(snapshot);
            }
        }
    }

    SavepointSink sink() {
        return sink;
    }

    /** Whether the table has any snapshot of this sink, of whatever course. */
    boolean hasCommitted() {
        return !own.isEmpty();
    }

    /**
     * The newest snapshot that holds nothing which the savepoint does not hold.
     *
     * @throws IllegalStateException when several courses have one, and the savepoint does not say
     *     which one it belongs to
     */
    Optional<Snapshot> newestUpToSavepoint() {
        return sink.progress() == null ? newestOfOnlyCourse() : newestOfRun(sink.progress());
    }

    private Optional<Snapshot> newestOfRun(CommitProgress progress) {
        Snapshot newest = null;
        for (Snapshot snapshot : own) {
            if (isBefore(snapshot, progress) || isOfRun(snapshot, progress)) {
                newest = snapshot;
            }
        }
        return Optional.ofNullable(newest);
    }

    /**
     * Whether it was there when the savepoint was taken. A committer operator does not note its
     * newest snapshot, but everything up to the anchor was there.
     */
    private boolean isBefore(Snapshot snapshot, CommitProgress progress) {
        return progress.newestOwn() == null
                ? anchorHolds() && snapshot.id() <= progress.anchor().id()
                : progress.newestOwn().equals(OwnSnapshot.of(snapshot));
    }

    /** A build that names no run may have restored the savepoint and committed it. */
    private boolean isOfRun(Snapshot snapshot, CommitProgress progress) {
        String run = CommitProperties.runId(snapshot);
        return snapshot.commitIdentifier() <= savepointId
                && snapshot.commitIdentifier() > progress.committedUpTo()
                && snapshot.id() > idOf(progress.newestOwn())
                && (run == null || run.equals(progress.runId()));
    }

    private Optional<Snapshot> newestOfOnlyCourse() {
        Snapshot newest = null;
        Snapshot before = null;
        for (Snapshot snapshot : own) {
            boolean newCourse = before != null && isNotBehind(snapshot, before);
            if (snapshot.commitIdentifier() <= savepointId) {
                if (newest != null && (newCourse || before != newest)) {
                    throw new IllegalStateException(
                            String.format(
                                    "Commit user %s has used its checkpoint ids twice: both"
                                            + " snapshot %d (identifier %d) and snapshot %d"
                                            + " (identifier %d) may belong to savepoint %d, which"
                                            + " does not say to which of the two. Look which one is"
                                            + " right and use sys.rollback_to with its id.",
                                    sink.commitUser(),
                                    newest.id(),
                                    newest.commitIdentifier(),
                                    snapshot.id(),
                                    snapshot.commitIdentifier(),
                                    savepointId));
                }
                newest = snapshot;
            }
            before = snapshot;
        }
        return Optional.ofNullable(newest);
    }

    /** One commit may have two snapshots: of what was written, and of what was compacted. */
    private static boolean isNotBehind(Snapshot snapshot, Snapshot before) {
        return snapshot.commitKind() == Snapshot.CommitKind.COMPACT
                ? before.commitIdentifier() > snapshot.commitIdentifier()
                : before.commitIdentifier() >= snapshot.commitIdentifier();
    }

    /**
     * What this sink had committed before the savepoint was taken is not replayed by it: no
     * snapshot before this one will do. It need not be there any more.
     */
    long lowestPossibleId() {
        CommitProgress progress = sink.progress();
        if (progress != null && progress.newestOwn() != null) {
            SnapshotPosition newestOwn = progress.newestOwn().position();
            return holds(newestOwn) ? newestOwn.id() : UNKNOWN;
        }
        if (progress != null && !anchorHolds()) {
            // The table was rolled back since: what was committed before may be missing.
            return newestUpToSavepoint().filter(this::isOwnCut).isPresent() ? NONE : UNKNOWN;
        }
        long lowest = NONE;
        for (Snapshot snapshot : own) {
            if (progress == null
                    ? snapshot.commitIdentifier() < savepointId
                    : snapshot.id() <= progress.anchor().id()) {
                lowest = snapshot.id();
            }
        }
        return lowest;
    }

    private boolean isOwnCut(Snapshot snapshot) {
        return snapshot.commitIdentifier() == savepointId;
    }

    /**
     * The first snapshot of the sink that holds more than the savepoint, of those that were
     * committed after it was taken.
     */
    Optional<Snapshot> firstBeyondSavepoint() {
        long anchor =
                sink.progress() != null && anchorHolds() ? sink.progress().anchor().id() : NONE;
        long before = Math.max(lowestPossibleId(), anchor);
        for (Snapshot snapshot : own) {
            if (snapshot.id() > before && snapshot.commitIdentifier() > savepointId) {
                return Optional.of(snapshot);
            }
        }
        return Optional.empty();
    }

    /**
     * Whether the newest snapshot of the table when the savepoint was taken is still part of it.
     */
    private boolean anchorHolds() {
        return holds(sink.progress().anchor());
    }

    /** Whether a snapshot is part of the table's history: it is there, or has expired. */
    private boolean holds(SnapshotPosition position) {
        if (position.id() < Snapshot.FIRST_SNAPSHOT_ID) {
            return true;
        }
        for (Snapshot snapshot : all) {
            if (snapshot.id() == position.id()) {
                return snapshot.timeMillis() == position.timeMillis();
            }
        }
        return !all.isEmpty() && position.id() < all.get(all.size() - 1).id();
    }

    private static long idOf(@Nullable OwnSnapshot snapshot) {
        SnapshotPosition position = snapshot == null ? null : snapshot.position();
        return position == null ? NONE : position.id();
    }
}
