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

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagStatistics;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.SavepointTags;
import org.apache.paimon.tag.StoredTableFiles;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.tag.TableFiles;
import org.apache.paimon.utils.SerializableSupplier;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/**
 * Puts a {@link SavepointTaggingCommitter} over the committer of either commit path. Travels within
 * the job graph.
 */
public final class SavepointTaggingCommitterFactory implements Serializable {

    private static final long serialVersionUID = 2L;

    private static final Logger LOG =
            LoggerFactory.getLogger(SavepointTaggingCommitterFactory.class);

    /** The checkpoint that a job without any was restored from. */
    public static final long NO_CHECKPOINT = -1;

    /** S3: name and serializer as in the base release. */
    public static final ListStateDescriptor<Long> SAVEPOINTS_STATE =
            new ListStateDescriptor<>(
                    "streaming_committer_for_tags_states", LongSerializer.INSTANCE);

    /** A name of its own: a build that does not know it carries it along unread. */
    private static final ListStateDescriptor<byte[]> PROGRESS_STATE =
            new ListStateDescriptor<>(
                    "savepoint_commit_progress_state", BytePrimitiveArraySerializer.INSTANCE);

    private final SerializableSupplier<SnapshotManager> snapshotManagers;
    private final SerializableSupplier<TagManager> tagManagers;
    private final SerializableSupplier<TagDeletion> tagDeletions;
    private final SerializableSupplier<List<TagCallback>> callbacks;
    @Nullable private final Duration tagTimeRetained;
    private final boolean tagsSavepoints;

    /**
     * @param tagsSavepoints whether savepoints are to be tagged
     */
    public SavepointTaggingCommitterFactory(
            SerializableSupplier<SnapshotManager> snapshotManagers,
            SerializableSupplier<TagManager> tagManagers,
            SerializableSupplier<TagDeletion> tagDeletions,
            SerializableSupplier<List<TagCallback>> callbacks,
            @Nullable Duration tagTimeRetained,
            boolean tagsSavepoints) {
        this.snapshotManagers = snapshotManagers;
        this.tagManagers = tagManagers;
        this.tagDeletions = tagDeletions;
        this.callbacks = callbacks;
        this.tagTimeRetained = tagTimeRetained;
        this.tagsSavepoints = tagsSavepoints;
    }

    /** The same for both commit paths of a table. */
    public static SavepointTaggingCommitterFactory of(
            FileStoreTable table, boolean tagsSavepoints) {
        return new SavepointTaggingCommitterFactory(
                table::snapshotManager,
                table::tagManager,
                () -> table.store().newTagDeletion(),
                () -> table.store().createTagCallbacks(table),
                table.coreOptions().tagDefaultTimeRetained(),
                tagsSavepoints);
    }

    /**
     * @param restoredCheckpointId the checkpoint that the state is restored from, {@link
     *     #NO_CHECKPOINT} for none
     * @param statistics counts what is done with tags
     * @throws IllegalStateException when the table is not the one that the state was written for
     */
    public SavepointTaggingCommitter over(
            Committer<Committable, ManifestCommittable> committer,
            String commitUser,
            StateStore stateStore,
            long restoredCheckpointId,
            CommitRun run,
            TaggedSavepoints tagged,
            SavepointTagStatistics statistics,
            SavepointTaggingCommitter.BeforeCommit beforeCommit)
            throws Exception {
        SnapshotManager snapshotManager = snapshotManagers.get();
        TagManager tagManager = tagManagers.get();
        CommitUserSnapshots snapshots = new CommitUserSnapshots(snapshotManager, commitUser);
        ListState<byte[]> progressState = progressState(stateStore);
        CommitProgress progress = progress(progressState, restoredCheckpointId);
        TableCreation creation = tableCreation(snapshotManager);
        if (progress != null) {
            creation.require(progress);
        }
        TableFiles files = new StoredTableFiles(() -> table(snapshotManager));
        SavepointTagger tagger =
                tagsSavepoints
                        ? new SavepointTagger(
                                commitUser,
                                snapshotManager,
                                tagManager,
                                tagDeletions,
                                callbacks,
                                tagTimeRetained,
                                statistics)
                        : null;
        return new SavepointTaggingCommitter(
                committer,
                snapshots,
                new RestoredCommits(
                        snapshots,
                        new SavepointTags(tagManager, snapshotManager.fileIO()),
                        files,
                        progress),
                files,
                creation,
                progressState,
                run,
                tagger,
                tagged,
                beforeCommit);
    }

    /** Where the checkpoints of a committer keep their {@link CommitProgress}. */
    public static ListState<byte[]> progressState(StateStore stateStore) throws Exception {
        return stateStore.getListState(PROGRESS_STATE);
    }

    /** S4, S6: what another build has carried along from an earlier checkpoint is ignored. */
    @Nullable
    public static CommitProgress progress(ListState<byte[]> state, long restoredCheckpointId)
            throws Exception {
        CommitProgress progress = null;
        for (byte[] bytes : state.get()) {
            progress = CommitProgress.fromBytes(bytes);
        }
        if (progress != null && progress.checkpointId() != restoredCheckpointId) {
            LOG.info("Ignoring {}: the restored checkpoint is {}.", progress, restoredCheckpointId);
            return null;
        }
        return progress;
    }

    private static TableCreation tableCreation(SnapshotManager snapshotManager) {
        return TableCreation.of(
                snapshotManager.tablePath(),
                new SchemaManager(
                        snapshotManager.fileIO(),
                        snapshotManager.tablePath(),
                        snapshotManager.branch()));
    }

    private static FileStoreTable table(SnapshotManager snapshotManager) {
        return FileStoreTableFactory.create(snapshotManager.fileIO(), snapshotManager.tablePath())
                .switchToBranch(snapshotManager.branch());
    }
}
