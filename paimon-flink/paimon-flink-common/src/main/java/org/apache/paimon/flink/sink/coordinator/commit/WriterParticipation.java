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
 * Which checkpoints one writer subtask takes part in, and how far it has come.
 *
 * <p>E2: a writer that has finished takes part in no later checkpoint, until it is reset to a point
 * before. What it skipped until then stays skipped.
 *
 * <p>Threads: the coordinator's event loop.
 */
final class WriterParticipation {

    private static final int NEVER = -1;

    private int attempt = NEVER;

    /** Last checkpoint it reported, or was restored from. */
    private long lastReported = NEVER;

    /** The checkpoint it was last reset to. */
    private long resetTo = NEVER;

    /** Whether its attempt has begun, and whether that has replayed. */
    private boolean ready;

    private boolean replayed;

    /** E4: the job was recovered without it. It has no operators then, and never replays. */
    private boolean takenForFinished;

    /** The checkpoint with its last data; {@link #NEVER} while it may have more. */
    private long finishedSince = NEVER;

    /** The last checkpoint that it need not take part in: it may have been reset since. */
    private long finishedUntil = NEVER;

    private long watermark = Long.MIN_VALUE;
    private boolean idle;

    int attempt() {
        return attempt;
    }

    /** -1 for none. */
    long lastReported() {
        return lastReported;
    }

    /** -1 before the first reset. */
    long resetTo() {
        return resetTo;
    }

    boolean takenForFinished() {
        return takenForFinished;
    }

    /** In milliseconds, as of its last report; {@link Long#MIN_VALUE} before the first. */
    long watermark() {
        return watermark;
    }

    boolean idle() {
        return idle;
    }

    /** Flink is about to initialise an attempt. */
    void ready() {
        ready = true;
    }

    boolean readyWithoutReplay() {
        return ready && !replayed;
    }

    void replayed(int attempt, long checkpointId) {
        this.attempt = attempt;
        replayed = true;
        lastReported = checkpointId;
    }

    void reported(int attempt, long checkpointId, boolean endOfInput) {
        this.attempt = attempt;
        lastReported = checkpointId;
        if (!endOfInput) {
            running();
        } else if (!finishedBefore(checkpointId)) {
            finishedAt(checkpointId);
        }
    }

    void observeWatermark(EncodedReport report) {
        watermark = report.watermark();
        idle = report.idle();
    }

    /** E4: it had finished when the restored checkpoint was taken. */
    void finishedInRestoredCheckpoint(long checkpointId) {
        takenForFinished = true;
        finishedAt(checkpointId);
    }

    /** A finished writer that was redeployed has no operators again, so it stays finished. */
    void redeployedAfterFinish() {
        if (finishedSince != NEVER) {
            finishedUntil = Long.MAX_VALUE;
        }
    }

    boolean finishedBefore(long checkpointId) {
        return finishedSince != NEVER
                && finishedSince < checkpointId
                && checkpointId <= finishedUntil;
    }

    void resetTo(long checkpointId) {
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

    private void finishedAt(long checkpointId) {
        finishedSince = checkpointId;
        finishedUntil = Long.MAX_VALUE;
    }

    private void running() {
        if (finishedUntil == Long.MAX_VALUE) {
            finishedSince = NEVER;
            finishedUntil = NEVER;
        }
    }
}
