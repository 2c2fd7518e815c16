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

package org.apache.paimon.flink.sink.coordinator.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Which reports one writer attempt has to keep, and when it has to wait for the coordinator.
 *
 * <p>Pure: no thread, no file, nothing of Flink's runtime. The writer's task thread calls it, and a
 * simulation drives it through any order of calls:
 *
 * <pre>
 *   restored(reports)   what the attempt found in its state, and replays
 *   add(report for k)   checkpoint k is being taken; {@link #pending} goes into its state
 *   aborted(k)          the flag goes, the files stay (A1)
 *   completed(k)        forgets what the previous completed checkpoint covered
 * </pre>
 *
 * <p><b>How long a report is kept.</b> Those up to a completed checkpoint may not be committed yet,
 * and a savepoint that is under way has to hold them; the checkpoint after a completed one,
 * however, is triggered only when the coordinator has committed it. So each completion forgets the
 * reports up to the <i>previous</i> completed checkpoint. The first one forgets nothing: should the
 * replay have been lost, the coordinator fails when the first report arrives, and a savepoint that
 * is under way then may complete before that is known.
 *
 * <p>T2, E3: {@link #completed} says whether the writer's task ends with that checkpoint.
 */
public final class PendingReports {

    private static final long NONE = -1;

    private final NavigableMap<Long, EncodedReport> pending = new TreeMap<>();

    /** What was restored, any number per checkpoint (A6). */
    private final List<EncodedReport> restored = new ArrayList<>();

    private boolean inputEnded;

    /** The first checkpoint after the end of input; {@link #NONE} before. */
    private long finalCheckpoint = NONE;

    /** The savepoint that the job stops with; {@link #NONE} when it does not. */
    private long stopSavepoint = NONE;

    /** The last checkpoint whose completion this attempt knows. */
    private long lastCompleted = NONE;

    /** Keeps what the attempt found in its state. */
    public void restored(Collection<EncodedReport> reports) {
        restored.addAll(reports);
    }

    /** E1: what is still to be flushed belongs to the next checkpoint, which is the final one. */
    public void endInput() {
        inputEnded = true;
    }

    /** E2: whether a report made now is the last with data. */
    public boolean inputEnded() {
        return inputEnded;
    }

    /**
     * E1: whether everything was reported. A checkpoint may still follow, as the one that ends the
     * tasks after a stop with drain; it must not make a snapshot under an identifier that the job
     * restored from the savepoint will use.
     */
    public boolean allReported() {
        return finalCheckpoint != NONE;
    }

    /** Keeps the report of the checkpoint that is being taken. */
    public void add(EncodedReport report) {
        long checkpointId = report.checkpointId();
        pending.put(checkpointId, report);
        if (inputEnded && finalCheckpoint == NONE) {
            finalCheckpoint = checkpointId;
        }
    }

    /** T2: the job stops with this savepoint, unless it is aborted. */
    public void stopsWith(long savepointId) {
        stopSavepoint = savepointId;
    }

    /**
     * A checkpoint completed.
     *
     * @return whether the task ends with it, so that the writer has to wait for its commit
     */
    public boolean completed(long checkpointId) {
        if (lastCompleted != NONE) {
            restored.clear();
        }
        pending.headMap(lastCompleted, true).clear();
        lastCompleted = Math.max(lastCompleted, checkpointId);
        return checkpointId == stopSavepoint
                || (finalCheckpoint != NONE && checkpointId >= finalCheckpoint);
    }

    /** A1: the files stay, the flag goes. */
    public void aborted(long checkpointId) {
        restored.replaceAll(
                report -> report.checkpointId() == checkpointId ? report.withdrawn() : report);
        pending.computeIfPresent(checkpointId, (id, report) -> report.withdrawn());
    }

    /** The reports to be persisted: restored ones, then those of this attempt. */
    public Collection<EncodedReport> pending() {
        List<EncodedReport> all = new ArrayList<>(restored);
        all.addAll(pending.values());
        return all;
    }

    /** The same as elements of the writer's state. */
    public List<byte[]> toState() {
        List<byte[]> elements = new ArrayList<>();
        for (EncodedReport report : pending()) {
            elements.add(report.toState());
        }
        return elements;
    }

    /** S6: what belongs beside {@link #toState} in the state of a checkpoint. */
    public List<byte[]> sideState(long checkpointId) {
        List<byte[]> elements = new ArrayList<>();
        for (EncodedReport report : pending()) {
            elements.add(ReportSideState.of(report.asPersisted(), checkpointId).toBytes());
        }
        return elements;
    }
}
