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

import java.util.Objects;

/**
 * A place in the history of a table: id and commit time of a snapshot. Immutable.
 *
 * <p>The id alone does not do: a rollback deletes the newest snapshots, and the next commits use
 * their ids again.
 */
public final class SnapshotPosition {

    /** Before the first snapshot. */
    public static final SnapshotPosition START =
            new SnapshotPosition(Snapshot.FIRST_SNAPSHOT_ID - 1, 0);

    private static final long UNKNOWN_TIME = Long.MIN_VALUE;

    private final long id;
    private final long timeMillis;

    public SnapshotPosition(long id, long timeMillis) {
        this.id = id;
        this.timeMillis = timeMillis;
    }

    /** Of a snapshot that has expired, and whose commit time is not known: of no other one. */
    static SnapshotPosition expired(long id) {
        return new SnapshotPosition(id, UNKNOWN_TIME);
    }

    public static SnapshotPosition of(Snapshot snapshot) {
        return new SnapshotPosition(snapshot.id(), snapshot.timeMillis());
    }

    boolean isExpired() {
        return timeMillis == UNKNOWN_TIME;
    }

    public long id() {
        return id;
    }

    /** Milliseconds since the epoch. */
    public long timeMillis() {
        return timeMillis;
    }

    public boolean isAt(Snapshot snapshot) {
        return equals(of(snapshot));
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof SnapshotPosition
                && id == ((SnapshotPosition) o).id
                && timeMillis == ((SnapshotPosition) o).timeMillis;
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, timeMillis);
    }

    @Override
    public String toString() {
        return isExpired()
                ? "snapshot " + id + " (expired) or an older one"
                : "snapshot " + id + " of " + timeMillis;
    }
}
