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
import org.apache.paimon.flink.sink.coordinator.CommittingWriteOperatorCoordinator;
import org.apache.paimon.flink.sink.coordinator.CoordinatorCommitPreconditions;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.options.Options;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

import javax.annotation.Nullable;

import java.util.Map;

/**
 * Writes rows into an unaware-bucket append table, on either commit path. Used when the job graph
 * is built.
 *
 * <pre>
 *   operator path      writers (stateless) -&gt; global committer (parallelism 1) -&gt; end
 *   coordinator path   writers (pending reports) -&gt; end          writers' coordinator commits
 * </pre>
 */
public class RowAppendTableSink extends AppendTableSink<InternalRow> {

    private static final long serialVersionUID = 1L;

    public RowAppendTableSink(
            FileStoreTable table,
            @Nullable Map<String, String> overwritePartition,
            @Nullable Integer parallelism) {
        super(table, overwritePartition, parallelism);
    }

    @Override
    protected boolean coordinatorCommitEnabled() {
        return CoordinatorCommitPreconditions.requested(table);
    }

    @Override
    protected OneInputStreamOperatorFactory<InternalRow, Committable> createWriteOperatorFactory(
            StoreSinkWrite.Provider writeProvider, String commitUser) {
        return coordinatorCommitEnabled()
                ? new CoordinatorCommittingFactory(
                        table, writeProvider, commitUser, createCommitterFactory())
                : createNoStateRowWriteOperatorFactory(table, writeProvider, commitUser);
    }

    @Override
    protected CommittableStateManager<ManifestCommittable> createCommittableStateManager() {
        return createRestoreOnlyCommittableStateManager(table);
    }

    /**
     * @throws IllegalArgumentException when the coordinator-commit path is asked for and cannot
     *     serve this table or job
     */
    @Override
    public DataStreamSink<?> doCommit(DataStream<Committable> written, String commitUser) {
        if (!coordinatorCommitEnabled()) {
            return super.doCommit(written, commitUser);
        }
        StreamExecutionEnvironment env = written.getExecutionEnvironment();
        CoordinatorCommitPreconditions.checkTable(table);
        CoordinatorCommitPreconditions.checkJob(isStreaming(env), env.getCheckpointConfig());
        CoordinatorCommitPreconditions.checkBoundedSources(
                env.getConfiguration()
                        .get(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH),
                written.getTransformation());
        // By its end Flink's lineage knows which table is written.
        return written.sinkTo(new PaimonDiscardingSink<>(table))
                .name("end")
                .setParallelism(written.getParallelism());
    }

    /** Makes the writers, and the coordinator that commits for them. */
    private static final class CoordinatorCommittingFactory
            extends RowDataStoreWriteOperator.Factory
            implements CoordinatedOperatorFactory<Committable> {

        private static final long serialVersionUID = 2L;

        private final Committer.Factory<Committable, ManifestCommittable> committerFactory;

        private CoordinatorCommittingFactory(
                FileStoreTable table,
                StoreSinkWrite.Provider writeProvider,
                String initialCommitUser,
                Committer.Factory<Committable, ManifestCommittable> committerFactory) {
            super(table, writeProvider, initialCommitUser);
            this.committerFactory = committerFactory;
        }

        @Override
        public OperatorCoordinator.Provider getCoordinatorProvider(
                String operatorName, OperatorID operatorId) {
            return new CommittingWriteOperatorCoordinator.Provider(
                    operatorId, table, committerFactory, initialCommitUser);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <OpT extends StreamOperator<Committable>> OpT createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            OperatorID operatorId = parameters.getStreamConfig().getOperatorID();
            return (OpT)
                    new CoordinatorCommittingRowDataStoreWriteOperator(
                            parameters,
                            table,
                            storeSinkWriteProvider,
                            initialCommitUser,
                            parameters
                                    .getOperatorEventDispatcher()
                                    .getOperatorEventGateway(operatorId),
                            Options.fromMap(table.options())
                                    .get(FlinkConnectorOptions.SINK_AUTO_TAG_FOR_SAVEPOINT));
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return CoordinatorCommittingRowDataStoreWriteOperator.class;
        }
    }
}
