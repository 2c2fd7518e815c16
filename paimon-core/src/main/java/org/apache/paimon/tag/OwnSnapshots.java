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
import org.apache.paimon.utils.SnapshotManager;

import java.util.Optional;
import java.util.OptionalLong;

/** The snapshots that one commit user has in a table. */
public final class OwnSnapshots {

    /** Most snapshot files that one {@link #find} or {@link #findAfter} reads. */
    public static final int MAX_READS = 1_024;

    private final SnapshotManager snapshotManager;
    private final String commitUser;

    public OwnSnapshots(SnapshotManager snapshotManager, String commitUser) {
        this.snapshotManager = snapshotManager;
        this.commitUser = commitUser;
    }

    public OptionalLong latestIdentifier() {
        throw new UnsupportedOperationException(commitUser + snapshotManager);
    }

    public long anchor() {
        throw new UnsupportedOperationException();
    }

    public void mark() {
        throw new UnsupportedOperationException();
    }

    public Optional<Snapshot> findAfter(long afterSnapshotId, long identifier) {
        throw new UnsupportedOperationException();
    }

    public Optional<Snapshot> find(long identifier) {
        throw new UnsupportedOperationException();
    }
}
