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

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.flink.sink.coordinator.CoordinatorCommitPreconditions;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestCommittableSerializer;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

import javax.annotation.Nullable;

import java.util.Map;

/**
 * The common part of all sinks that write a table of their own. Used when the job graph is built.
 *
 * <p>It refuses {@code sink.coordinator-commit.enabled} on tables that the coordinator-commit path
 * cannot serve, instead of silently committing on the operator path.
 *
 * @param <T> type of the input
 */
public abstract class FlinkWriteSink<T> extends FlinkSink<T> {

    private static final long serialVersionUID = 1L;

    /** The partition to overwrite; null when nothing is overwritten. */
    @Nullable protected final Map<String, String> overwritePartition;

    public FlinkWriteSink(FileStoreTable table, @Nullable Map<String, String> overwritePartition) {
        super(table, overwritePartition != null);
        this.overwritePartition = overwritePartition;
    }

    /**
     * Only {@link RowAppendTableSink} commits in the coordinator. A job that rewrites file indexes
     * is no writer of the table, and commits in an operator whatever the table says.
     *
     * @throws IllegalArgumentException when the table asks for the coordinator-commit path, and
     *     that cannot serve it or this sink cannot take it
     */
    @Override
    public DataStreamSink<?> doCommit(DataStream<Committable> written, String commitUser) {
        if (CoordinatorCommitPreconditions.requested(table)) {
            CoordinatorCommitPreconditions.checkTable(table);
            if (!(this instanceof RewriteFileIndexSink)) {
                throw CoordinatorCommitPreconditions.unableSink(getClass());
            }
        }
        return super.doCommit(written, commitUser);
    }

    @Override
    protected Committer.Factory<Committable, ManifestCommittable> createCommitterFactory() {
        FileStoreTable committedTable = table;
        Map<String, String> partition = overwritePartition;
        return context ->
                new StoreCommitter(
                        committedTable,
                        committedTable
                                .newCommit(context.commitUser())
                                .withOverwrite(partition)
                                .ignoreEmptyCommit(!context.streamingCheckpointEnabled()),
                        context);
    }

    @Override
    protected CommittableStateManager<ManifestCommittable> createCommittableStateManager() {
        return new RestoreAndFailCommittableStateManager<>(
                ManifestCommittableSerializer::new, recoverPartitionsFromState(table));
    }

    protected static CommittableStateManager<ManifestCommittable>
            createRestoreOnlyCommittableStateManager(FileStoreTable table) {
        return new RestoreCommittableStateManager<>(
                ManifestCommittableSerializer::new, recoverPartitionsFromState(table));
    }

    private static boolean recoverPartitionsFromState(FileStoreTable table) {
        return Options.fromMap(table.options())
                .get(FlinkConnectorOptions.PARTITION_MARK_DONE_RECOVER_FROM_STATE);
    }

    protected static OneInputStreamOperatorFactory<InternalRow, Committable>
            createNoStateRowWriteOperatorFactory(
                    FileStoreTable table,
                    StoreSinkWrite.Provider writeProvider,
                    String commitUser) {
        return new StatelessWriteOperatorFactory(table, writeProvider, commitUser);
    }

    private static final class StatelessWriteOperatorFactory
            extends RowDataStoreWriteOperator.Factory {

        private static final long serialVersionUID = 1L;

        private StatelessWriteOperatorFactory(
                FileStoreTable table, StoreSinkWrite.Provider writeProvider, String commitUser) {
            super(table, writeProvider, commitUser);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <OpT extends StreamOperator<Committable>> OpT createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            return (OpT)
                    new OperatorPathRowDataStoreWriteOperator(
                            parameters, table, storeSinkWriteProvider, initialCommitUser);
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return OperatorPathRowDataStoreWriteOperator.class;
        }
    }
}
