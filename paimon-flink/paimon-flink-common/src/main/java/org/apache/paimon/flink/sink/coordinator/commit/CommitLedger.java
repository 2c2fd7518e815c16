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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/**
 * Which writer subtask reported what, and what of it may be committed and tagged.
 *
 * <p><b>What it is for.</b> All decisions of the coordinator-commit path are made here, as a
 * function of the calls so far. It knows no thread, no file and nothing of Flink's runtime, so a
 * simulation can drive it through any order of calls.
 *
 * <p><b>Who calls it.</b> The coordinator's event loop, and nobody else:
 *
 * <pre>
 *   restoring(c, x)         the job was restored from checkpoint c, committed up to x before
 *   replay(i, ..)           what an attempt of writer i found in its state (also: nothing)
 *   recover()               once all replays are in: everything up to c, as batches
 *   triggered(k)            checkpoint or savepoint k is about to be taken
 *   report(i, ..)           writer i has taken checkpoint k
 *   align(k)                checkpoint k completed: everything up to k, as batches
 *   reset(i, r)             writer i goes back to checkpoint r and will replay
 *   ready(i)                writer i begins to initialise: its replay is to come, unless it had
 *                           finished when r was taken
 * </pre>
 *
 * <p><b>Model.</b> All reports for checkpoint k are the <i>cut</i> k. A cut leaves the ledger when
 * its own or a later checkpoint completes, each under its own identifier, in ascending order. The
 * cut of a savepoint is <i>complete</i> when every writer that took part reported it flagged, it
 * was not aborted, and no writer was reset to a point before it since.
 *
 * <p><b>Promises.</b> A1 and A2: an abort drops the flag and keeps the files, also of reports that
 * come after it. A3: {@link #reset} breaks every cut newer than the checkpoint, for good; its files
 * are committed with the next identifier. A4: {@link #recover} counts flagged reports. A6: replays
 * of several old subtasks on one new subtask are merged. E2 and E4: a writer that has finished
 * takes part in no later cut. W1: a checkpoint that completes without a report of each writer that
 * took part is a {@link ReportProtocolException}.
 */
public final class CommitLedger implements ReportReceiver.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(CommitLedger.class);

    private static final int NEVER = -1;

    private final int parallelism;

    /** Reports that are not in a batch yet, by checkpoint. */
    private final NavigableMap<Long, Cut> cuts = new TreeMap<>();

    /** A1, A2: whether a checkpoint or savepoint was aborted; asked anew each time. */
    private final LongPredicate aborted;

    /** A3: cuts that lost a writer, as ranges: first id to last id, both inclusive; or empty. */
    private final NavigableMap<Long, Long> broken = new TreeMap<>();

    private final Writer[] writers;

    /** Highest id that {@link #align} or {@link #recover} was asked for. */
    private long lastAligned = NEVER;

    /** Highest id of any checkpoint that was triggered or reported. */
    private long highestSeen = NEVER;

    /** The checkpoint to recover from; {@link #NEVER} when there is nothing (more) to recover. */
    private long restoring = NEVER;

    /** The checkpoint that this ledger began with; {@link #NEVER} for none. */
    private long sessionStart = NEVER;

    private boolean sinkIsNew;

    private boolean recoveredWithoutReplays;

    /** Everything up to here was committed and tagged before the restore. */
    private long committedBefore = NEVER;

    /**
     * How many writers have neither replayed nor finished. Counted, not looked for: it is asked
     * after each event of each of thousands of writers.
     */
    private int replaysMissing;

    /** The watermark of the last batch; it never goes back within one ledger. */
    private long watermark = Long.MIN_VALUE;

    public CommitLedger(int parallelism, LongPredicate aborted) {
        this.aborted = aborted;
        this.parallelism = parallelism;
        this.writers = new Writer[parallelism];
        this.replaysMissing = parallelism;
        for (int subtask = 0; subtask < parallelism; subtask++) {
            writers[subtask] = new Writer();
        }
    }

    // ------------------------------------------------------------------------
    //  Restore
    // ------------------------------------------------------------------------

    /**
     * The writers will replay what they find in the state of this checkpoint.
     *
     * @param upTo everything up to here was committed and tagged before
     */
    public void restoring(long checkpointId, long upTo) {
        restoring = checkpointId;
        sessionStart = checkpointId;
        committedBefore = upTo;
    }

    /**
     * A4: a replayed report without its files, when those are committed already. It still counts as
     * its writer's part, and for the watermark.
     */
    @Override
    public EncodedReport withoutCommittedFiles(EncodedReport replayed) {
        return restoring() && replayed.checkpointId() <= committedBefore
                ? replayed.withoutCommittables()
                : replayed;
    }

    /** Whether replays are still awaited before {@link #recover} may be called. */
    public boolean restoring() {
        return restoring != NEVER;
    }

    /** Whether every writer has replayed or is known to have finished. */
    public boolean replaysComplete() {
        return replaysMissing == 0;
    }

    /** How many writers have neither replayed nor finished yet. */
    int replaysMissing() {
        return replaysMissing;
    }

    /**
     * What an attempt of a writer found in its restored state.
     *
     * @param restoredCheckpointId the checkpoint it was restored from, -1 for none
     * @throws ReportProtocolException when the attempt was restored from another checkpoint than
     *     the coordinator knows, replays a report of a later one, or cannot be finished as it was
     *     taken to be when the job was recovered: then its first replay was lost, and not committed
     */
    @Override
    public void replay(
            int subtask, int attempt, long restoredCheckpointId, List<EncodedReport> reports)
            throws ReportProtocolException {
        Writer writer = writers[subtask];
        long expected = restoring() ? restoring : writer.resetTo;
        if (restoredCheckpointId != expected && !isNew(expected, restoredCheckpointId, reports)) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    restoredCheckpointId,
                    "it was restored from this checkpoint, the coordinator expects "
                            + (expected == NEVER ? "none" : "checkpoint " + expected)
                            + ".");
        }
        if (writer.takenForFinished) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    restoredCheckpointId,
                    "it replays its state, but the job was recovered without it as if it had"
                            + " finished: an earlier replay was lost on its way.");
        }
        for (EncodedReport report : reports) {
            if (report.checkpointId() > expected) {
                throw new ReportProtocolException(
                        subtask,
                        attempt,
                        restoredCheckpointId,
                        String.format(
                                "it replays a report for checkpoint %d, later than the one it was"
                                        + " restored from.",
                                report.checkpointId()));
            }
        }
        writer.attempt = attempt;
        writer.replayed = true;
        writer.lastReported = expected;
        if (restoring()) {
            accountFor(writer, reports, false);
            return;
        }
        // A region failover: the other writers went on, and so did the commits. What this writer
        // had reported up to the checkpoint is either committed or still here.
        for (EncodedReport report : reports) {
            if (report.checkpointId() > lastAligned) {
                cut(report.checkpointId()).put(subtask, attempt, report);
            }
        }
    }

    /**
     * R1: whether a writer has no state because its vertex is new in the restored job. Flink names
     * the checkpoint to its coordinator, but not to its tasks.
     */
    private boolean isNew(long expected, long restoredCheckpointId, List<EncodedReport> reports) {
        return sinkIsNew
                && restoredCheckpointId == NEVER
                && reports.isEmpty()
                && expected == sessionStart;
    }

    /** R1: the restored checkpoint has no state of this sink, neither here nor in its writers. */
    public void sinkIsNew() {
        sinkIsNew = true;
    }

    /**
     * An attempt begins to initialise. Flink says so before the attempt can have sent anything, so
     * a missing replay means nothing yet; see {@link #triggered}.
     */
    public void ready(int subtask) {
        writers[subtask].ready = true;
    }

    /**
     * Returns everything that the replays brought, once they are complete.
     *
     * <p>A4: the cut of a savepoint is complete when as many flagged reports carry it as there are
     * reports for the restored checkpoint: a writer that was reset in between lost its report.
     *
     * @throws ReportProtocolException when some writers replayed and others run without: Flink
     *     restores a vertex as finished only as a whole, so a replay was lost
     */
    public List<CommitBatch> recover() throws ReportProtocolException {
        checkNoReplayLost();
        NavigableMap<Long, RestoredCut> restored = new TreeMap<>();
        // R1: of a sink that is new there is nothing to replay, so nothing can be missing.
        recoveredWithoutReplays = withoutReplay() > 0 && !sinkIsNew;
        for (int subtask = 0; subtask < parallelism; subtask++) {
            Writer writer = writers[subtask];
            if (writer.runsWithoutReplay) {
                writer.takenForFinished = true;
                writer.finished(restoring);
            } else {
                for (EncodedReport report : writer.replay) {
                    restored.computeIfAbsent(report.checkpointId(), id -> new RestoredCut())
                            .add(subtask, writer.attempt, report);
                }
            }
            accountFor(writer, null, false);
        }

        RestoredCut restoredCheckpoint = restored.get(restoring);
        int participants = restoredCheckpoint == null ? 0 : restoredCheckpoint.reports;
        if (participants == 0 && !restored.isEmpty()) {
            LOG.warn(
                    "Dropping the restored reports for the checkpoints {}: none is for the restored"
                            + " checkpoint {}, so another build has carried them along unread since"
                            + " they were committed.",
                    restored.keySet(),
                    restoring);
            restored.clear();
        }
        List<CommitBatch> batches = new ArrayList<>(restored.size());
        Deque<CommitBatch.Entry> incomplete = new ArrayDeque<>();
        for (Map.Entry<Long, RestoredCut> entry : restored.entrySet()) {
            long id = entry.getKey();
            RestoredCut cut = entry.getValue();
            // A6: who is missing here (its checkpoint was aborted) may have been behind.
            if (cut.reports >= participants) {
                advanceWatermark(cut.watermark());
            }
            incomplete.addAll(cut.entries);
            if (cut.reports < participants || id <= committedBefore) {
                // A3: its files are committed with the next identifier.
                continue;
            }
            boolean complete = cut.flagged == participants && !aborted.test(id);
            batches.add(new CommitBatch(id, watermark, complete, incomplete));
            incomplete = new ArrayDeque<>();
        }
        markAligned(restoring);
        restoring = NEVER;
        return batches;
    }

    private int withoutReplay() {
        int without = 0;
        for (Writer writer : writers) {
            without += writer.runsWithoutReplay ? 1 : 0;
        }
        return without;
    }

    private void checkNoReplayLost() throws ReportProtocolException {
        int without = withoutReplay();
        int last = 0;
        for (int subtask = 0; subtask < parallelism; subtask++) {
            if (writers[subtask].runsWithoutReplay) {
                last = subtask;
            }
        }
        if (without > 0 && without < parallelism) {
            throw new ReportProtocolException(
                    last,
                    writers[last].attempt,
                    restoring,
                    String.format(
                            "%d of %d writers run without having replayed their state, the others"
                                    + " did: a replay was lost on its way.",
                            without, parallelism));
        }
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
        seen(checkpointId);
        for (Writer writer : writers) {
            if (!writer.ready || writer.replayed) {
                continue;
            }
            if (restoring()) {
                accountFor(writer, null, true);
            } else if (writer.finishedSince != NEVER) {
                writer.finishedUntil = Long.MAX_VALUE;
            }
            // Otherwise its replay was lost, which its first report will show (W1).
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
        Writer writer = writers[subtask];
        if (id <= writer.lastReported) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    id,
                    "its report arrived after it had reported checkpoint "
                            + writer.lastReported
                            + ".");
        }
        if (id <= lastAligned) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    id,
                    "its report arrived after checkpoint " + lastAligned + " was committed.");
        }
        seen(id);
        writer.attempt = attempt;
        writer.lastReported = id;
        if (!endOfInput) {
            writer.running();
        } else if (!writer.finishedBefore(id)) {
            writer.finished(id);
        }
        cut(id).put(subtask, attempt, report);
    }

    /**
     * A checkpoint completed: returns all reports up to it, oldest first, and forgets them.
     *
     * @throws ReportProtocolException W1: when the report of a writer that took part is missing
     */
    public List<CommitBatch> align(long checkpointId) throws ReportProtocolException {
        if (checkpointId <= Math.max(lastAligned, restoring)) {
            return Collections.emptyList();
        }
        if (restoring()) {
            throw new IllegalStateException(
                    String.format(
                            "Checkpoint %d completed before the replay of checkpoint %d was"
                                    + " recovered; %d writers are missing.",
                            checkpointId, restoring, replaysMissing()));
        }
        checkAllReported(checkpointId);

        List<CommitBatch> batches = new ArrayList<>(1);
        Deque<CommitBatch.Entry> incomplete = new ArrayDeque<>();
        for (Map.Entry<Long, Cut> entry : cuts.headMap(checkpointId, true).entrySet()) {
            long id = entry.getKey();
            Cut cut = entry.getValue();
            if (!cut.flagged() && allFinishedBefore(id)) {
                // E1: not even a forced snapshot, whose identifier a restored job would use again.
                continue;
            }
            boolean everybody = id == checkpointId || reportedByAll(id, cut);
            boolean savepoint = everybody && isSavepoint(id, cut);
            advanceWatermark(alignedWatermark(id, cut));
            incomplete.addAll(cut.entries());
            if (everybody) {
                batches.add(new CommitBatch(id, watermark, savepoint, incomplete));
                incomplete = new ArrayDeque<>();
            }
            // A3: else its files are committed with the next identifier, for no snapshot may carry
            // this one without all of its content.
        }
        if (!incomplete.isEmpty()) {
            batches.add(new CommitBatch(checkpointId, watermark, false, incomplete));
        }
        markAligned(checkpointId);
        recoveredWithoutReplays = false;
        return batches;
    }

    private boolean allFinishedBefore(long checkpointId) {
        for (Writer writer : writers) {
            if (!writer.finishedBefore(checkpointId)) {
                return false;
            }
        }
        return true;
    }

    private void checkAllReported(long checkpointId) throws ReportProtocolException {
        Cut cut = cuts.get(checkpointId);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            Writer writer = writers[subtask];
            if ((cut == null || cut.reports[subtask] == null)
                    && !writer.finishedBefore(checkpointId)) {
                throw new ReportProtocolException(
                        subtask,
                        writer.attempt,
                        checkpointId,
                        String.format(
                                "the checkpoint completed, but its report never arrived (last"
                                        + " reported: %s). It was lost on its way; the job has to"
                                        + " recover it from the checkpoint.",
                                writer.lastReported == NEVER
                                        ? "none"
                                        : "checkpoint " + writer.lastReported));
            }
        }
    }

    /** Whether each writer that took part has reported, and none was reset to a point before. */
    private boolean reportedByAll(long checkpointId, Cut cut) {
        if (broken(checkpointId)) {
            return false;
        }
        for (int subtask = 0; subtask < parallelism; subtask++) {
            if (cut.reports[subtask] == null && !writers[subtask].finishedBefore(checkpointId)) {
                return false;
            }
        }
        return true;
    }

    private boolean isSavepoint(long checkpointId, Cut cut) {
        if (!cut.flagged() || aborted.test(checkpointId) || broken(checkpointId)) {
            return false;
        }
        for (EncodedReport report : cut.reports) {
            if (report != null && !report.savepoint()) {
                return false;
            }
        }
        return true;
    }

    /** Whether the cut of this checkpoint was given out to be committed, or is being recovered. */
    public boolean alignedOrRestoring(long checkpointId) {
        return checkpointId <= Math.max(lastAligned, restoring);
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
        Writer writer = writers[subtask];
        for (Cut cut : cuts.tailMap(checkpointId, false).values()) {
            cut.reports[subtask] = null;
        }
        broken.merge(checkpointId + 1, highestSeen, Math::max);
        accountFor(writer, null, false);
        writer.resetTo(checkpointId);
    }

    // ------------------------------------------------------------------------
    //  Helpers
    // ------------------------------------------------------------------------

    /** The one place that assigns what a writer replayed, so that the count is right. */
    private void accountFor(Writer writer, List<EncodedReport> replay, boolean runsWithoutReplay) {
        replaysMissing += writer.accountedFor() ? 1 : 0;
        writer.replay = replay;
        writer.runsWithoutReplay = runsWithoutReplay;
        replaysMissing -= writer.accountedFor() ? 1 : 0;
    }

    private void seen(long checkpointId) {
        highestSeen = Math.max(highestSeen, checkpointId);
    }

    private Cut cut(long checkpointId) {
        return cuts.computeIfAbsent(checkpointId, id -> new Cut(parallelism));
    }

    private boolean broken(long checkpointId) {
        for (long last : broken.headMap(checkpointId, true).values()) {
            if (last >= checkpointId) {
                return true;
            }
        }
        return false;
    }

    private void markAligned(long checkpointId) {
        lastAligned = checkpointId;
        cuts.headMap(checkpointId, true).clear();
        broken.values().removeIf(last -> last <= checkpointId);
    }

    private void advanceWatermark(long candidate) {
        watermark = Math.max(watermark, candidate);
    }

    /** The minimum over the active writers; a writer that skipped this cut counts as before. */
    private long alignedWatermark(long checkpointId, Cut cut) {
        long minimum = Long.MAX_VALUE;
        boolean active = false;
        for (int subtask = 0; subtask < parallelism; subtask++) {
            Writer writer = writers[subtask];
            EncodedReport report = cut.reports[subtask];
            if (report != null) {
                writer.watermark = report.watermark();
                writer.idle = report.idle();
            } else if (writer.finishedBefore(checkpointId)) {
                continue;
            }
            if (!writer.idle) {
                active = true;
                minimum = Math.min(minimum, writer.watermark);
            }
        }
        return active ? minimum : Long.MIN_VALUE;
    }

    /** What is known of one writer subtask. */
    private static final class Writer {

        private int attempt = NEVER;

        /** Last checkpoint it reported, or was restored from. */
        private long lastReported = NEVER;

        /** The checkpoint it was last reset to. */
        private long resetTo = NEVER;

        /** What it replayed, until that is recovered. */
        private List<EncodedReport> replay;

        /** Whether its attempt has begun, and whether that has replayed. */
        private boolean ready;

        private boolean replayed;

        /** In a restore: its vertex had finished. */
        private boolean runsWithoutReplay;

        /** E4: the job was recovered without it. It has no operators then, and never replays. */
        private boolean takenForFinished;

        /** The checkpoint with its last data; {@link #NEVER} while it may have more. */
        private long finishedSince = NEVER;

        /** The last checkpoint that it need not take part in: it may have been reset since. */
        private long finishedUntil = NEVER;

        private long watermark = Long.MIN_VALUE;
        private boolean idle;

        private boolean accountedFor() {
            return replay != null || runsWithoutReplay;
        }

        private void finished(long since) {
            finishedSince = since;
            finishedUntil = Long.MAX_VALUE;
        }

        private void running() {
            // What it skipped before it was reset stays skipped.
            if (finishedUntil == Long.MAX_VALUE) {
                finishedSince = NEVER;
                finishedUntil = NEVER;
            }
        }

        private boolean finishedBefore(long checkpointId) {
            return finishedSince != NEVER
                    && finishedSince < checkpointId
                    && checkpointId <= finishedUntil;
        }

        private void resetTo(long checkpointId) {
            resetTo = checkpointId;
            lastReported = Math.min(lastReported, checkpointId);
            ready = false;
            replayed = false;
            if (finishedSince > checkpointId) {
                finishedSince = NEVER;
                finishedUntil = NEVER;
            } else if (finishedSince != NEVER) {
                finishedUntil = checkpointId;
            }
        }
    }

    /** The reports for one checkpoint, one per writer. */
    private static final class Cut {

        private final EncodedReport[] reports;
        private final int[] attempts;

        private Cut(int parallelism) {
            this.reports = new EncodedReport[parallelism];
            this.attempts = new int[parallelism];
        }

        private void put(int subtask, int attempt, EncodedReport report) {
            reports[subtask] = report;
            attempts[subtask] = attempt;
        }

        /** Whether any report says that this is a savepoint. */
        private boolean flagged() {
            for (EncodedReport report : reports) {
                if (report != null && report.savepoint()) {
                    return true;
                }
            }
            return false;
        }

        private Deque<CommitBatch.Entry> entries() {
            Deque<CommitBatch.Entry> entries = new ArrayDeque<>();
            for (int subtask = 0; subtask < reports.length; subtask++) {
                if (reports[subtask] != null && reports[subtask].committableCount() > 0) {
                    entries.add(
                            new CommitBatch.Entry(subtask, attempts[subtask], reports[subtask]));
                    reports[subtask] = null;
                }
            }
            return entries;
        }
    }

    /** A6: the replayed reports for one checkpoint, any number per writer. */
    private static final class RestoredCut {

        private final Deque<CommitBatch.Entry> entries = new ArrayDeque<>();
        private int reports;
        private int flagged;
        private long minimum = Long.MAX_VALUE;
        private boolean active;

        private void add(int subtask, int attempt, EncodedReport report) {
            reports++;
            flagged += report.savepoint() ? 1 : 0;
            if (!report.idle()) {
                active = true;
                minimum = Math.min(minimum, report.watermark());
            }
            if (report.committableCount() > 0) {
                entries.add(new CommitBatch.Entry(subtask, attempt, report));
            }
        }

        private long watermark() {
            return active ? minimum : Long.MIN_VALUE;
        }
    }
}
