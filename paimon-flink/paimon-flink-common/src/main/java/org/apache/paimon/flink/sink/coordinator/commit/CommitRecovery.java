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

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.fs.Path;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.TableFiles;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Commits what a restored checkpoint holds, unless it is in the table already, and has it tagged.
 *
 * <p>Threads: the committer's.
 *
 * <p><b>Promises.</b> A4: {@link RestoredCommits} says what is in the table; what is not is
 * committed in the name of the checkpoint's run, since every restore of that checkpoint recovers
 * the same. A5: what was committed before is tagged if it was not. A7: it looks right before each
 * commit whether another restore has committed it meanwhile.
 *
 * <p><b>Recovery.</b> It may be called again for what it has recovered, also after a failure.
 */
final class CommitRecovery {

    private final Committer<Committable, ManifestCommittable> delegate;
    private final CommitUserSnapshots snapshots;
    private final RestoredCommits restored;
    private final TableFiles files;
    private final CommitRun run;
    private final PendingSavepoints savepoints;
    private final SavepointTaggingCommitter.BeforeCommit beforeCommit;

    CommitRecovery(
            Committer<Committable, ManifestCommittable> delegate,
            CommitUserSnapshots snapshots,
            RestoredCommits restored,
            TableFiles files,
            CommitRun run,
            PendingSavepoints savepoints,
            SavepointTaggingCommitter.BeforeCommit beforeCommit) {
        this.delegate = delegate;
        this.snapshots = snapshots;
        this.restored = restored;
        this.files = files;
        this.run = run;
        this.savepoints = savepoints;
        this.beforeCommit = beforeCommit;
    }

    /**
     * @return whether it was committed now
     */
    boolean recover(
            long identifier,
            SavepointTaggingCommitter.Decoder committables,
            boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        ManifestCommittable committable = committables.decode();
        // A7: with everything decoded. Somebody else may have recovered the same meanwhile, or have
        // rolled the table back.
        observeNew();
        if (!restored.committed(identifier, committable.fileCommittables())) {
            return commitRestored(committable, partitionMarkDoneRecoverFromState);
        }
        if (!restored.committed(identifier)) {
            // Only its files show that it is in the table.
            snapshots.rememberExpired(
                    identifier,
                    runId(),
                    restored.newestPossible(identifier, committable.fileCommittables()));
        }
        // Listeners of the commit may not have been told before the job died; the base does that.
        // Behind a newer snapshot with a lower identifier it would commit once more.
        if (newestIdentifier() >= identifier) {
            delegate.filterAndCommit(
                    Collections.singletonList(committable),
                    true,
                    partitionMarkDoneRecoverFromState);
        }
        savepoints.tagRestored(identifier);
        return false;
    }

    private void observeNew() throws IOException {
        beforeCommit.look(snapshots).forEach(restored::observe);
        if (snapshots.rolledBack()) {
            restored.readAgain();
        } else if (snapshots.missed()) {
            restored.missed();
        }
    }

    /**
     * @return whether it was committed now
     */
    private boolean commitRestored(
            ManifestCommittable committable, boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        CommitProperties.stamp(committable, run.jobId(), runId());
        savepoints.stamp(committable);
        List<ManifestCommittable> single = Collections.singletonList(committable);
        beforeCommit.committing(committable.identifier());
        // Another course of the job may have used this identifier: the base leaves it out then.
        boolean used =
                restored.newestIdentifier().orElse(Long.MIN_VALUE) >= committable.identifier();
        if (!used
                && delegate.filterAndCommit(single, true, partitionMarkDoneRecoverFromState) == 0) {
            // The base leaves it out: somebody else has committed it since the look, or another
            // course has used its identifier.
            observeNew();
            if (restored.committed(committable.identifier(), committable.fileCommittables())) {
                savepoints.tagRestored(committable.identifier());
                return false;
            }
            used = true;
        }
        if (used) {
            commitUnfiltered(single);
        }
        savepoints.tagCommitted(
                committable.identifier(),
                snapshots.findSinceLook(committable.identifier(), runId()));
        return true;
    }

    /** In whose name the checkpoint is recovered. */
    private String runId() {
        return restored.runId().orElse(run.runId());
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
}
