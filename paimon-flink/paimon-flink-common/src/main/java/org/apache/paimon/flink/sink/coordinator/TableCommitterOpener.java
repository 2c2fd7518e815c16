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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.SavepointTaggingCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.tag.OwnSnapshots;
import org.apache.paimon.tag.SavepointTagger;

import java.io.Serializable;
import java.util.function.BooleanSupplier;

/** Opens the committer of a real table. Travels to the JobManager within the job graph. */
final class TableCommitterOpener implements CommitterOpener, Serializable {

    private static final long serialVersionUID = 1L;

    private final FileStoreTable table;
    private final Committer.Factory<Committable, ManifestCommittable> committerFactory;

    TableCommitterOpener(
            FileStoreTable table,
            Committer.Factory<Committable, ManifestCommittable> committerFactory) {
        this.table = table;
        this.committerFactory = committerFactory;
    }

    @Override
    public String table() {
        return table.location().toString();
    }

    @Override
    public SnapshotCommitter open(Committer.Context context, BooleanSupplier cancelled)
            throws Exception {
        Options options = Options.fromMap(table.options());
        OwnSnapshots ownSnapshots = new OwnSnapshots(table.snapshotManager(), context.commitUser());
        Committer<Committable, ManifestCommittable> committer = committerFactory.create(context);
        if (options.get(FlinkConnectorOptions.SINK_AUTO_TAG_FOR_SAVEPOINT)) {
            committer =
                    new SavepointTaggingCommitter(
                            committer,
                            ownSnapshots,
                            new SavepointTagger(
                                    context.commitUser(),
                                    table.snapshotManager(),
                                    table.tagManager(),
                                    () -> table.store().newTagDeletion(),
                                    () -> table.store().createTagCallbacks(table),
                                    table.coreOptions().tagDefaultTimeRetained()),
                            SavepointTaggingCommitter.RestoredTags.MARKED,
                            context.stateStore());
        }
        return new SnapshotCommitter(
                committer,
                ownSnapshots,
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer())),
                options.get(FlinkConnectorOptions.PARTITION_MARK_DONE_RECOVER_FROM_STATE),
                cancelled);
    }
}
