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

import java.util.Optional;

/**
 * R2: whether a snapshot that a checkpoint knows is still part of the table's history. When it is
 * not, the table was rolled back further than the checkpoint, or is another table.
 *
 * <p>Threads: the committer's.
 */
final class HistoryCheck {

    private final CommitUserSnapshots snapshots;
    private final SavepointTags tags;
    private final ObservedRollbacks rollbacks;

    HistoryCheck(CommitUserSnapshots snapshots, SavepointTags tags, ObservedRollbacks rollbacks) {
        this.snapshots = snapshots;
        this.tags = tags;
        this.rollbacks = rollbacks;
    }

    /** Why it is not any more; empty when it is, or has merely expired. */
    Optional<String> lost(OwnSnapshot known) {
        SnapshotPosition head = snapshots.head();
        if (head.id() < known.position().id()) {
            return Optional.of(
                    String.format("the newest snapshot of the table is snapshot %d", head.id()));
        }
        Optional<Snapshot> there = snapshots.read(known.position().id());
        if (there.isPresent() && !known.equals(OwnSnapshot.of(there.get()))) {
            return Optional.of(
                    String.format(
                            "snapshot %d is another one now, of commit user %s with identifier %d",
                            there.get().id(),
                            there.get().commitUser(),
                            there.get().commitIdentifier()));
        }
        return (there.isPresent() ? there : tagged(known))
                .flatMap(rollbacks::behind)
                .map(
                        rollback ->
                                String.format(
                                        "snapshot %d (rollback_to_as_latest) has removed its rows",
                                        rollback.id()));
    }

    /** A snapshot that has expired, as its tag holds it; looked for only where that may matter. */
    private Optional<Snapshot> tagged(OwnSnapshot expired) {
        if (!rollbacks.any()) {
            return Optional.empty();
        }
        for (Tag tag : tags.savepointTags()) {
            if (expired.equals(OwnSnapshot.of(tag))) {
                return Optional.of(tag);
            }
        }
        return Optional.empty();
    }
}
