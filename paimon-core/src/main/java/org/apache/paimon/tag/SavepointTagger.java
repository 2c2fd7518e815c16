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
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import javax.annotation.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates, recognises and deletes the tags of savepoints. */
public final class SavepointTagger {

    public static final String TAG_PREFIX = "savepoint-";

    private final SavepointTagStatistics statistics = new SavepointTagStatistics();

    public SavepointTagger(
            String commitUser,
            SnapshotManager snapshotManager,
            TagManager tagManager,
            Supplier<TagDeletion> tagDeletions,
            Supplier<List<TagCallback>> callbacks,
            @Nullable Duration timeRetained) {}

    public Optional<String> createTag(long savepointId, Snapshot snapshot) {
        throw new UnsupportedOperationException();
    }

    public void snapshotGone(long savepointId) {
        throw new UnsupportedOperationException();
    }

    public boolean deleteTag(long savepointId) {
        throw new UnsupportedOperationException();
    }

    public Optional<String> ownedTag(long savepointId) {
        throw new UnsupportedOperationException();
    }

    public SavepointTagStatistics statistics() {
        return statistics;
    }
}
