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

import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.tag.OwnSnapshots;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.utils.SerializableSupplier;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;

import javax.annotation.Nullable;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/** Puts a {@link SavepointTaggingCommitter} over the committer of the operator path. */
final class SavepointTaggingCommitterFactory implements Serializable {

    private static final long serialVersionUID = 1L;

    /** S3: name and serializer as in the base release. */
    static final ListStateDescriptor<Long> SAVEPOINTS_STATE =
            new ListStateDescriptor<>(
                    "streaming_committer_for_tags_states", LongSerializer.INSTANCE);

    private final SerializableSupplier<SnapshotManager> snapshotManagers;
    private final SerializableSupplier<TagManager> tagManagers;
    private final SerializableSupplier<TagDeletion> tagDeletions;
    private final SerializableSupplier<List<TagCallback>> callbacks;
    @Nullable private final Duration tagTimeRetained;

    SavepointTaggingCommitterFactory(
            SerializableSupplier<SnapshotManager> snapshotManagers,
            SerializableSupplier<TagManager> tagManagers,
            SerializableSupplier<TagDeletion> tagDeletions,
            SerializableSupplier<List<TagCallback>> callbacks,
            @Nullable Duration tagTimeRetained) {
        this.snapshotManagers = snapshotManagers;
        this.tagManagers = tagManagers;
        this.tagDeletions = tagDeletions;
        this.callbacks = callbacks;
        this.tagTimeRetained = tagTimeRetained;
    }

    /** The same factory, whose committers tag, also while their operator restores. */
    @SuppressWarnings("unchecked")
    <CommitT, GlobalCommitT> Committer.Factory<CommitT, GlobalCommitT> over(
            Committer.Factory<CommitT, GlobalCommitT> factory) {
        return context ->
                (Committer<CommitT, GlobalCommitT>)
                        over(
                                (Committer<Committable, ManifestCommittable>)
                                        factory.create(context),
                                context.commitUser(),
                                context.stateStore());
    }

    /** Tells the committer of the savepoints in the restored state, too. */
    SavepointTaggingCommitter over(
            Committer<Committable, ManifestCommittable> committer,
            String commitUser,
            StateStore stateStore) {
        SnapshotManager snapshotManager = snapshotManagers.get();
        try {
            SavepointTaggingCommitter tagging =
                    new SavepointTaggingCommitter(
                            committer,
                            new OwnSnapshots(snapshotManager, commitUser),
                            new SavepointTagger(
                                    commitUser,
                                    snapshotManager,
                                    tagManagers.get(),
                                    tagDeletions,
                                    callbacks,
                                    tagTimeRetained),
                            SavepointTaggingCommitter.RestoredTags.ANY,
                            stateStore);
            for (Long savepointId : stateStore.getListState(SAVEPOINTS_STATE).get()) {
                tagging.savepoint(savepointId);
            }
            return tagging;
        } catch (Exception e) {
            throw new IllegalStateException(
                    "The savepoints that are still to be tagged cannot be restored from the state"
                            + " of the committer: "
                            + e.getMessage(),
                    e);
        }
    }
}
