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

import java.util.List;

/**
 * Refuses the replay of an attempt that was restored from another checkpoint than the coordinator
 * knows.
 *
 * <p>Threads: the coordinator's event loop.
 *
 * <p><b>Promises.</b> R1: the writers of a sink that is new in the restored job are not restored.
 * Flink names the checkpoint to their coordinator, but not to them.
 */
final class ReplayCheck {

    private static final int NEVER = -1;

    /** The checkpoint that the session began with; {@link #NEVER} for none. */
    private long sessionStart = NEVER;

    private boolean sinkIsNew;

    void restoring(long checkpointId) {
        sessionStart = checkpointId;
    }

    /** R1: the restored checkpoint has no state of this sink. */
    void sinkIsNew() {
        sinkIsNew = true;
    }

    boolean isSinkNew() {
        return sinkIsNew;
    }

    /**
     * @param expected the checkpoint that the attempt should have been restored from, -1 for none
     * @param restoredCheckpointId the one that it was restored from, -1 for none
     * @throws ReportProtocolException when these differ, when it replays a report of a later one,
     *     or when the job was recovered as if the writer had finished
     */
    void check(
            int subtask,
            int attempt,
            WriterParticipation writer,
            long expected,
            long restoredCheckpointId,
            List<EncodedReport> reports)
            throws ReportProtocolException {
        if (restoredCheckpointId != expected && !isNew(expected, restoredCheckpointId, reports)) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    restoredCheckpointId,
                    "it was restored from this checkpoint, the coordinator expects "
                            + (expected == NEVER ? "none" : "checkpoint " + expected)
                            + ".");
        }
        if (writer.takenForFinished()) {
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
    }

    /** R1: whether a writer has no state because its vertex is new in the restored job. */
    private boolean isNew(long expected, long restoredCheckpointId, List<EncodedReport> reports) {
        return sinkIsNew
                && restoredCheckpointId == NEVER
                && reports.isEmpty()
                && expected == sessionStart;
    }
}
