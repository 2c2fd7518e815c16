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
import org.apache.paimon.fs.Path;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.SnapshotPosition;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.tag.TableFiles;

import org.apache.flink.api.common.state.ListState;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;

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
 * no tag. T10: the snapshot is looked for behind the newest one before the commit. A4, A5: see
 * {@link RestoredCommits} for what counts as committed after a restore. A7: {@link BeforeCommit}.
 *
 * <p><b>Recovery.</b> Its state holds a {@link CommitProgress}. What a restored checkpoint holds is
 * committed in the name of that checkpoint's run, since every restore of it recovers the same.
 */
public final class SavepointTaggingCommitter
        implements Committer<Committable, ManifestCommittable> {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTaggingCommitter.class);

    private final Committer<Committable, ManifestCommittable> delegate;
    private final CommitUserSnapshots snapshots;
    private final RestoredCommits restored;
    private final TableFiles files;
    private final TableCreation creation;
    private final long tableCreationMillis;
    private final ListState<byte[]> progressState;
    private final CommitRun run;

    /** Null when savepoints are not to be tagged. */
    @Nullable private final SavepointTagger tagger;

    private final TaggedSavepoints tagged;
    private final BeforeCommit beforeCommit;

    /**
     * Savepoints that are to be tagged once they are committed, and where they are written (L1);
     * null where that is not known.
     */
    private final NavigableMap<Long, String> savepoints = new TreeMap<>();

    /** How many writers have reported these savepoints, where that is known. */
    private final Map<Long, Integer> reportedBy = new HashMap<>();

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
        this.files = files;
        this.creation = creation;
        this.tableCreationMillis = creation.timeMillis();
        this.progressState = progressState;
        this.run = run;
        this.tagger = tagger;
        this.tagged = tagged;
        this.beforeCommit = beforeCommit;
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
        return tagger != null;
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
        if (path != null || !savepoints.containsKey(savepointId)) {
            savepoints.put(savepointId, path);
        }
    }

    /**
     * The same on the coordinator path, for the line in the log.
     *
     * @param writers how many have reported it; all that took part, or it would not be tagged
     */
    void savepoint(long savepointId, @Nullable String path, int writers) {
        savepoint(savepointId, path);
        reportedBy.put(savepointId, writers);
    }

    /** Savepoints that are neither tagged nor given up, in ascending order. */
    public Collection<Long> pendingSavepoints() {
        return Collections.unmodifiableCollection(savepoints.keySet());
    }

    /** A1: the savepoint will never complete; a tag that it already has is deleted. */
    public void abort(long savepointId) {
        savepoints.remove(savepointId);
        Optional<Snapshot> snapshot = tagged.snapshot(savepointId);
        if (tagger != null && snapshot.isPresent()) {
            tagger.deleteTag(savepointId, snapshot.get());
        }
        // A8: not before it is deleted, or nobody would try again.
        tagged.remove(savepointId);
    }

    /** The snapshot on which this process has begun a savepoint's tag; empty when it has not. */
    Optional<Snapshot> snapshotWithTag(long savepointId) {
        return tagged.snapshot(savepointId);
    }

    /**
     * L2: the savepoint never completed; a tag that an earlier process gave it is deleted. T5: the
     * identifier may have been used before, for a savepoint in another place.
     */
    void withdraw(long savepointId, String path) {
        restored.snapshot(savepointId)
                .filter(snapshot -> path.equals(CommitProperties.savepointPath(snapshot)))
                .ifPresent(snapshot -> withdraw(savepointId, snapshot));
    }

    /** The same, where the tagged snapshot is known. */
    public void withdraw(long savepointId, Snapshot snapshot) {
        savepoints.remove(savepointId);
        if (tagger != null) {
            tagger.deleteTag(savepointId, snapshot);
        }
        tagged.remove(savepointId);
    }

    /**
     * T8: everything up to this checkpoint is committed; savepoints up to it that had nothing to
     * commit stay without a tag.
     */
    public void dropSavepointsWithoutData(long checkpointId) {
        NavigableSet<Long> empty = savepoints.navigableKeySet().headSet(checkpointId, true);
        if (!empty.isEmpty()) {
            LOG.info("Nothing was written for the savepoints {}, so they get no tag.", empty);
            empty.clear();
        }
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
            boolean savepoint = savepoints.containsKey(last.identifier());
            if (savepoint) {
                CommitProperties.stampSavepoint(last, savepoints.get(last.identifier()));
            }
            if (savepoint || to == committables.size()) {
                look();
                beforeCommit.committing(last.identifier());
                delegate.commit(committables.subList(from, to));
                findCommitted(last.identifier(), run.runId());
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
        boolean known = restored.committed(identifier);
        ManifestCommittable committable = null;
        if (!known && restored.filesDecide()) {
            committable = committables.decode();
            known = restored.committed(identifier, committable.fileCommittables());
        }
        if (!known) {
            committable = committable == null ? committables.decode() : committable;
            known = committedMeanwhile(committable);
        }
        if (known) {
            repeatToListeners(
                    identifier, committable, committables, partitionMarkDoneRecoverFromState);
            tagRestored(identifier);
            return false;
        }
        return commitRestored(committable, partitionMarkDoneRecoverFromState);
    }

    /** Whether somebody else who recovers the same has committed it since the last look. */
    private boolean committedMeanwhile(ManifestCommittable committable) throws IOException {
        observeNew();
        return restored.committed(committable.identifier(), committable.fileCommittables());
    }

    private void observeNew() throws IOException {
        look().forEach(restored::observe);
        if (snapshots.rolledBack()) {
            restored.readAgain();
        } else if (snapshots.missed()) {
            restored.missed();
        }
    }

    /** Listeners of the commit may not have been told before the job died; the base does that. */
    private void repeatToListeners(
            long identifier,
            @Nullable ManifestCommittable decoded,
            Decoder committables,
            boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        if (newestIdentifier() < identifier) {
            return;
        }
        ManifestCommittable committable = decoded == null ? committables.decode() : decoded;
        // A7: the base would commit it again behind a newer snapshot with a lower identifier.
        observeNew();
        if (newestIdentifier() >= identifier) {
            delegate.filterAndCommit(
                    Collections.singletonList(committable),
                    true,
                    partitionMarkDoneRecoverFromState);
        }
    }

    /**
     * @return whether it was committed now
     */
    private boolean commitRestored(
            ManifestCommittable committable, boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        String runId = restored.runId().orElse(run.runId());
        CommitProperties.stamp(committable, run.jobId(), runId);
        boolean savepoint = savepoints.containsKey(committable.identifier());
        if (savepoint) {
            CommitProperties.stampSavepoint(committable, savepoints.get(committable.identifier()));
        }
        List<ManifestCommittable> single = Collections.singletonList(committable);
        beforeCommit.committing(committable.identifier());
        // Another course of the job may have used this identifier: the base leaves it out then.
        boolean used =
                restored.newestIdentifier().orElse(Long.MIN_VALUE) >= committable.identifier();
        if (!used
                && delegate.filterAndCommit(single, true, partitionMarkDoneRecoverFromState) == 0) {
            if (committedMeanwhile(committable)) {
                tagRestored(committable.identifier());
                return false;
            }
            used = true;
        }
        if (used) {
            commitUnfiltered(single);
        }
        findCommitted(committable.identifier(), runId);
        return true;
    }

    private void commitUnfiltered(List<ManifestCommittable> single) throws IOException {
        ManifestCommittable committable = single.get(0);
        Optional<Path> missing = files.missing(committable.fileCommittables());
        if (missing.isPresent()) {
            throw new IOException(
                    String.format(
                            "The commit with identifier %d cannot be recovered: its file %s does"
                                    + " not exist any more. The job was restored from a checkpoint"
                                    + " that is too old; restore a newer one.",
                            committable.identifier(), missing.get()));
        }
        try {
            delegate.commit(single);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted in a commit.", e);
        }
    }

    /** Asked each time: what is not in the table any more, the base would commit again. */
    private long newestIdentifier() {
        return restored.newestIdentifier().orElseGet(snapshots::newestOwnIdentifier);
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
        look();
        progressState.update(
                Collections.singletonList(
                        new CommitProgress(
                                        checkpointId,
                                        run.runId(),
                                        committedUpTo,
                                        tableCreationMillis,
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

    // ------------------------------------------------------------------------

    private List<Snapshot> look() throws IOException {
        boolean empty = snapshots.seen().equals(SnapshotPosition.START);
        List<Snapshot> appeared = beforeCommit.look(snapshots);
        if (empty || snapshots.rolledBack()) {
            creation.require(tableCreationMillis);
        }
        return appeared;
    }

    /** Tags the savepoints that were committed before this committer was put over the other. */
    public void tagCommittedSavepoints() {
        for (Long savepointId : new ArrayList<>(savepoints.keySet())) {
            if (restored.snapshot(savepointId).isPresent()) {
                tagRestored(savepointId);
            }
        }
    }

    /**
     * T10: what was committed since the last look is found, however much others commit. R2: the
     * newest own snapshot is known, although it may have expired when the next look comes.
     */
    private void findCommitted(long identifier, String runId) {
        Optional<Snapshot> snapshot = snapshots.findSinceLook(identifier, runId);
        if (!takeSavepoint(identifier) || tagger == null) {
            return;
        }
        if (snapshot.isPresent()) {
            tag(identifier, snapshot.get());
        } else {
            tagger.snapshotGone(identifier);
        }
    }

    private void tagRestored(long savepointId) {
        if (tagger == null || !takeSavepoint(savepointId) || tagged.contains(savepointId)) {
            return;
        }
        if (restored.decided(savepointId)) {
            // A4: its owner may have deleted the tag.
            return;
        }
        Optional<Snapshot> snapshot = restored.snapshot(savepointId);
        if (!snapshot.isPresent()) {
            tagger.snapshotGone(savepointId);
        } else if (CommitProperties.holdsCompleteCut(snapshot.get())) {
            tag(savepointId, snapshot.get());
        } else {
            LOG.info(
                    "Snapshot {} was committed for checkpoint {} before the restore, but not as the"
                            + " complete cut of a savepoint; it gets no tag.",
                    snapshot.get().id(),
                    savepointId);
        }
    }

    /** Whether the savepoint was still to be tagged; it is not any more. */
    private boolean takeSavepoint(long savepointId) {
        boolean expected = savepoints.containsKey(savepointId);
        savepoints.remove(savepointId);
        return expected;
    }

    private void tag(long savepointId, Snapshot snapshot) {
        tagged.begin(savepointId, snapshot);
        Optional<String> name = tagger.createTag(savepointId, snapshot);
        tagged.tagged(savepointId, name.orElse(null));
        if (name.isPresent()) {
            Integer writers = reportedBy.get(savepointId);
            String path = CommitProperties.savepointPath(snapshot);
            LOG.info(
                    "Savepoint {} at {}: {}committed as snapshot {}, tagged as {}.",
                    savepointId,
                    path == null ? "an unknown path" : path,
                    writers == null
                            ? ""
                            : "reported by " + writers + " of " + writers + " writers, ",
                    snapshot.id(),
                    name.get());
        }
        reportedBy.remove(savepointId);
    }
}
