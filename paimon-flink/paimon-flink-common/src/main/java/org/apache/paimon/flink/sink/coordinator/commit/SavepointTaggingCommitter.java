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

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.AutoTagForSavepointCommitterOperator;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.tag.TableFiles;

import org.apache.flink.api.common.state.ListState;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A committer that marks its snapshots with its run, recovers after a restore by that, and tags the
 * snapshots of savepoints.
 *
 * <p><b>Who uses it.</b> Both commit paths (T9): {@link AutoTagForSavepointCommitterOperator} on
 * its task's thread, and the coordinator on its event loop. One thread at a time.
 *
 * <p><b>Promises.</b> T3: a list of committables is committed in pieces, each up to a savepoint,
 * and the tag is created between two pieces; whatever expires snapshots at the end of a piece finds
 * the savepoint snapshot as the newest one. T8: a savepoint without a committable of its own gets
 * no tag ({@link PendingSavepoints}). T10: the snapshot is looked for behind the newest one before
 * the commit. A4, A5: see {@link RestoredCommits} for what counts as committed after a restore. A7:
 * {@link BeforeCommit}.
 *
 * <p><b>Recovery.</b> Its state holds a {@link CommitProgress}. {@link CommitRecovery} commits what
 * a restored checkpoint holds.
 */
public final class SavepointTaggingCommitter
        implements Committer<Committable, ManifestCommittable> {

    private final Committer<Committable, ManifestCommittable> delegate;
    private final CommitUserSnapshots snapshots;
    private final RestoredCommits restored;
    private final ListState<byte[]> progressState;
    private final CommitRun run;
    private final PendingSavepoints savepoints;
    private final SameTableCheck beforeCommit;
    private final CommitRecovery recovery;

    /** Whether the operator path still recovers what its restored state holds. */
    private boolean recovering = true;

    /**
     * @param restored what the restored checkpoint knows of earlier commits
     * @param tagger null when savepoints are not to be tagged
     * @param tagged what this process has tagged before
     */
    public SavepointTaggingCommitter(
            Committer<Committable, ManifestCommittable> delegate,
            CommitUserSnapshots snapshots,
            RestoredCommits restored,
            TableFiles files,
            TableCreation creation,
            ListState<byte[]> progressState,
            CommitRun run,
            @Nullable SavepointTagger tagger,
            TaggedSavepoints tagged,
            BeforeCommit beforeCommit) {
        this.delegate = delegate;
        this.snapshots = snapshots;
        this.restored = restored;
        this.progressState = progressState;
        this.run = run;
        this.savepoints = new PendingSavepoints(restored, tagger, tagged);
        this.beforeCommit = new SameTableCheck(beforeCommit, creation);
        this.recovery =
                new CommitRecovery(
                        delegate, snapshots, restored, files, run, savepoints, this.beforeCommit);
    }

    /** A7: called right before each commit, with everything decoded. */
    public interface BeforeCommit {

        /**
         * Looks at what has appeared in the table since the last look.
         *
         * @return the snapshots that have appeared
         * @throws IOException when this committer must not commit any more
         */
        List<Snapshot> look(CommitUserSnapshots snapshots) throws IOException;

        /** A commit is about to begin; called after the look. */
        default void committing(long identifier) {}

        /** Looks at nothing, and remembers where the table's newest snapshot is. */
        static BeforeCommit mark() {
            return snapshots -> {
                snapshots.skipToHead();
                return Collections.emptyList();
            };
        }
    }

    /** Makes a committable out of bytes, when it turns out to be needed. */
    public interface Decoder {

        ManifestCommittable decode() throws IOException;
    }

    // ------------------------------------------------------------------------
    //  Savepoints
    // ------------------------------------------------------------------------

    /** Whether savepoints are tagged at all. */
    public boolean tagsSavepoints() {
        return savepoints.tagsSavepoints();
    }

    /** The snapshots of the table, as this committer has seen them. */
    public CommitUserSnapshots snapshots() {
        return snapshots;
    }

    /** What was committed before the restore. */
    public RestoredCommits restored() {
        return restored;
    }

    /** The checkpoint with this id is a savepoint: tag it when it gets committed. */
    public void savepoint(long savepointId) {
        savepoint(savepointId, null);
    }

    /**
     * The same, with what L1 says of its snapshot.
     *
     * @param path where the savepoint is written; null when that is not known
     */
    public void savepoint(long savepointId, @Nullable String path) {
        savepoints.add(savepointId, path);
    }

    /**
     * The same on the coordinator path, for the line in the log.
     *
     * @param writers how many have reported it; all that took part, or it would not be tagged
     */
    void savepoint(long savepointId, @Nullable String path, int writers) {
        savepoints.add(savepointId, path, writers);
    }

    /** Savepoints that are neither tagged nor given up, in ascending order. */
    public Collection<Long> pendingSavepoints() {
        return savepoints.ids();
    }

    /** A1: the savepoint will never complete; a tag that it already has is deleted. */
    public void abort(long savepointId) {
        savepoints.abort(savepointId);
    }

    /** The snapshot on which this process has begun a savepoint's tag; empty when it has not. */
    Optional<Snapshot> snapshotWithTag(long savepointId) {
        return savepoints.snapshotWithTag(savepointId);
    }

    /**
     * L2: the savepoint never completed; a tag that an earlier process gave it is deleted. T5: the
     * identifier may have been used before, for a savepoint in another place.
     */
    void withdraw(long savepointId, String path) {
        savepoints.withdraw(savepointId, path);
    }

    /** The same, where the tagged snapshot is known. */
    public void withdraw(long savepointId, Snapshot snapshot) {
        savepoints.withdraw(savepointId, snapshot);
    }

    /** Tags the savepoints that were committed before this committer was put over the other. */
    public void tagCommittedSavepoints() {
        savepoints.tagRestored();
    }

    /**
     * T8: everything up to this checkpoint is committed; savepoints up to it that had nothing to
     * commit stay without a tag.
     */
    public void dropSavepointsWithoutData(long checkpointId) {
        savepoints.dropWithoutData(checkpointId);
    }

    // ------------------------------------------------------------------------
    //  Committer
    // ------------------------------------------------------------------------

    @Override
    public boolean forceCreatingSnapshot() {
        return delegate.forceCreatingSnapshot();
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId, long watermark, List<Committable> committables) throws IOException {
        return delegate.combine(checkpointId, watermark, committables);
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId,
            long watermark,
            ManifestCommittable manifestCommittable,
            List<Committable> committables) {
        return delegate.combine(checkpointId, watermark, manifestCommittable, committables);
    }

    @Override
    public Map<Long, List<Committable>> groupByCheckpoint(Collection<Committable> committables) {
        return delegate.groupByCheckpoint(committables);
    }

    @Override
    public void commit(List<ManifestCommittable> committables)
            throws IOException, InterruptedException {
        int from = 0;
        for (int to = 1; to <= committables.size(); to++) {
            ManifestCommittable last = committables.get(to - 1);
            CommitProperties.stamp(last, run.jobId(), run.runId());
            boolean savepoint = savepoints.stamp(last);
            if (savepoint || to == committables.size()) {
                beforeCommit.look(snapshots);
                beforeCommit.committing(last.identifier());
                delegate.commit(committables.subList(from, to));
                // T10: what was committed since the look is found, however much others commit. R2:
                // the newest own snapshot is known, although it may expire before the next look.
                savepoints.tagCommitted(
                        last.identifier(), snapshots.findSinceLook(last.identifier(), run.runId()));
                from = to;
            }
        }
    }

    /**
     * The operator path's recovery, until {@link #recovered}; later on the base calls this to
     * commit what it has at the end of input, which is its own affair.
     */
    @Override
    public int filterAndCommit(
            List<ManifestCommittable> committables,
            boolean checkAppendFiles,
            boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        if (!recovering) {
            for (ManifestCommittable committable : committables) {
                CommitProperties.stamp(committable, run.jobId(), run.runId());
            }
            return delegate.filterAndCommit(
                    committables, checkAppendFiles, partitionMarkDoneRecoverFromState);
        }
        int committed = 0;
        for (ManifestCommittable committable : committables) {
            boolean now =
                    recover(
                            committable.identifier(),
                            () -> committable,
                            partitionMarkDoneRecoverFromState);
            committed += now ? 1 : 0;
        }
        return committed;
    }

    /** The restored state is recovered. */
    public void recovered() {
        recovering = false;
    }

    /**
     * Commits what a restored checkpoint holds under an identifier, unless it is in the table
     * already, and tags it, unless it is tagged.
     *
     * @return whether it was committed now
     */
    public boolean recover(
            long identifier, Decoder committables, boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        return recovery.recover(identifier, committables, partitionMarkDoneRecoverFromState);
    }

    @Override
    public void snapshotState() throws Exception {
        delegate.snapshotState();
    }

    /**
     * Keeps what the checkpoint has to know of the commits before it.
     *
     * @param committedUpTo everything up to this identifier is committed and tagged
     */
    public void updateProgress(long checkpointId, long committedUpTo) throws Exception {
        beforeCommit.look(snapshots);
        progressState.update(
                Collections.singletonList(
                        new CommitProgress(
                                        checkpointId,
                                        run.runId(),
                                        committedUpTo,
                                        beforeCommit.creationMillis(),
                                        snapshots.seen(),
                                        snapshots.newestOwn())
                                .toBytes()));
    }

    /** A checkpoint knows no more than the restored one did: that was not recovered. */
    public void keepRestoredProgress(long checkpointId) throws Exception {
        List<byte[]> kept = new ArrayList<>(1);
        if (restored.progress().isPresent()) {
            kept.add(restored.progress().get().as(checkpointId).toBytes());
        }
        progressState.update(kept);
    }

    @Override
    public void close() throws Exception {
        delegate.close();
    }
}
