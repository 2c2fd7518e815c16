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
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter.BeforeCommit;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.SnapshotPosition;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A7: finds snapshots of our commit user that somebody else has committed: another JobManager that
 * has taken over, or a second job that was started from the same savepoint.
 *
 * <p>One object serves all attempts of a coordinator within one JobMaster. What was in the table
 * before the first of them is history and not looked at. The place up to which nothing foreign was
 * found moves only when nothing was, so a foreign commit is found again after each restart.
 *
 * <p>Threads: the event loop of the current attempt.
 */
final class ForeignCommits implements BeforeCommit {

    private final String table;

    /** Which runs have committed for this job before a restore, and up to which identifier. */
    private final Map<String, Long> restoredRuns = new HashMap<>();

    /** The runs of the attempts so far. */
    private final Set<String> ownRuns = new HashSet<>();

    /** Who restores a checkpoint of ours commits in our name, what we have not begun to commit. */
    private long highestBegun = Long.MIN_VALUE;

    /** Up to here nothing foreign was found; null before the first start. */
    @Nullable private SnapshotPosition checked;

    private CommitRun run;

    ForeignCommits(String table) {
        this.table = table;
    }

    /** Whether an attempt has started before within this JobMaster. */
    boolean started() {
        return checked != null;
    }

    /**
     * An attempt starts.
     *
     * @param head the newest snapshot of the table
     * @return where to look from
     */
    SnapshotPosition start(SnapshotPosition head) {
        if (checked == null) {
            checked = head;
        }
        return checked;
    }

    /**
     * Says whose snapshots are not foreign.
     *
     * @param restoredRunId the run of the restored checkpoint; null when it names none
     * @param restoredCheckpointId up to here that run may still appear: a late commit of the
     *     JobManager before this one
     */
    void allow(CommitRun currentRun, @Nullable String restoredRunId, long restoredCheckpointId) {
        run = currentRun;
        ownRuns.add(run.runId());
        restoredRuns.merge(key(restoredRunId), restoredCheckpointId, Math::max);
    }

    @Override
    public List<Snapshot> look(CommitUserSnapshots snapshots) throws IOException {
        List<Snapshot> appeared = snapshots.look();
        for (Snapshot snapshot : appeared) {
            if (snapshots.isOwn(snapshot) && !isOurs(snapshot)) {
                throw new ForeignCommitException(message(snapshot));
            }
        }
        checked = snapshots.seen();
        return appeared;
    }

    @Override
    public void committing(long identifier) {
        highestBegun = Math.max(highestBegun, identifier);
    }

    private boolean isOurs(Snapshot snapshot) {
        String runId = key(CommitProperties.runId(snapshot));
        long identifier = snapshot.commitIdentifier();
        return ownRuns.contains(runId) && identifier <= highestBegun
                || identifier <= restoredRuns.getOrDefault(runId, Long.MIN_VALUE);
    }

    /** A map key for snapshots that name no run, as those of other builds. */
    private static String key(@Nullable String runId) {
        return runId == null ? "" : runId;
    }

    private String message(Snapshot foreign) {
        return String.format(
                "Snapshot %d of table %s with identifier %d was committed by %s, and this is job %s"
                        + " (run %s); both are commit user %s. Either two jobs were"
                        + " started from one savepoint, or another JobManager has taken over this"
                        + " job. Nothing more is committed here. Stop both jobs and start the one to"
                        + " keep from its newest checkpoint; or give one of them another"
                        + " sink.operator-uid.suffix, which starts it with a commit user of its own"
                        + " and loses what it has not committed.",
                foreign.id(),
                table,
                foreign.commitIdentifier(),
                committer(foreign),
                run.jobId(),
                run.runId(),
                foreign.commitUser());
    }

    private static String committer(Snapshot foreign) {
        String runId = CommitProperties.runId(foreign);
        return runId == null
                ? "a job that does not say which (another build, or the operator path)"
                : String.format("job %s (run %s)", CommitProperties.jobId(foreign), runId);
    }
}
