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
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;

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
 * What the writers replay after a restore, until all of it is in and can be recovered (A4, A6).
 *
 * <p>Threads: the coordinator's event loop.
 */
final class RestoredReports {

    private static final Logger LOG = LoggerFactory.getLogger(RestoredReports.class);

    private final long checkpointId;
    private final long committedUpTo;
    private final LongPredicate hasSnapshot;
    private final Replay[] replays;
    private final LedgerLoad load;

    /**
     * How many writers have neither replayed nor finished. Counted, not looked for: it is asked
     * after each event of each of thousands of writers.
     */
    private int missing;

    /** Size of the reports that are held. */
    private long bytes;

    /**
     * @param committedUpTo everything up to this checkpoint was committed and tagged before
     * @param hasSnapshot whether the table has a snapshot with an identifier of this course
     * @param load shows what is held
     */
    RestoredReports(
            int parallelism,
            long checkpointId,
            long committedUpTo,
            LongPredicate hasSnapshot,
            LedgerLoad load) {
        this.checkpointId = checkpointId;
        this.committedUpTo = committedUpTo;
        this.hasSnapshot = hasSnapshot;
        this.replays = new Replay[parallelism];
        this.missing = parallelism;
        this.load = load;
    }

    long checkpointId() {
        return checkpointId;
    }

    int missing() {
        return missing;
    }

    /** A4: a report without its files, when those are committed already. */
    EncodedReport withoutCommittedFiles(EncodedReport replayed) {
        return replayed.checkpointId() <= committedUpTo ? replayed.withoutCommittables() : replayed;
    }

    /**
     * @param sideStates what the writer's state says of reports, also of other writers' ones (S6)
     */
    void replayed(
            int subtask,
            int attempt,
            List<EncodedReport> reports,
            List<ReportSideState> sideStates) {
        put(subtask, new Replay(attempt, reports, sideStates));
    }

    /** E4: a writer runs and will not replay, since its vertex had finished. */
    void runsWithoutReplay(int subtask) {
        put(subtask, Replay.NONE);
    }

    /** A writer was reset: its next attempt replays again. */
    void reset(int subtask) {
        put(subtask, null);
    }

    boolean ranWithoutReplay(int subtask) {
        return replays[subtask] == Replay.NONE;
    }

    private void put(int subtask, Replay replay) {
        Replay former = replays[subtask];
        missing += former != null ? 1 : 0;
        bytes -= former != null ? former.bytes() : 0;
        replays[subtask] = replay;
        missing -= replay != null ? 1 : 0;
        bytes += replay != null ? replay.bytes() : 0;
        load.setReplayedBytes(bytes);
    }

    /** How many writers run without a replay. */
    int withoutReplay() {
        int without = 0;
        for (Replay replay : replays) {
            without += replay == Replay.NONE ? 1 : 0;
        }
        return without;
    }

    /**
     * Flink restores a vertex as finished only as a whole, so some replays were lost when others
     * are here.
     */
    void checkNoReplayLost() throws ReportProtocolException {
        int without = withoutReplay();
        if (without == 0 || without == replays.length) {
            return;
        }
        int last = replays.length - 1;
        while (replays[last] != Replay.NONE) {
            last--;
        }
        throw new ReportProtocolException(
                last,
                Replay.NONE.attempt,
                checkpointId,
                String.format(
                        "%d of %d writers run without having replayed their state, the others"
                                + " did: a replay was lost on its way.",
                        without, replays.length));
    }

    /**
     * Returns everything that the replays brought and that was not committed before.
     *
     * <p>A4: the cut of a savepoint is complete when as many flagged reports carry it as there are
     * reports for the restored checkpoint: a writer that was reset in between lost its report.
     *
     * @throws ReportProtocolException S6: when a report is not the one that was written
     */
    List<CommitBatch> recover(LongPredicate aborted, AlignedWatermark watermark)
            throws ReportProtocolException {
        ReportSideStates sideStates = checkedSideStates();
        // The batches own the reports from now on.
        load.setReplayedBytes(0);
        NavigableMap<Long, RestoredCut> cuts = cuts();
        RestoredCut restoredCheckpoint = cuts.get(checkpointId);
        int participants = restoredCheckpoint == null ? 0 : restoredCheckpoint.reports;
        if (participants == 0 && !cuts.isEmpty()) {
            LOG.warn(
                    "Dropping the restored reports for the checkpoints {}: none is for the restored"
                            + " checkpoint {}, so another build has carried them along unread since"
                            + " they were committed.",
                    cuts.keySet(),
                    checkpointId);
            cuts.clear();
        }
        List<CommitBatch> batches = new ArrayList<>(cuts.size());
        Deque<CommitBatch.Entry> incomplete = new ArrayDeque<>();
        for (Map.Entry<Long, RestoredCut> entry : cuts.entrySet()) {
            long id = entry.getKey();
            RestoredCut cut = entry.getValue();
            // A6: who is missing here (its checkpoint was aborted) may have been behind.
            if (cut.reports >= participants) {
                watermark.advance(cut.watermark());
            }
            boolean lacksReports = cut.reports < participants;
            if (lacksReports && hasSnapshot.test(id)) {
                // E2: it was complete without a writer that had finished and has reported later
                // again. No snapshot carries an identifier without all of its content (A3), which
                // includes what earlier cuts had left to it.
                incomplete.clear();
                continue;
            }
            incomplete.addAll(cut.entries);
            if (lacksReports || id <= committedUpTo) {
                // A3: its files are committed with the next identifier.
                continue;
            }
            boolean complete = cut.flagged == participants && !aborted.test(id);
            batches.add(
                    new CommitBatch(
                                    id,
                                    watermark.value(),
                                    complete,
                                    complete ? sideStates.savepointPath(id) : null,
                                    incomplete)
                            .reportedBy(cut.reports));
            incomplete = new ArrayDeque<>();
        }
        return batches;
    }

    /** S6: joined here, where those of all writers are together. */
    private ReportSideStates checkedSideStates() throws ReportProtocolException {
        ReportSideStates sideStates = new ReportSideStates();
        for (Replay replay : replays) {
            sideStates.add(replay.sideStates);
        }
        for (int subtask = 0; subtask < replays.length; subtask++) {
            for (EncodedReport report : replays[subtask].reports) {
                if (report.checkpointId() > committedUpTo) {
                    sideStates.check(subtask, replays[subtask].attempt, report);
                }
            }
        }
        return sideStates;
    }

    private NavigableMap<Long, RestoredCut> cuts() {
        NavigableMap<Long, RestoredCut> cuts = new TreeMap<>();
        for (int subtask = 0; subtask < replays.length; subtask++) {
            for (EncodedReport report : replays[subtask].reports) {
                cuts.computeIfAbsent(report.checkpointId(), id -> new RestoredCut())
                        .add(subtask, replays[subtask].attempt, report);
            }
        }
        return cuts;
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

    /** What one attempt of a writer found in its state. */
    private static final class Replay {

        private static final Replay NONE =
                new Replay(-1, Collections.emptyList(), Collections.emptyList());

        private final int attempt;
        private final List<EncodedReport> reports;
        private final List<ReportSideState> sideStates;

        private Replay(int attempt, List<EncodedReport> reports, List<ReportSideState> sideStates) {
            this.attempt = attempt;
            this.reports = reports;
            this.sideStates = sideStates;
        }

        private long bytes() {
            long bytes = 0;
            for (EncodedReport report : reports) {
                bytes += report.serialized().length;
            }
            return bytes;
        }
    }
}
