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

import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;
import org.apache.paimon.flink.sink.coordinator.report.ReportReceiver;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;

import javax.annotation.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * Which writer subtask reported what, and what of it may be committed and tagged.
 *
 * <p><b>What it is for.</b> All decisions of the coordinator-commit path are made here, as a
 * function of the calls so far, without thread, file or Flink runtime: a simulation can drive it
 * through any order of calls. All reports for checkpoint k are the <i>cut</i> k. A cut leaves the
 * ledger as a {@link CommitBatch} when its own or a later checkpoint completes, in ascending order.
 *
 * <p><b>Threads.</b> The coordinator's event loop, and nobody else.
 *
 * <p><b>Promises.</b> A1, A2: an abort drops the flag and keeps the files, also of reports that
 * come after it. A3: {@link #reset} breaks every cut newer than the checkpoint, for good. E2, E4: a
 * writer that has finished takes part in no later cut. W1: a checkpoint that completes without the
 * report of a writer that took part is a {@link ReportProtocolException}.
 *
 * <p><b>Recovery.</b> A4, A6: see {@link RestoredReports}. In a region failover a writer replays
 * alone, and what is committed or still here is not taken twice.
 */
public final class CommitLedger implements ReportReceiver.Listener {

    private static final int NEVER = -1;

    private final int parallelism;

    /** A1, A2: whether a checkpoint or savepoint was aborted; asked anew each time. */
    private final LongPredicate aborted;

    private final Writers writers;
    private final ReplayCheck replayCheck = new ReplayCheck();
    private final LedgerLoad load = new LedgerLoad();
    private final Cuts cuts;
    private final AlignedWatermark watermark = new AlignedWatermark();

    /** What is being restored; null when there is nothing (more) to recover. */
    @Nullable private RestoredReports restored;

    /** Highest id that {@link #align} or {@link #recover} was asked for. */
    private long lastAligned = NEVER;

    private boolean recoveredWithoutReplays;

    public CommitLedger(int parallelism, LongPredicate aborted) {
        this.parallelism = parallelism;
        this.aborted = aborted;
        this.cuts = new Cuts(parallelism, load);
        this.writers = new Writers(parallelism);
    }

    // ------------------------------------------------------------------------
    //  Restore
    // ------------------------------------------------------------------------

    /**
     * The writers will replay what they find in the state of this checkpoint.
     *
     * @param upTo everything up to here was committed and tagged before
     * @param hasSnapshot whether the table has a snapshot with an identifier of this course
     */
    public void restoring(long checkpointId, long upTo, LongPredicate hasSnapshot) {
        restored = new RestoredReports(parallelism, checkpointId, upTo, hasSnapshot, load);
        replayCheck.restoring(checkpointId);
    }

    @Override
    public EncodedReport withoutCommittedFiles(EncodedReport replayed) {
        return restored == null ? replayed : restored.withoutCommittedFiles(replayed);
    }

    /** Whether replays are still awaited before {@link #recover} may be called. */
    public boolean restoring() {
        return restored != null;
    }

    /** Whether every writer has replayed or is known to have finished. */
    public boolean replaysComplete() {
        return replaysMissing() == 0;
    }

    /** How many writers have neither replayed nor finished yet. */
    int replaysMissing() {
        return restored == null ? parallelism : restored.missing();
    }

    /**
     * What an attempt of a writer found in its restored state.
     *
     * @param restoredCheckpointId the checkpoint it was restored from, -1 for none
     * @param sideStates what that state says of reports (S6)
     * @throws ReportProtocolException when the attempt was restored from another checkpoint than
     *     the coordinator knows, replays a report of a later one, or cannot be finished as it was
     *     taken to be when the job was recovered: then its first replay was lost, and not committed
     */
    @Override
    public void replay(
            int subtask,
            int attempt,
            long restoredCheckpointId,
            List<EncodedReport> reports,
            List<ReportSideState> sideStates)
            throws ReportProtocolException {
        WriterParticipation writer = writers.get(subtask);
        long expected = restoring() ? restored.checkpointId() : writer.resetTo();
        replayCheck.check(subtask, attempt, writer, expected, restoredCheckpointId, reports);
        writer.replayed(attempt, expected);
        if (restoring()) {
            restored.replayed(subtask, attempt, reports, sideStates);
            return;
        }
        ReportSideStates ownSideStates = new ReportSideStates();
        ownSideStates.add(sideStates);
        // A region failover: the other writers went on, and so did the commits. What this writer
        // had reported up to the checkpoint is either committed or still here.
        for (EncodedReport report : reports) {
            if (report.checkpointId() > lastAligned) {
                ownSideStates.check(subtask, attempt, report);
                cuts.put(subtask, attempt, report);
            }
        }
    }

    /** R1: the restored checkpoint has no state of this sink, neither here nor in its writers. */
    public void sinkIsNew() {
        replayCheck.sinkIsNew();
    }

    /**
     * An attempt begins to initialise. Flink says so before the attempt can have sent anything, so
     * a missing replay means nothing yet; see {@link #triggered}.
     */
    public void ready(int subtask) {
        writers.get(subtask).ready();
    }

    /**
     * Returns everything that the replays brought, once they are complete.
     *
     * @throws ReportProtocolException when a replay was lost
     */
    public List<CommitBatch> recover() throws ReportProtocolException {
        restored.checkNoReplayLost();
        // R1: of a sink that is new there is nothing to replay, so nothing can be missing.
        recoveredWithoutReplays = restored.withoutReplay() > 0 && !replayCheck.isSinkNew();
        long checkpointId = restored.checkpointId();
        for (int subtask = 0; subtask < parallelism; subtask++) {
            if (restored.ranWithoutReplay(subtask)) {
                writers.get(subtask).finishedInRestoredCheckpoint(checkpointId);
            }
        }
        List<CommitBatch> batches = restored.recover(aborted, watermark);
        restored = null;
        markAligned(checkpointId);
        return batches;
    }

    // ------------------------------------------------------------------------
    //  Checkpoints
    // ------------------------------------------------------------------------

    /**
     * A checkpoint or savepoint is about to be taken: no writer has reported it yet.
     *
     * <p>E4: Flink triggers only while all tasks run (or have finished), and what a task has sent
     * before it ran is here by then. So an attempt that has begun and not replayed is one whose
     * vertex had finished, which is redeployed without its operators. (A checkpoint that a restart
     * has aborted may still be announced, but before any new attempt begins.)
     */
    public void triggered(long checkpointId) {
        cuts.seen(checkpointId);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            if (!writers.get(subtask).readyWithoutReplay()) {
                continue;
            }
            if (restoring()) {
                restored.runsWithoutReplay(subtask);
            } else {
                writers.get(subtask).redeployedAfterFinish();
            }
            // A replay that was lost is shown by the first report (W1).
        }
    }

    /**
     * A writer has taken a checkpoint.
     *
     * @param endOfInput E2: it has no more data after this and may be gone at the next checkpoint
     * @throws ReportProtocolException when it reported this or a later checkpoint already, or the
     *     checkpoint was committed without it
     */
    @Override
    public void report(int subtask, int attempt, EncodedReport report, boolean endOfInput)
            throws ReportProtocolException {
        long id = report.checkpointId();
        WriterParticipation writer = writers.get(subtask);
        if (id <= writer.lastReported()) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    id,
                    "its report arrived after it had reported checkpoint "
                            + writer.lastReported()
                            + ".");
        }
        if (id <= lastAligned) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    id,
                    "its report arrived after checkpoint " + lastAligned + " was committed.");
        }
        cuts.seen(id);
        writer.reported(attempt, id, endOfInput);
        cuts.put(subtask, attempt, report);
    }

    /**
     * A checkpoint completed: returns all reports up to it, oldest first, and forgets them.
     *
     * @throws ReportProtocolException W1: when the report of a writer that took part is missing
     */
    public List<CommitBatch> align(long checkpointId) throws ReportProtocolException {
        if (alignedOrRestoring(checkpointId)) {
            return Collections.emptyList();
        }
        if (restoring()) {
            throw new IllegalStateException(
                    String.format(
                            "Checkpoint %d completed before the replay of checkpoint %d was"
                                    + " recovered; %d writers are missing.",
                            checkpointId, restored.checkpointId(), replaysMissing()));
        }
        writers.checkAllReported(checkpointId, cuts.get(checkpointId));

        List<CommitBatch> batches = new ArrayList<>(1);
        Deque<CommitBatch.Entry> incomplete = new ArrayDeque<>();
        for (Map.Entry<Long, Cuts.Cut> entry : cuts.upTo(checkpointId).entrySet()) {
            long id = entry.getKey();
            Cuts.Cut cut = entry.getValue();
            if (!cut.anyFlagged() && writers.allFinishedBefore(id)) {
                // E1: not even a forced snapshot, whose identifier a restored job would use again.
                continue;
            }
            boolean everybody =
                    id == checkpointId || (!cuts.broken(id) && writers.allReported(id, cut));
            boolean savepoint = everybody && isSavepoint(id, cut);
            String savepointPath = savepoint ? cut.savepointPath() : null;
            int reports = savepoint ? cut.reports() : 0;
            watermark.advance(id, cut, writers);
            incomplete.addAll(cut.takeEntries());
            if (everybody) {
                batches.add(
                        new CommitBatch(id, watermark.value(), savepoint, savepointPath, incomplete)
                                .reportedBy(reports));
                incomplete = new ArrayDeque<>();
            }
            // A3: else its files are committed with the next identifier, for no snapshot may carry
            // this one without all of its content.
        }
        if (!incomplete.isEmpty()) {
            batches.add(new CommitBatch(checkpointId, watermark.value(), false, incomplete));
        }
        markAligned(checkpointId);
        recoveredWithoutReplays = false;
        return batches;
    }

    private boolean isSavepoint(long checkpointId, Cuts.Cut cut) {
        return cut.allFlagged() && !aborted.test(checkpointId) && !cuts.broken(checkpointId);
    }

    /**
     * The savepoints after a checkpoint that a writer has reported and that nobody has withdrawn or
     * committed yet.
     */
    public List<Long> pendingSavepointsAfter(long checkpointId) {
        List<Long> pending = cuts.savepointsAfter(checkpointId);
        pending.removeIf(id -> cuts.broken(id));
        return pending;
    }

    /** For the log: where a pending savepoint is written, and who has reported it. */
    public String describe(long savepointId) {
        Cuts.Cut cut = cuts.get(savepointId);
        String path = cut.savepointPath();
        return String.format(
                "Savepoint %d at %s: reported by %d of %d writers",
                savepointId,
                path == null ? "an unknown path" : path,
                cut.reports(),
                writers.takingPartIn(savepointId, cut));
    }

    /** Whether the cut of this checkpoint was given out to be committed, or is being recovered. */
    public boolean alignedOrRestoring(long checkpointId) {
        return checkpointId <= lastAligned
                || (restored != null && checkpointId <= restored.checkpointId());
    }

    /** Highest checkpoint that was aligned; -1 before the first. */
    public long lastAligned() {
        return lastAligned;
    }

    /**
     * A4: whether the writers were taken for finished, and no checkpoint has completed since. When
     * their replays were lost instead, what these would have brought is not known to be committed.
     */
    public boolean recoveredWithoutReplays() {
        return recoveredWithoutReplays;
    }

    /**
     * A3: a writer goes back to a checkpoint. What it reported after that will be reported anew
     * under later ids, so no cut in between can become a savepoint any more, although the other
     * writers' files stay.
     *
     * @param checkpointId the checkpoint it restarts from, -1 for none
     */
    public void reset(int subtask, long checkpointId) {
        cuts.breakAfter(checkpointId, subtask);
        if (restoring()) {
            restored.reset(subtask);
        }
        writers.get(subtask).resetTo(checkpointId);
    }

    /** What is held at the moment, readable from any thread. */
    public LedgerLoad load() {
        return load;
    }

    private void markAligned(long checkpointId) {
        lastAligned = checkpointId;
        cuts.removeUpTo(checkpointId);
    }
}
