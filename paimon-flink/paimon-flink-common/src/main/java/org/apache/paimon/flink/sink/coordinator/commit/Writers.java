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

import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;

import javax.annotation.Nullable;

/**
 * The writers of a sink: which of them have to report a checkpoint, and whether they have.
 *
 * <p>Threads: the coordinator's event loop.
 *
 * <p><b>Promises.</b> W1: a checkpoint that completes without the report of a writer that took part
 * is a {@link ReportProtocolException}. E2: see {@link WriterParticipation}.
 */
final class Writers {

    private static final int NEVER = -1;

    private final WriterParticipation[] writers;

    Writers(int parallelism) {
        writers = new WriterParticipation[parallelism];
        for (int subtask = 0; subtask < parallelism; subtask++) {
            writers[subtask] = new WriterParticipation();
        }
    }

    int parallelism() {
        return writers.length;
    }

    WriterParticipation get(int subtask) {
        return writers[subtask];
    }

    /** Whether no writer takes part in this checkpoint any more. */
    boolean allFinishedBefore(long checkpointId) {
        for (WriterParticipation writer : writers) {
            if (!writer.finishedBefore(checkpointId)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A checkpoint completed, so everybody has reported it.
     *
     * @param cut null when nobody has
     * @throws ReportProtocolException W1: when the report of a writer that took part is missing
     */
    void checkAllReported(long checkpointId, @Nullable Cuts.Cut cut)
            throws ReportProtocolException {
        int missing = firstMissing(checkpointId, cut);
        if (missing == NEVER) {
            return;
        }
        WriterParticipation writer = writers[missing];
        throw new ReportProtocolException(
                missing,
                writer.attempt(),
                checkpointId,
                String.format(
                        "the checkpoint completed, but its report never arrived (last reported:"
                                + " %s). It was lost on its way; the job has to recover it from"
                                + " the checkpoint.",
                        writer.lastReported() == NEVER
                                ? "none"
                                : "checkpoint " + writer.lastReported()));
    }

    /** How many writers take part in a checkpoint. */
    int takingPartIn(long checkpointId, Cuts.Cut cut) {
        int takingPart = 0;
        for (int subtask = 0; subtask < writers.length; subtask++) {
            boolean takesPart =
                    cut.report(subtask) != null || !writers[subtask].finishedBefore(checkpointId);
            takingPart += takesPart ? 1 : 0;
        }
        return takingPart;
    }

    /** Whether everybody has reported a checkpoint who took part in it. */
    boolean allReported(long checkpointId, Cuts.Cut cut) {
        return firstMissing(checkpointId, cut) == NEVER;
    }

    /** A subtask that took part in this checkpoint and has not reported it; -1 for none. */
    private int firstMissing(long checkpointId, @Nullable Cuts.Cut cut) {
        for (int subtask = 0; subtask < writers.length; subtask++) {
            if ((cut == null || cut.report(subtask) == null)
                    && !writers[subtask].finishedBefore(checkpointId)) {
                return subtask;
            }
        }
        return NEVER;
    }
}
