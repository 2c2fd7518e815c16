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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What a rollback to a snapshot takes with it. Pure: works on what was read. Immutable. */
final class RollbackPlan {

    private final FoundSnapshot target;
    private final Set<String> commitUsers;
    private final List<Snapshot> snapshots;
    private final List<NamedTag> tags;
    private final boolean mayHaveLostTheSnapshot;

    /**
     * @param commitUsers those of the savepoint, whose rows the restored job writes again
     */
    RollbackPlan(
            FoundSnapshot target, long savepointId, Set<String> commitUsers, TableHistory history) {
        this.target = target;
        this.commitUsers = new TreeSet<>(commitUsers);
        this.commitUsers.add(target.snapshot().commitUser());
        long id = target.snapshot().id();
        this.snapshots = history.snapshotsAfter(id);
        this.tags = history.tagsAfter(id);
        this.mayHaveLostTheSnapshot =
                target.snapshot().commitIdentifier() != savepointId
                        && !snapshots.isEmpty()
                        && !history.hasSnapshot(id + 1);
    }

    FoundSnapshot target() {
        return target;
    }

    /** Whether the table is there already. */
    boolean isEmpty() {
        return snapshots.isEmpty() && tags.isEmpty();
    }

    /** The newest snapshot of the table when it was read; the target if that is the newest. */
    long newestSnapshotId() {
        return snapshots.isEmpty()
                ? target.snapshot().id()
                : snapshots.get(snapshots.size() - 1).id();
    }

    /** Why this is done only by force; empty when nothing is in the way. */
    List<String> objections() {
        List<String> objections = new ArrayList<>();
        List<Snapshot> foreign = new ArrayList<>();
        for (Snapshot snapshot : snapshots) {
            if (isForeign(snapshot)) {
                foreign.add(snapshot);
            }
        }
        if (!foreign.isEmpty()) {
            objections.add(
                    "commits of other users, whose rows nobody writes again: "
                            + String.join(", ", summary(foreign)));
        }
        List<String> userTags = new ArrayList<>();
        for (NamedTag tag : tags) {
            if (isForeign(tag)) {
                userTags.add(describe(tag));
            }
        }
        if (!userTags.isEmpty()) {
            objections.add(
                    "tags that are not of this job's savepoints: " + String.join(", ", userTags));
        }
        if (mayHaveLostTheSnapshot) {
            objections.add(
                    String.format(
                            "the snapshots directly above snapshot %d have expired: that of the"
                                    + " savepoint may have been among them",
                            target.snapshot().id()));
        }
        return objections;
    }

    /** A compaction has no rows of its own. */
    private boolean isForeign(Snapshot snapshot) {
        return !commitUsers.contains(snapshot.commitUser())
                && snapshot.commitKind() != Snapshot.CommitKind.COMPACT;
    }

    private boolean isForeign(NamedTag tag) {
        return !tag.isSavepointTag() || !commitUsers.contains(tag.tag().commitUser());
    }

    /** The snapshots that go, in words, by commit user. */
    List<String> goingSnapshots() {
        return summary(snapshots);
    }

    /** The tags that go, in words. */
    List<String> goingTags() {
        List<String> described = new ArrayList<>();
        tags.forEach(tag -> described.add(describe(tag)));
        return described;
    }

    private static String describe(NamedTag tag) {
        return tag.name() + " on snapshot " + tag.tag().id();
    }

    private List<String> summary(List<Snapshot> some) {
        Map<String, List<Snapshot>> byWho = new TreeMap<>();
        for (Snapshot snapshot : some) {
            String who =
                    (commitUsers.contains(snapshot.commitUser())
                                    ? "commit user "
                                    : "other commit user ")
                            + snapshot.commitUser()
                            + " ("
                            + snapshot.commitKind()
                            + ")";
            byWho.computeIfAbsent(who, key -> new ArrayList<>()).add(snapshot);
        }
        List<String> lines = new ArrayList<>();
        byWho.forEach(
                (who, theirs) ->
                        lines.add(
                                theirs.size() == 1
                                        ? "snapshot " + theirs.get(0).id() + " of " + who
                                        : String.format(
                                                "%d snapshots from %d to %d of %s",
                                                theirs.size(),
                                                theirs.get(0).id(),
                                                theirs.get(theirs.size() - 1).id(),
                                                who)));
        return lines;
    }
}
