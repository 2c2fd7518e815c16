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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.Snapshot;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.SnapshotPosition;
import org.apache.paimon.tag.TableCreation;

import java.io.IOException;
import java.util.List;

/**
 * R2: refuses to go on when a look finds that the table was dropped and created again.
 *
 * <p>It reads the table's creation time only where that can have happened: while no snapshot has
 * been seen, and after a rollback. Threads: the committer's.
 */
final class SameTableCheck implements SavepointTaggingCommitter.BeforeCommit {

    private final SavepointTaggingCommitter.BeforeCommit beforeCommit;
    private final TableCreation creation;
    private final long creationMillis;

    /** The table that is there now is the one to stay. */
    SameTableCheck(SavepointTaggingCommitter.BeforeCommit beforeCommit, TableCreation creation) {
        this.beforeCommit = beforeCommit;
        this.creation = creation;
        this.creationMillis = creation.timeMillis();
    }

    /** In milliseconds since the epoch. */
    long creationMillis() {
        return creationMillis;
    }

    @Override
    public List<Snapshot> look(CommitUserSnapshots snapshots) throws IOException {
        boolean empty = snapshots.seen().equals(SnapshotPosition.START);
        List<Snapshot> appeared = beforeCommit.look(snapshots);
        if (empty || snapshots.rolledBack()) {
            creation.require(creationMillis);
        }
        return appeared;
    }

    @Override
    public void committing(long identifier) {
        beforeCommit.committing(identifier);
    }
}
