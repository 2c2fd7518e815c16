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

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.SavepointTaggingCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.OwnSnapshots;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * Turns the batches of the {@link CommitLedger} into snapshots and tags, in order.
 *
 * <p>Used by the coordinator's event loop only. Everything that blocks is in here.
 *
 * <p><b>Promises.</b> T3: one identifier is committed after the other, and a savepoint's tag is
 * created before the next one. T8: what is empty makes no snapshot, unless the table forces one.
 * A7: before each commit it looks whether it was cancelled, and whether its commit user has
 * meanwhile committed this or a later identifier by another hand. W3: a report that cannot be
 * decoded names subtask, attempt and checkpoint.
 *
 * <p><b>Recovery.</b> {@link #recover} is given what was restored, committed or not, and does only
 * what is missing; any number of times.
 */
public final class SnapshotCommitter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotCommitter.class);

    private final Committer<Committable, ManifestCommittable> committer;
    @Nullable private final SavepointTaggingCommitter tagging;
    private final OwnSnapshots ownSnapshots;
    private final CheckpointCommittablesSerializer serializer;
    private final boolean partitionMarkDoneRecoverFromState;
    private final BooleanSupplier cancelled;

    /** Identifier of this commit user's newest snapshot, as far as this committer knows. */
    private long lastCommitted = Long.MIN_VALUE;

    /**
     * @param committer a {@link SavepointTaggingCommitter} when savepoints are to be tagged
     * @param cancelled whether no further side effect may be started
     */
    public SnapshotCommitter(
            Committer<Committable, ManifestCommittable> committer,
            OwnSnapshots ownSnapshots,
            CheckpointCommittablesSerializer serializer,
            boolean partitionMarkDoneRecoverFromState,
            BooleanSupplier cancelled) {
        this.committer = committer;
        this.tagging =
                committer instanceof SavepointTaggingCommitter
                        ? (SavepointTaggingCommitter) committer
                        : null;
        this.ownSnapshots = ownSnapshots;
        this.serializer = serializer;
        this.partitionMarkDoneRecoverFromState = partitionMarkDoneRecoverFromState;
        this.cancelled = cancelled;
    }

    /** There is nothing to recover: what the table holds so far is of no concern. */
    void startAfresh() {
        ownSnapshots.ignoreExisting();
    }

    /** Commits the batches of a checkpoint that completed. */
    void commit(long completedCheckpointId, List<CommitBatch> batches)
            throws IOException, InterruptedException {
        for (CommitBatch batch : batches) {
            boolean completed = batch.checkpointId() == completedCheckpointId;
            if (!makesSnapshot(batch, completed)) {
                continue;
            }
            checkNotCancelled(batch);
            boolean tagged = tagging != null && batch.completeSavepoint();
            if (committedByAnother(batch)) {
                if (tagged) {
                    tagging.committedByAnother(batch.checkpointId());
                }
                continue;
            }
            if (tagged) {
                tagging.savepoint(batch.checkpointId());
            }
            LOG.info("Committing {}.", batch);
            committer.commit(Collections.singletonList(toManifestCommittable(batch)));
            lastCommitted = batch.checkpointId();
        }
    }

    /** Commits and tags of the restored batches what was not committed or tagged before. */
    void recover(long restoredCheckpointId, List<CommitBatch> batches) throws IOException {
        for (CommitBatch batch : batches) {
            if (!makesSnapshot(batch, false)) {
                continue;
            }
            checkNotCancelled(batch);
            if (tagging != null && batch.completeSavepoint()) {
                tagging.savepoint(batch.checkpointId());
            }
            long checkpointId = batch.checkpointId();
            int committed =
                    committer.filterAndCommit(
                            Collections.singletonList(toManifestCommittable(batch)),
                            true,
                            partitionMarkDoneRecoverFromState);
            LOG.info(
                    "Restored checkpoint {}: {} for checkpoint {}.",
                    restoredCheckpointId,
                    committed == 0 ? "was committed before" : "committed now",
                    checkpointId);
        }
        rememberLatest(restoredCheckpointId);
    }

    /** A1: deletes the tag that an aborted savepoint already has. */
    void abort(long savepointId) {
        if (tagging != null) {
            tagging.abort(savepointId);
        }
    }

    void snapshotState() throws Exception {
        committer.snapshotState();
    }

    @Override
    public void close() throws Exception {
        committer.close();
    }

    // ------------------------------------------------------------------------

    private boolean makesSnapshot(CommitBatch batch, boolean completed) {
        return !batch.isEmpty()
                || (committer.forceCreatingSnapshot()
                        && (completed || (tagging != null && batch.completeSavepoint())));
    }

    private void checkNotCancelled(CommitBatch batch) {
        if (cancelled.getAsBoolean()) {
            throw new CancellationException(
                    "This coordinator was closed; its successor commits " + batch + ".");
        }
    }

    /** A7: only what appeared since this committer's own last commit is by another hand. */
    private boolean committedByAnother(CommitBatch batch) {
        OptionalLong latest = ownSnapshots.latestIdentifier();
        if (!latest.isPresent()
                || latest.getAsLong() == lastCommitted
                || latest.getAsLong() < batch.checkpointId()) {
            return false;
        }
        LOG.warn(
                "Not committing {}: this job's commit user has committed identifier {} meanwhile,"
                        + " and not by this coordinator. Another JobManager must have taken over;"
                        + " this one should be gone.",
                batch,
                latest.getAsLong());
        return true;
    }

    private void rememberLatest(long restoredCheckpointId) {
        OptionalLong latest = ownSnapshots.latestIdentifier();
        if (!latest.isPresent()) {
            return;
        }
        lastCommitted = latest.getAsLong();
        if (lastCommitted > restoredCheckpointId) {
            LOG.warn(
                    "The table holds commits of this job up to checkpoint {}, later than the"
                            + " restored checkpoint {}. What the sources emit again is written"
                            + " again: roll the table back to the tag of the savepoint before"
                            + " restoring from it.",
                    lastCommitted,
                    restoredCheckpointId);
        }
    }

    private ManifestCommittable toManifestCommittable(CommitBatch batch) throws IOException {
        ManifestCommittable committable =
                committer.combine(
                        batch.checkpointId(),
                        batch.watermark(),
                        Collections.<Committable>emptyList());
        for (CommitBatch.Entry entry = batch.poll(); entry != null; entry = batch.poll()) {
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
