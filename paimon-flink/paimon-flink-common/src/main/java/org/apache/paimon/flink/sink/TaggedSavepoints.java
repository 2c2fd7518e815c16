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

package org.apache.paimon.flink.sink;

import org.apache.paimon.Snapshot;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The savepoints that this process has tagged, and the snapshots it has tagged for them.
 *
 * <p>A1: only such a tag is deleted when its savepoint is aborted. A4: a tag that its owner has
 * deleted is not created again by a failover. One thread at a time.
 */
public final class TaggedSavepoints {

    /** More than this forget the oldest. */
    private static final int MAX_REMEMBERED = 1_024;

    private final Map<Long, Snapshot> snapshots = new LinkedHashMap<>();

    /** Those whose tag is known to be there, with all its callbacks told. */
    private final Set<Long> created = new HashSet<>();

    /** The tag is about to be created: an abort has to look for it, even when that fails. */
    void creating(long savepointId, Snapshot snapshot) {
        snapshots.remove(savepointId);
        created.remove(savepointId);
        snapshots.put(savepointId, snapshot);
        if (snapshots.size() > MAX_REMEMBERED) {
            Long oldest = snapshots.keySet().iterator().next();
            snapshots.remove(oldest);
            created.remove(oldest);
        }
    }

    void created(long savepointId) {
        created.add(savepointId);
    }

    boolean contains(long savepointId) {
        return created.contains(savepointId);
    }

    Optional<Snapshot> remove(long savepointId) {
        created.remove(savepointId);
        return Optional.ofNullable(snapshots.remove(savepointId));
    }
}
