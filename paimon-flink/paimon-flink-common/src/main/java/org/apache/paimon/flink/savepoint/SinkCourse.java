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
            if (isNewestBefore(snapshot, progress) || isOfRun(snapshot, progress)) {
                newest = snapshot;
            }
        }
        return Optional.ofNullable(newest);
    }

    private static boolean isNewestBefore(Snapshot snapshot, CommitProgress progress) {
        return OwnSnapshot.of(snapshot).equals(progress.newestOwn());
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
        if (sink.progress() != null) {
            return idOf(sink.progress().newestOwn());
        }
        long lowest = NONE;
        for (Snapshot snapshot : own) {
            if (snapshot.commitIdentifier() < savepointId) {
                lowest = snapshot.id();
            }
        }
        return lowest;
    }

    /**
     * The first snapshot of the sink that holds more than the savepoint, of those that were
     * committed after it was taken.
     */
    Optional<Snapshot> firstBeyondSavepoint() {
        long before = Math.max(lowestPossibleId(), anchorId());
        for (Snapshot snapshot : own) {
            if (snapshot.id() > before && snapshot.commitIdentifier() > savepointId) {
                return Optional.of(snapshot);
            }
        }
        return Optional.empty();
    }

    /**
     * Id of the newest snapshot of the table when the savepoint was taken. After a rollback behind
     * it that id means nothing any more.
     */
    private long anchorId() {
        if (sink.progress() == null || all.isEmpty()) {
            return NONE;
        }
        SnapshotPosition anchor = sink.progress().anchor();
        for (Snapshot snapshot : all) {
            if (snapshot.id() == anchor.id()) {
                return snapshot.timeMillis() == anchor.timeMillis() ? anchor.id() : NONE;
            }
        }
        return anchor.id() < all.get(all.size() - 1).id() ? anchor.id() : NONE;
    }

    private static long idOf(@Nullable OwnSnapshot snapshot) {
        SnapshotPosition position = snapshot == null ? null : snapshot.position();
        return position == null ? NONE : position.id();
    }
}
