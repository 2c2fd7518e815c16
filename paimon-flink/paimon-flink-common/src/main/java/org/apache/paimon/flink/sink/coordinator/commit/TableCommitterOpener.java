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

import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.Serializable;
import java.util.function.BooleanSupplier;

/** Opens the committer of a real table. Travels to the JobManager within the job graph. */
public final class TableCommitterOpener implements CommitterOpener, Serializable {

    private static final long serialVersionUID = 2L;

    private final FileStoreTable table;
    private final Committer.Factory<Committable, ManifestCommittable> committerFactory;
    private final SavepointTaggingCommitterFactory taggingCommitterFactory;

    public TableCommitterOpener(
            FileStoreTable table,
            Committer.Factory<Committable, ManifestCommittable> committerFactory) {
        this.table = table;
        this.committerFactory = committerFactory;
        this.taggingCommitterFactory =
                SavepointTaggingCommitterFactory.of(
                        table,
                        Options.fromMap(table.options())
                                .get(FlinkConnectorOptions.SINK_AUTO_TAG_FOR_SAVEPOINT));
    }

    @Override
    public String table() {
        return table.location().toString();
    }

    @Override
    public SnapshotCommitter open(
            Committer.Context context,
            CommitRun run,
            JobMasterMemory memory,
            long restoredCheckpointId,
            BooleanSupplier cancelled)
            throws Exception {
        Committer<Committable, ManifestCommittable> committer = committerFactory.create(context);
        SavepointTaggingCommitter tagging =
                taggingCommitterFactory.over(
                        committer,
                        context.commitUser(),
                        context.stateStore(),
                        restoredCheckpointId,
                        run,
                        memory.tagged(),
                        memory.metrics().tags(),
                        SnapshotCommitter.unlessCancelled(memory.foreignCommits(), cancelled));
        return new SnapshotCommitter(
                tagging,
                run,
                memory.foreignCommits(),
                memory.metrics().commits(),
                UnconfirmedSavepoints.create(context.stateStore(), memory, tagging::withdraw),
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer())),
                Options.fromMap(table.options())
                        .get(FlinkConnectorOptions.PARTITION_MARK_DONE_RECOVER_FROM_STATE),
                cancelled);
    }
}
