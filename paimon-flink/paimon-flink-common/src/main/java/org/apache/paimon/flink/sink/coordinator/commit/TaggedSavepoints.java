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

import javax.annotation.Nullable;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The savepoints that this process has tagged, and the snapshots it has tagged for them.
 *
 * <p>A1: only such a tag is deleted when its savepoint is aborted. A4: a tag that its owner has
 * deleted is not created again by a failover. One thread at a time.
 */
public final class TaggedSavepoints {

    /** More than this forget the oldest. */
    private static final int MAX_REMEMBERED = 1_024;

    /** The snapshots on which a tag was begun, also when its creation failed half way. */
    private final Map<Long, Snapshot> snapshots = new LinkedHashMap<>();

    /** The names of the tags that are there. */
    private final Map<Long, String> tagged = new HashMap<>();

    /** A tag is about to be created. Until {@link #tagged} it may be there, or half of it. */
    void begin(long savepointId, Snapshot snapshot) {
        remove(savepointId);
        snapshots.put(savepointId, snapshot);
        if (snapshots.size() > MAX_REMEMBERED) {
            remove(snapshots.keySet().iterator().next());
        }
    }

    /**
     * @param name that of the tag; null when its snapshot was gone, so that there is none
     */
    void tagged(long savepointId, @Nullable String name) {
        tagged.put(savepointId, name);
    }

    boolean contains(long savepointId) {
        return tagged.containsKey(savepointId);
    }

    @Nullable
    String name(long savepointId) {
        return tagged.get(savepointId);
    }

    /** The snapshot on which there may be a tag; empty when there cannot be any. */
    Optional<Snapshot> snapshot(long savepointId) {
        return Optional.ofNullable(snapshots.get(savepointId));
    }

    void remove(long savepointId) {
        snapshots.remove(savepointId);
        tagged.remove(savepointId);
    }
}
