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

import javax.annotation.Nullable;

import java.util.Objects;

/** What a checkpoint remembers of a snapshot of its own commit user (R2). Immutable. */
public final class OwnSnapshot {

    private final SnapshotPosition position;
    private final long identifier;
    @Nullable private final String runId;

    public OwnSnapshot(SnapshotPosition position, long identifier, @Nullable String runId) {
        this.position = position;
        this.identifier = identifier;
        this.runId = runId;
    }

    public static OwnSnapshot of(Snapshot snapshot) {
        return new OwnSnapshot(
                SnapshotPosition.of(snapshot),
                snapshot.commitIdentifier(),
                CommitProperties.runId(snapshot));
    }

    /**
     * One that has expired before its place was known.
     *
     * @param newestId the newest snapshot that it can have been; it exists again only behind a
     *     rollback
     */
    static OwnSnapshot expired(long newestId, long identifier, @Nullable String runId) {
        return new OwnSnapshot(SnapshotPosition.expired(newestId), identifier, runId);
    }

    public SnapshotPosition position() {
        return position;
    }

    public long identifier() {
        return identifier;
    }

    /** The run that committed it; null when the snapshot names none. */
    @Nullable
    public String runId() {
        return runId;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof OwnSnapshot
                && position.equals(((OwnSnapshot) o).position)
                && identifier == ((OwnSnapshot) o).identifier
                && Objects.equals(runId, ((OwnSnapshot) o).runId);
    }

    @Override
    public int hashCode() {
        return Objects.hash(position, identifier, runId);
    }

    @Override
    public String toString() {
        return position + " with identifier " + identifier + " of run " + runId;
    }
}
