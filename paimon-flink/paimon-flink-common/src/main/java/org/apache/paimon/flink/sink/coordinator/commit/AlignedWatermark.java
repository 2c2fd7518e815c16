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

/**
 * The watermark of the last batch, in milliseconds; it never goes back within one session.
 *
 * <p>Threads: the coordinator's event loop.
 */
final class AlignedWatermark {

    private long value = Long.MIN_VALUE;

    long value() {
        return value;
    }

    void advance(long candidate) {
        value = Math.max(value, candidate);
    }

    /**
     * Advances to the minimum over the active writers. A writer that skipped this cut counts as in
     * its last report.
     */
    void advance(long checkpointId, Cuts.Cut cut, Writers writers) {
        long minimum = Long.MAX_VALUE;
        boolean active = false;
        for (int subtask = 0; subtask < writers.parallelism(); subtask++) {
            WriterParticipation writer = writers.get(subtask);
            EncodedReport report = cut.report(subtask);
            if (report != null) {
                writer.observeWatermark(report);
            } else if (writer.finishedBefore(checkpointId)) {
                continue;
            }
            if (!writer.idle()) {
                active = true;
                minimum = Math.min(minimum, writer.watermark());
            }
        }
        if (active) {
            advance(minimum);
        }
    }
}
