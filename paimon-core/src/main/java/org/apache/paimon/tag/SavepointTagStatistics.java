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

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the {@link SavepointTagger}s of one commit user have done, one after the other. Readable
 * from any thread.
 */
public final class SavepointTagStatistics {

    private final AtomicLong created = new AtomicLong();
    private final AtomicLong deleted = new AtomicLong();
    private final AtomicLong collisions = new AtomicLong();
    private final AtomicLong snapshotsGone = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();

    private volatile long lastTagged = -1;

    /** Tags created. An owned tag that existed already does not count (T4). */
    public long created() {
        return created.get();
    }

    /** Tags of aborted savepoints deleted (A1). */
    public long deleted() {
        return deleted.get();
    }

    /** Times that a name of a savepoint's tag was found taken by somebody else (T5). */
    public long collisions() {
        return collisions.get();
    }

    /** Savepoints that stay untagged because their snapshot is gone (T10). */
    public long snapshotsGone() {
        return snapshotsGone.get();
    }

    /** Attempts to create or delete a tag that failed, and failed the job (A8). */
    public long failures() {
        return failures.get();
    }

    /** The savepoint that was tagged last, or whose tag was found in place; -1 before the first. */
    public long lastTagged() {
        return lastTagged;
    }

    void tagged(long savepointId) {
        lastTagged = savepointId;
    }

    void countFailure() {
        failures.incrementAndGet();
    }

    void countCreated() {
        created.incrementAndGet();
    }

    void countDeleted() {
        deleted.incrementAndGet();
    }

    void countCollision() {
        collisions.incrementAndGet();
    }

    void countSnapshotGone() {
        snapshotsGone.incrementAndGet();
    }

    @Override
    public String toString() {
        return String.format(
                "created %d, deleted %d, collisions %d, snapshots gone %d, failures %d",
                created(), deleted(), collisions(), snapshotsGone(), failures());
    }
}
