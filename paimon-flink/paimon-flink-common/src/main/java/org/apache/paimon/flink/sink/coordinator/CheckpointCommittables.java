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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.sink.Committable;

import java.util.List;

/**
 * What one writer subtask has to say about one checkpoint: the files to commit, its watermark,
 * whether it is idle, and whether the checkpoint is a savepoint.
 *
 * <p>Immutable, except that the list of committables is the caller's.
 */
public class CheckpointCommittables {

    private final long checkpointId;
    private final List<Committable> committables;
    private final long watermark;
    private final boolean idle;
    private final boolean savepoint;

    public CheckpointCommittables(
            long checkpointId,
            List<Committable> committables,
            long watermark,
            boolean idle,
            boolean savepoint) {
        this.checkpointId = checkpointId;
        this.committables = committables;
        this.watermark = watermark;
        this.idle = idle;
        this.savepoint = savepoint;
    }

    public CheckpointCommittables(
            long checkpointId, List<Committable> committables, long watermark, boolean idle) {
        this(checkpointId, committables, watermark, idle, false);
    }

    public CheckpointCommittables(
            long checkpointId, List<Committable> committables, long watermark) {
        this(checkpointId, committables, watermark, false);
    }

    public long checkpointId() {
        return checkpointId;
    }

    public List<Committable> committables() {
        return committables;
    }

    /** In milliseconds; {@link Long#MIN_VALUE} before the first watermark. */
    public long watermark() {
        return watermark;
    }

    public boolean idle() {
        return idle;
    }

    /** Whether the checkpoint is a savepoint that was not withdrawn when this was written. */
    public boolean savepoint() {
        return savepoint;
    }

    public int size() {
        return committables.size();
    }

    public boolean isEmpty() {
        return committables.isEmpty();
    }

    @Override
    public String toString() {
        return String.format(
                "CheckpointCommittables{checkpoint %d, %d committables, watermark %d%s%s}",
                checkpointId,
                committables.size(),
                watermark,
                idle ? ", idle" : "",
                savepoint ? ", savepoint" : "");
    }
}
