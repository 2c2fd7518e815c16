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
import java.util.Deque;

/**
 * What is to be committed under one checkpoint's identifier: the reports that carry files, the
 * aligned watermark, and whether the snapshot is to be tagged as a savepoint.
 *
 * <p>It is the only owner of its reports and is read once: {@link #releaseNext} gives each of them
 * up, so that the bytes of one are free before the next is decoded.
 */
public final class CommitBatch {

    private final long checkpointId;
    private final long watermark;
    private final boolean completeSavepoint;
    @Nullable private final String savepointPath;
    private final int reportsWithFiles;
    private final Deque<Entry> entries;

    /** How many writers have reported the checkpoint itself, with files or without. */
    private int reports;

    CommitBatch(
            long checkpointId, long watermark, boolean completeSavepoint, Deque<Entry> entries) {
        this(checkpointId, watermark, completeSavepoint, null, entries);
    }

    CommitBatch(
            long checkpointId,
            long watermark,
            boolean completeSavepoint,
            @Nullable String savepointPath,
            Deque<Entry> entries) {
        this.checkpointId = checkpointId;
        this.watermark = watermark;
        this.completeSavepoint = completeSavepoint;
        this.savepointPath = savepointPath;
        this.reportsWithFiles = entries.size();
        this.entries = new ArrayDeque<>(entries);
    }

    long checkpointId() {
        return checkpointId;
    }

    /** In milliseconds; {@link Long#MIN_VALUE} when no watermark is known. */
    long watermark() {
        return watermark;
    }

    /** Whether this is the complete cut of a savepoint that was not withdrawn. */
    boolean completeSavepoint() {
        return completeSavepoint;
    }

    /** L1: where the savepoint is written; null when that is not known. */
    @Nullable
    String savepointPath() {
        return savepointPath;
    }

    /** Whether there is a file to commit, released or not. */
    boolean hasFiles() {
        return reportsWithFiles > 0;
    }

    /** Number of reports that carry files, released or not. */
    public int reportsWithFiles() {
        return reportsWithFiles;
    }

    CommitBatch reportedBy(int writers) {
        reports = writers;
        return this;
    }

    /** How many writers have reported the checkpoint itself, with files or without. */
    int reports() {
        return reports;
    }

    /** Gives the next report up: nothing here refers to it any more. Null after the last one. */
    @Nullable
    public Entry releaseNext() {
        return entries.poll();
    }

    @Override
    public String toString() {
        return String.format(
                "CommitBatch{checkpoint %d, %d reports, watermark %d%s}",
                checkpointId,
                reportsWithFiles,
                watermark,
                completeSavepoint ? ", complete savepoint" : "");
    }

    /** One report and who made it. */
    public static final class Entry {

        private final int subtask;
        private final int attempt;
        private final EncodedReport report;

        Entry(int subtask, int attempt, EncodedReport report) {
            this.subtask = subtask;
            this.attempt = attempt;
            this.report = report;
        }

        int subtask() {
            return subtask;
        }

        int attempt() {
            return attempt;
        }

        public EncodedReport report() {
            return report;
        }
    }
}
