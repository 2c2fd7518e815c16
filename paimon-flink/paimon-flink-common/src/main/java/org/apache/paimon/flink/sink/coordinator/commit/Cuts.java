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

import javax.annotation.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The reports that are not in a batch yet, by checkpoint, and which cuts have lost a writer (A3).
 *
 * <p>Threads: the coordinator's event loop.
 */
final class Cuts {

    private final int parallelism;
    private final NavigableMap<Long, Cut> cuts = new TreeMap<>();

    /** Ranges of broken cuts: first id to last id, both inclusive; or empty. */
    private final NavigableMap<Long, Long> broken = new TreeMap<>();

    private final LedgerLoad load;

    /** Size of the reports in {@link #cuts}. */
    private long bytes;

    /** Highest id of any checkpoint that was triggered or reported. */
    private long highestSeen = -1;

    /**
     * @param load shows what is held
     */
    Cuts(int parallelism, LedgerLoad load) {
        this.parallelism = parallelism;
        this.load = load;
    }

    /** A checkpoint with this id exists: a later reset breaks it. */
    void seen(long checkpointId) {
        highestSeen = Math.max(highestSeen, checkpointId);
    }

    void put(int subtask, int attempt, EncodedReport report) {
        EncodedReport replaced =
                cuts.computeIfAbsent(report.checkpointId(), id -> new Cut(parallelism))
                        .put(subtask, attempt, report);
        bytes += report.serialized().length;
        bytes -= replaced == null ? 0 : replaced.serialized().length;
        showLoad();
    }

    /** Null when nobody has reported it. */
    @Nullable
    Cut get(long checkpointId) {
        return cuts.get(checkpointId);
    }

    /** The cuts up to this one, which is included. */
    NavigableMap<Long, Cut> upTo(long checkpointId) {
        return cuts.headMap(checkpointId, true);
    }

    /** A3: a writer goes back to this checkpoint, so every newer cut loses its report for good. */
    void breakAfter(long checkpointId, int subtask) {
        for (Cut cut : cuts.tailMap(checkpointId, false).values()) {
            cut.remove(subtask);
        }
        broken.merge(checkpointId + 1, highestSeen, Math::max);
        measure();
    }

    /** The savepoints that a writer has reported, after a checkpoint. */
    List<Long> savepointsAfter(long checkpointId) {
        List<Long> savepoints = new ArrayList<>();
        cuts.tailMap(checkpointId, false)
                .forEach(
                        (id, cut) -> {
                            if (cut.anyFlagged()) {
                                savepoints.add(id);
                            }
                        });
        return savepoints;
    }

    boolean broken(long checkpointId) {
        for (long last : broken.headMap(checkpointId, true).values()) {
            if (last >= checkpointId) {
                return true;
            }
        }
        return false;
    }

    void removeUpTo(long checkpointId) {
        cuts.headMap(checkpointId, true).clear();
        broken.values().removeIf(last -> last <= checkpointId);
        measure();
    }

    private void measure() {
        bytes = 0;
        for (Cut cut : cuts.values()) {
            bytes += cut.bytes();
        }
        showLoad();
    }

    private void showLoad() {
        int savepoints = 0;
        for (Cut cut : cuts.values()) {
            savepoints += cut.flagged > 0 ? 1 : 0;
        }
        load.set(cuts.size(), savepoints, bytes);
    }

    /** The reports for one checkpoint, one per writer. */
    static final class Cut {

        private final EncodedReport[] reports;
        private final int[] attempts;

        /** How many reports carry the savepoint flag. */
        private int flagged;

        private Cut(int parallelism) {
            this.reports = new EncodedReport[parallelism];
            this.attempts = new int[parallelism];
        }

        /** Returns what the subtask had reported before. */
        @Nullable
        private EncodedReport put(int subtask, int attempt, EncodedReport report) {
            EncodedReport replaced = remove(subtask);
            reports[subtask] = report;
            attempts[subtask] = attempt;
            flagged += report.savepoint() ? 1 : 0;
            return replaced;
        }

        @Nullable
        private EncodedReport remove(int subtask) {
            EncodedReport removed = reports[subtask];
            flagged -= removed != null && removed.savepoint() ? 1 : 0;
            reports[subtask] = null;
            return removed;
        }

        private long bytes() {
            long bytes = 0;
            for (EncodedReport report : reports) {
                bytes += report == null ? 0 : report.serialized().length;
            }
            return bytes;
        }

        @Nullable
        EncodedReport report(int subtask) {
            return reports[subtask];
        }

        int reports() {
            int count = 0;
            for (EncodedReport report : reports) {
                count += report != null ? 1 : 0;
            }
            return count;
        }

        boolean anyFlagged() {
            return flagged > 0;
        }

        /** Whether there is a report, and none without the savepoint flag. */
        boolean allFlagged() {
            for (EncodedReport report : reports) {
                if (report != null && !report.savepoint()) {
                    return false;
                }
            }
            return anyFlagged();
        }

        /** L1: the path that the writers report for this savepoint; null when it is not known. */
        @Nullable
        String savepointPath() {
            for (EncodedReport report : reports) {
                if (report != null && report.savepointPath() != null) {
                    return report.savepointPath();
                }
            }
            return null;
        }

        /** Takes the reports with files out: the batch that gets them is their only owner. */
        Deque<CommitBatch.Entry> takeEntries() {
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
}
