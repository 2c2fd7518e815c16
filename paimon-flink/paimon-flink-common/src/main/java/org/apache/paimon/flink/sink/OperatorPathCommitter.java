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

import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTagMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.coordinator.commit.TaggedSavepoints;
import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.SavepointTagStatistics;

import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.execution.Environment;

import java.io.Serializable;

/**
 * Puts a {@link SavepointTaggingCommitter} over the committer of one attempt of the operator path.
 */
final class OperatorPathCommitter implements Serializable {

    private static final long serialVersionUID = 1L;

    private final SavepointTaggingCommitterFactory committers;
    private final JobID jobId;
    private final long restoredCheckpointId;

    private OperatorPathCommitter(
            SavepointTaggingCommitterFactory committers, JobID jobId, long restoredCheckpointId) {
        this.committers = committers;
        this.jobId = jobId;
        this.restoredCheckpointId = restoredCheckpointId;
    }

    static OperatorPathCommitter of(
            SavepointTaggingCommitterFactory committers, Environment environment) {
        return new OperatorPathCommitter(
                committers,
                environment.getJobID(),
                environment
                        .getTaskStateManager()
                        .getRestoreCheckpointId()
                        .orElse(SavepointTaggingCommitterFactory.NO_CHECKPOINT));
    }

    /** For an operator that does not say what it was restored from. */
    static OperatorPathCommitter of(SavepointTaggingCommitterFactory committers) {
        return new OperatorPathCommitter(
                committers, new JobID(0, 0), SavepointTaggingCommitterFactory.NO_CHECKPOINT);
    }

    /** The same factory, whose committers tag, also while their operator restores. */
    @SuppressWarnings("unchecked")
    <CommitT, GlobalCommitT> Committer.Factory<CommitT, GlobalCommitT> over(
            Committer.Factory<CommitT, GlobalCommitT> factory) {
        return context ->
                (Committer<CommitT, GlobalCommitT>)
                        (Committer<?, ?>)
                                over(
                                        (Committer<Committable, ManifestCommittable>)
                                                factory.create(context),
                                        context.commitUser(),
                                        context.stateStore(),
                                        context.metricGroup());
    }

    /** A5: the savepoints in the restored state are still to be tagged. */
    SavepointTaggingCommitter over(
            Committer<Committable, ManifestCommittable> committer,
            String commitUser,
            StateStore stateStore,
            MetricGroup metricGroup) {
        SavepointTagStatistics statistics = new SavepointTagStatistics();
        try {
            SavepointTaggingCommitter tagging =
                    committers.over(
                            committer,
                            commitUser,
                            stateStore,
                            restoredCheckpointId,
                            CommitRun.begin(jobId.toHexString()),
                            new TaggedSavepoints(),
                            statistics,
                            SavepointTaggingCommitter.BeforeCommit.mark());
            for (Long savepointId :
                    stateStore
                            .getListState(SavepointTaggingCommitterFactory.SAVEPOINTS_STATE)
                            .get()) {
                tagging.savepoint(savepointId);
            }
            if (tagging.tagsSavepoints()) {
                SavepointTagMetrics.register(metricGroup, statistics);
            }
            return tagging;
        } catch (Exception e) {
            throw new IllegalStateException(
                    "What is still to be committed and tagged cannot be restored from the state of"
                            + " the committer: "
                            + e.getMessage(),
                    e);
        }
    }
}
