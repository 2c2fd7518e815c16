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

import java.time.Instant;
import java.util.Objects;

/**
 * Which snapshot is meant, as opposed to another one with the same id, or with the same commit user
 * and identifier.
 *
 * <p>A rollback frees snapshot ids, and a job that is restored from an older savepoint uses its
 * checkpoint ids a second time as the same commit user. Id, commit time, commit user and identifier
 * together are those of one snapshot. A tag is a snapshot in this sense, that of its snapshot.
 */
public final class SnapshotIdentity {

    private final long id;
    private final long timeMillis;
    private final String commitUser;
    private final long identifier;

    public SnapshotIdentity(long id, long timeMillis, String commitUser, long identifier) {
        this.id = id;
        this.timeMillis = timeMillis;
        this.commitUser = commitUser;
        this.identifier = identifier;
    }

    public static SnapshotIdentity of(Snapshot snapshotOrTag) {
        return new SnapshotIdentity(
                snapshotOrTag.id(),
                snapshotOrTag.timeMillis(),
                snapshotOrTag.commitUser(),
                snapshotOrTag.commitIdentifier());
    }

    public long id() {
        return id;
    }

    /** When it was committed. */
    public long timeMillis() {
        return timeMillis;
    }

    public String commitUser() {
        return commitUser;
    }

    /** The commit identifier. */
    public long identifier() {
        return identifier;
    }

    /** Whether this is the very snapshot that is meant, or a tag on it. */
    public boolean matches(Snapshot snapshotOrTag) {
        return equals(of(snapshotOrTag));
    }

    @Override
    public boolean equals(Object o) {
        if (!(o instanceof SnapshotIdentity)) {
            return false;
        }
        SnapshotIdentity that = (SnapshotIdentity) o;
        return id == that.id
                && timeMillis == that.timeMillis
                && identifier == that.identifier
                && Objects.equals(commitUser, that.commitUser);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, timeMillis, commitUser, identifier);
    }

    /** In words, for logs and messages. */
    @Override
    public String toString() {
        return String.format(
                "snapshot %d of commit user %s with identifier %d, committed at %s",
                id, commitUser, identifier, Instant.ofEpochMilli(timeMillis));
    }
}
