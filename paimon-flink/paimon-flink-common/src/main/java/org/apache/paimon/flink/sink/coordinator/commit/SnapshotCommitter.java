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
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.OwnSnapshot;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SnapshotPosition;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * Turns the batches of the {@link CommitLedger} into snapshots and tags, in order.
 *
 * <p>Used by the coordinator's event loop only. Everything that blocks is in here.
 *
 * <p><b>Promises.</b> T3: one identifier is committed after the other, and a savepoint's tag is
 * created before the next one. T8: what is empty makes no snapshot, unless the table forces one.
 * A7: right before each commit, with everything decoded, it looks whether it was cancelled, and
 * whether somebody else commits as the same commit user. W3: a report that cannot be decoded names
 * subtask, attempt and checkpoint.
 *
 * <p><b>Recovery.</b> {@link #recover} is given what was restored, committed or not, and does only
 * what is missing; any number of times.
 */
public final class SnapshotCommitter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotCommitter.class);

    private final SavepointTaggingCommitter committer;
    private final CommitRun run;
    private final ForeignCommits foreignCommits;
    private final CommitStatistics statistics;
    private final UnconfirmedSavepoints unconfirmed;
    private final CheckpointCommittablesSerializer serializer;
    private final boolean partitionMarkDoneRecoverFromState;
    private final BooleanSupplier cancelled;

    /**
     * @param cancelled whether no further side effect may be started
     */
    public SnapshotCommitter(
            SavepointTaggingCommitter committer,
            CommitRun run,
            ForeignCommits foreignCommits,
            CommitStatistics statistics,
            UnconfirmedSavepoints unconfirmed,
            CheckpointCommittablesSerializer serializer,
            boolean partitionMarkDoneRecoverFromState,
            BooleanSupplier cancelled) {
        this.committer = committer;
        this.run = run;
        this.foreignCommits = foreignCommits;
        this.statistics = statistics;
        this.unconfirmed = unconfirmed;
        this.serializer = serializer;
        this.partitionMarkDoneRecoverFromState = partitionMarkDoneRecoverFromState;
        this.cancelled = cancelled;
    }

    /** A7: what to look at right before each commit. */
    public static SavepointTaggingCommitter.BeforeCommit unlessCancelled(
            ForeignCommits foreignCommits, BooleanSupplier cancelled) {
        return new SavepointTaggingCommitter.BeforeCommit() {
            @Override
            public List<Snapshot> look(CommitUserSnapshots snapshots) throws IOException {
                if (cancelled.getAsBoolean()) {
                    throw new CancellationException("This coordinator was closed.");
                }
                return foreignCommits.look(snapshots);
            }

            @Override
            public void committing(long identifier) {
                foreignCommits.committing(identifier);
            }
        };
    }

    /**
     * Looks at the table before anything is committed to it.
     *
     * @param restoredCheckpointId the checkpoint that the job is restored from, -1 for none
     * @throws IllegalStateException R2: when the table was rolled back further than the checkpoint,
     *     at the first start within this JobMaster
     * @throws ForeignCommitException A7
     */
    public void start(long restoredCheckpointId) throws IOException {
        RestoredCommits restored = committer.restored();
        CommitUserSnapshots snapshots = committer.snapshots();
        // Before the table is read: what appears from now on is seen by the looks.
        SnapshotPosition head = snapshots.head();
        if (restored.progress().isPresent()) {
            Optional<String> lost = restored.lostHistory();
            if (lost.isPresent()) {
                refuseOrWarn(restored.progress().get(), lost.get());
                restored.ignoreProgress();
            }
        }
        OwnSnapshot newestOwn =
                restored.progress()
                        .map(
                                progress ->
                                        restored.newest(restoredCheckpointId)
                                                .map(OwnSnapshot::of)
                                                .orElse(progress.newestOwn()))
                        .orElse(null);
        boolean first = !foreignCommits.started();
        snapshots.lookFrom(foreignCommits.start(head), newestOwn);
        foreignCommits.allow(run, restored.runId().orElse(null), restoredCheckpointId);
        foreignCommits.look(snapshots).forEach(restored::observe);
        if (first && restoredCheckpointId >= 0) {
            warnOfLaterCommits(restored, restoredCheckpointId);
        }
        if (committer.tagsSavepoints()) {
            unconfirmed.restore(restoredCheckpointId, restored::savepoints);
        }
    }

    private void refuseOrWarn(CommitProgress progress, String lost) {
        if (foreignCommits.started()) {
            LOG.warn(
                    "Checkpoint {} knows {} as the newest of this job, but {}: the table was rolled"
                            + " back while the job was running. Rows are missing that nobody writes"
                            + " again.",
                    progress.checkpointId(),
                    progress.newestOwn(),
                    lost);
            return;
        }
        throw new IllegalStateException(
                String.format(
                        "Checkpoint %d knows %s as the newest of this job, but %s: the table was"
                                + " rolled back further than the checkpoint, or is another table."
                                + " Rows would be missing that nobody writes again. Restore the"
                                + " savepoint that the table was rolled back to, or an older one; or"
                                + " give the sink another sink.operator-uid.suffix, which starts it"
                                + " afresh.",
                        progress.checkpointId(), progress.newestOwn(), lost));
    }

    /** A7: what was in the table at the first start is history. */
    private static void warnOfLaterCommits(RestoredCommits restored, long restoredCheckpointId) {
        Optional<Snapshot> later = restored.laterThan(restoredCheckpointId);
        later.ifPresent(
                snapshot ->
                        LOG.warn(
                                "The table holds commits of this job that are later than the"
                                        + " restored checkpoint {}, up to checkpoint {} in snapshot"
                                        + " {} (run {}). What the sources emit again is written"
                                        + " again: roll the table back to the tag of the savepoint"
                                        + " before restoring from it.{}",
                                restoredCheckpointId,
                                snapshot.commitIdentifier(),
                                snapshot.id(),
                                CommitProperties.runId(snapshot),
                                orRestore(CommitProperties.savepointPath(snapshot))));
    }

    /** A8: a stop that is committed, whose job high availability starts from before it. */
    private static String orRestore(@Nullable String savepointPath) {
        return savepointPath == null
                ? ""
                : " Or restore the savepoint that this snapshot was committed for: "
                        + savepointPath
                        + ".";
    }

    /** A4: everything up to this checkpoint was committed and tagged before the restore. */
    public long committedUpTo() {
        return committer.restored().committedBefore();
    }

    /** A4: whether the table has a snapshot with this identifier, committed before the restore. */
    public boolean hasSnapshot(long identifier) {
        return committer.restored().hasSnapshot(identifier);
    }

    /** Commits the batches of a checkpoint that completed. */
    public void commit(long completedCheckpointId, List<CommitBatch> batches)
            throws IOException, InterruptedException {
        for (CommitBatch batch : batches) {
            if (!makesSnapshot(batch, batch.checkpointId() == completedCheckpointId)) {
                if (batch.completeSavepoint() && committer.tagsSavepoints()) {
                    LOG.info(
                            "Savepoint {} at {}: reported by {} of {} writers, without data: no"
                                    + " snapshot, so no tag.",
                            batch.checkpointId(),
                            batch.savepointPath() == null
                                    ? "an unknown path"
                                    : batch.savepointPath(),
                            batch.reports(),
                            batch.reports());
                }
                continue;
            }
            checkNotCancelled(batch);
            expectSavepoint(batch);
            LOG.debug("Committing {}.", batch);
            long began = statistics.commitBegins();
            try {
                committer.commit(Collections.singletonList(decodeAndRelease(batch)));
            } finally {
                if (batch.completeSavepoint() && batch.checkpointId() != completedCheckpointId) {
                    // L2: overtaken by a later checkpoint. Also when only half of the tag is there.
                    committer
                            .snapshotWithTag(batch.checkpointId())
                            .ifPresent(begun -> unconfirmed.tagBegun(batch.checkpointId(), begun));
                }
            }
            statistics.committed(began);
        }
        unconfirmed.look();
    }

    /** Commits and tags of the restored batches what was not committed or tagged before. */
    public void recover(long restoredCheckpointId, List<CommitBatch> batches) throws IOException {
        for (CommitBatch batch : batches) {
            if (!makesSnapshot(batch, false)) {
                continue;
            }
            checkNotCancelled(batch);
            boolean withdrawn =
                    committer.tagsSavepoints()
                            && batch.completeSavepoint()
                            && unconfirmed.neverCompleted(
                                    batch.checkpointId(),
                                    batch.savepointPath(),
                                    restoredCheckpointId);
            if (!withdrawn) {
                expectSavepoint(batch);
            }
            long began = statistics.commitBegins();
            boolean committed =
                    committer.recover(
                            batch.checkpointId(),
                            () -> decodeAndRelease(batch),
                            partitionMarkDoneRecoverFromState);
            if (committed) {
                statistics.committed(began);
            }
            LOG.info(
                    "Restored checkpoint {}: {} for checkpoint {}.",
                    restoredCheckpointId,
                    committed ? "committed now" : "was committed before",
                    batch.checkpointId());
            if (withdrawn) {
                committer.withdraw(batch.checkpointId(), batch.savepointPath());
            }
        }
    }

    private void expectSavepoint(CommitBatch batch) {
        if (batch.completeSavepoint()) {
            committer.savepoint(batch.checkpointId(), batch.savepointPath(), batch.reports());
        }
    }

    /** A1: deletes the tag that an aborted savepoint already has. */
    public void abort(long savepointId) {
        unconfirmed.aborted(savepointId);
        committer.abort(savepointId);
    }

    /**
     * L2: the job ends, and with it the savepoints that have not completed.
     *
     * @param aborted A1: those whose abort has reached a session that had failed
     */
    public void giveUpSavepoints(List<Long> aborted) {
        for (Long savepointId : aborted) {
            UnconfirmedSavepoints.atTheEnd(savepointId, () -> abort(savepointId));
        }
        unconfirmed.giveUp();
    }

    /** Everything up to the given checkpoint is committed and tagged. */
    public void snapshotState(long checkpointId, long committedUpTo) throws Exception {
        committer.updateProgress(checkpointId, committedUpTo);
        unconfirmed.snapshotState(checkpointId);
        committer.snapshotState();
    }

    /** Nothing is known to be committed but what was before the restore. */
    public void snapshotRestoredState(long checkpointId) throws Exception {
        committer.keepRestoredProgress(checkpointId);
        unconfirmed.snapshotState(checkpointId);
        committer.snapshotState();
    }

    @Override
    public void close() throws Exception {
        committer.close();
    }

    // ------------------------------------------------------------------------

    private boolean makesSnapshot(CommitBatch batch, boolean completed) {
        return batch.hasFiles()
                || (committer.forceCreatingSnapshot()
                        && (completed
                                || (committer.tagsSavepoints() && batch.completeSavepoint())));
    }

    private void checkNotCancelled(CommitBatch batch) {
        if (cancelled.getAsBoolean()) {
            throw new CancellationException(
                    "This coordinator was closed; its successor commits " + batch + ".");
        }
    }

    /** The batch's reports are gone afterwards: their bytes are free as they are decoded. */
    private ManifestCommittable decodeAndRelease(CommitBatch batch) throws IOException {
        ManifestCommittable committable =
                committer.combine(
                        batch.checkpointId(),
                        batch.watermark(),
                        Collections.<Committable>emptyList());
        for (CommitBatch.Entry entry = batch.releaseNext();
                entry != null;
                entry = batch.releaseNext()) {
            for (Committable file : decode(batch, entry)) {
                committable.addFileCommittable(file.commitMessage());
            }
        }
        return committable;
    }

    private List<Committable> decode(CommitBatch batch, CommitBatch.Entry entry)
            throws ReportProtocolException {
        try {
            return entry.report().decode(serializer).committables();
        } catch (IOException e) {
            throw new ReportProtocolException(
                    entry.subtask(),
                    entry.attempt(),
                    batch.checkpointId(),
                    "its report cannot be decoded. " + e.getMessage(),
                    e);
        }
    }
}
