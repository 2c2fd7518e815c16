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

import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.state.OperatorBackendStateStore;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.utils.SerializableSupplier;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.metrics.groups.OperatorMetricGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamTaskStateInitializer;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

import javax.annotation.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The committer operator of the operator path, which tags savepoints.
 *
 * <p>It tells its {@link SavepointTaggingCommitter} which checkpoints are savepoints and which were
 * aborted, remembers the open ones in its state, and passes everything else to the operator it
 * wraps. Threads: the task's.
 *
 * <p><b>Promises.</b> T9: names, creates and deletes tags by the same code as the coordinator path.
 * T3, T8, A1: see {@link SavepointTaggingCommitter}. A5, A8: what the restored state says is still
 * to be tagged is tagged while the operator restores. S3: the state's name is the base release's.
 */
public class AutoTagForSavepointCommitterOperator<CommitT, GlobalCommitT>
        implements OneInputStreamOperator<CommitT, CommitT>, BoundedOneInput {

    public static final String SAVEPOINT_TAG_PREFIX = SavepointTagger.TAG_PREFIX;

    private static final long serialVersionUID = 3L;

    /** What is committed is not in the operator's state, so nobody has to tell it apart. */
    private static final long NOTHING_COMMITTED = -1;

    private final CommitterOperator<CommitT, GlobalCommitT> commitOperator;
    private final OperatorPathCommitter taggingCommitters;

    private transient SavepointTaggingCommitter committer;
    private transient ListState<Long> savepointsState;

    AutoTagForSavepointCommitterOperator(
            CommitterOperator<CommitT, GlobalCommitT> commitOperator,
            OperatorPathCommitter taggingCommitters) {
        this.commitOperator = commitOperator;
        this.taggingCommitters = taggingCommitters;
    }

    public AutoTagForSavepointCommitterOperator(
            CommitterOperator<CommitT, GlobalCommitT> commitOperator,
            SerializableSupplier<SnapshotManager> snapshotManagerFactory,
            SerializableSupplier<TagManager> tagManagerFactory,
            SerializableSupplier<TagDeletion> tagDeletionFactory,
            SerializableSupplier<List<TagCallback>> callbacksSupplier,
            @Nullable Duration tagTimeRetained) {
        this(
                commitOperator,
                OperatorPathCommitter.of(
                        new SavepointTaggingCommitterFactory(
                                snapshotManagerFactory,
                                tagManagerFactory,
                                tagDeletionFactory,
                                callbacksSupplier,
                                tagTimeRetained,
                                true)));
    }

    // ------------------------------------------------------------------------
    //  Savepoints
    // ------------------------------------------------------------------------

    @Override
    public void initializeState(StreamTaskStateInitializer streamTaskStateManager)
            throws Exception {
        commitOperator.initializeState(streamTaskStateManager);
        savepointsState =
                commitOperator
                        .getOperatorStateBackend()
                        .getListState(SavepointTaggingCommitterFactory.SAVEPOINTS_STATE);
        committer = taggingCommitter();
        committer.recovered();
    }

    @SuppressWarnings("unchecked")
    private SavepointTaggingCommitter taggingCommitter() {
        Committer<?, ?> present = commitOperator.committer;
        if (present instanceof SavepointTaggingCommitter) {
            return (SavepointTaggingCommitter) present;
        }
        // The operator was not made by our factory: it has restored and committed without us.
        SavepointTaggingCommitter tagging =
                taggingCommitters.over(
                        (Committer<Committable, ManifestCommittable>) present,
                        commitOperator.getCommitUser(),
                        new OperatorBackendStateStore(commitOperator.getOperatorStateBackend()),
                        commitOperator.getMetricGroup());
        tagging.tagCommittedSavepoints();
        commitOperator.committer = (Committer<CommitT, GlobalCommitT>) (Committer<?, ?>) tagging;
        return tagging;
    }

    @Override
    public OperatorSnapshotFutures snapshotState(
            long checkpointId,
            long timestamp,
            CheckpointOptions checkpointOptions,
            CheckpointStreamFactory storageLocation)
            throws Exception {
        if (checkpointOptions.getCheckpointType().isSavepoint()) {
            committer.savepoint(checkpointId, SavepointLocation.pathOf(checkpointOptions));
        }
        savepointsState.update(new ArrayList<>(committer.pendingSavepoints()));
        committer.updateProgress(checkpointId, NOTHING_COMMITTED);
        return commitOperator.snapshotState(
                checkpointId, timestamp, checkpointOptions, storageLocation);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        commitOperator.notifyCheckpointComplete(checkpointId);
        committer.dropSavepointsWithoutData(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        commitOperator.notifyCheckpointAborted(checkpointId);
        committer.abort(checkpointId);
    }

    // ------------------------------------------------------------------------
    //  Passed on
    // ------------------------------------------------------------------------

    @Override
    public void open() throws Exception {
        commitOperator.open();
    }

    @Override
    public void processElement(StreamRecord<CommitT> element) throws Exception {
        commitOperator.processElement(element);
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        commitOperator.processWatermark(mark);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus watermarkStatus) throws Exception {
        commitOperator.processWatermarkStatus(watermarkStatus);
    }

    @Override
    public void processLatencyMarker(LatencyMarker latencyMarker) throws Exception {
        commitOperator.processLatencyMarker(latencyMarker);
    }

    @Override
    public void finish() throws Exception {
        commitOperator.finish();
    }

    @Override
    public void close() throws Exception {
        commitOperator.close();
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        commitOperator.prepareSnapshotPreBarrier(checkpointId);
    }

    @Override
    public void endInput() throws Exception {
        commitOperator.endInput();
    }

    @Override
    public void setKeyContextElement1(StreamRecord<?> record) throws Exception {
        commitOperator.setKeyContextElement1(record);
    }

    @Override
    public void setKeyContextElement2(StreamRecord<?> record) throws Exception {
        commitOperator.setKeyContextElement2(record);
    }

    @Override
    public void setKeyContextElement(StreamRecord<CommitT> record) throws Exception {
        commitOperator.setKeyContextElement(record);
    }

    @Override
    public OperatorMetricGroup getMetricGroup() {
        return commitOperator.getMetricGroup();
    }

    @Override
    public OperatorID getOperatorID() {
        return commitOperator.getOperatorID();
    }

    @Override
    public void setCurrentKey(Object key) {
        commitOperator.setCurrentKey(key);
    }

    @Override
    public Object getCurrentKey() {
        return commitOperator.getCurrentKey();
    }
}
