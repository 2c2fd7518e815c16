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

import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.utils.SerializableSupplier;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

import java.time.Duration;
import java.util.List;

/**
 * Makes the {@link AutoTagForSavepointCommitterOperator} of the operator path.
 *
 * <p>The operator commits already while it restores its state, before it can be told anything, so
 * the committer that tags is put below it here (T3).
 */
public class AutoTagForSavepointCommitterOperatorFactory<CommitT, GlobalCommitT>
        extends AbstractStreamOperatorFactory<CommitT>
        implements OneInputStreamOperatorFactory<CommitT, CommitT> {

    private static final long serialVersionUID = 1L;

    private final CommitterOperatorFactory<CommitT, GlobalCommitT> commitOperatorFactory;
    private final SavepointTaggingCommitterFactory taggingCommitterFactory;

    public AutoTagForSavepointCommitterOperatorFactory(
            CommitterOperatorFactory<CommitT, GlobalCommitT> commitOperatorFactory,
            SerializableSupplier<SnapshotManager> snapshotManagerFactory,
            SerializableSupplier<TagManager> tagManagerFactory,
            SerializableSupplier<TagDeletion> tagDeletionFactory,
            SerializableSupplier<List<TagCallback>> callbacksSupplier,
            Duration tagTimeRetained) {
        this.commitOperatorFactory = commitOperatorFactory;
        this.taggingCommitterFactory =
                new SavepointTaggingCommitterFactory(
                        snapshotManagerFactory,
                        tagManagerFactory,
                        tagDeletionFactory,
                        callbacksSupplier,
                        tagTimeRetained,
                        true);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<CommitT>> T createStreamOperator(
            StreamOperatorParameters<CommitT> parameters) {
        OperatorPathCommitter tagging =
                OperatorPathCommitter.of(
                        taggingCommitterFactory, parameters.getContainingTask().getEnvironment());
        CommitterOperator<CommitT, GlobalCommitT> commitOperator =
                new CommitterOperatorFactory<>(
                                commitOperatorFactory.streamingCheckpointEnabled,
                                commitOperatorFactory.forceSingleParallelism,
                                commitOperatorFactory.initialCommitUser,
                                tagging.over(commitOperatorFactory.committerFactory),
                                commitOperatorFactory.committableStateManager,
                                commitOperatorFactory.endInputWatermark)
                        .createStreamOperator(parameters);
        return (T) new AutoTagForSavepointCommitterOperator<>(commitOperator, tagging);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return AutoTagForSavepointCommitterOperator.class;
    }
}
