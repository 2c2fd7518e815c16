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

/**
 * A part of a report that a writer attempt found in its restored state, or the end of that replay.
 *
 * <p>Every attempt starts with a replay, also an empty one: that is how the coordinator knows the
 * attempt and that nothing of it was lost.
 */
public class RestoredCommittableEvent extends WriterEvent {

    private static final long serialVersionUID = 2L;

    private static final byte[] NOTHING = new byte[0];

    private final boolean endOfReplay;

    private RestoredCommittableEvent(
            long position,
            long restoredCheckpointId,
            boolean endOfReplay,
            int version,
            boolean last,
            byte[] part) {
        super(position, restoredCheckpointId, version, last, part);
        this.endOfReplay = endOfReplay;
    }

    static RestoredCommittableEvent part(
            long position, long restoredCheckpointId, int version, boolean last, byte[] part) {
        return new RestoredCommittableEvent(
                position, restoredCheckpointId, false, version, last, part);
    }

    static RestoredCommittableEvent endOfReplay(long position, long restoredCheckpointId) {
        return new RestoredCommittableEvent(position, restoredCheckpointId, true, 0, true, NOTHING);
    }

    /** Whether the replay is complete; such an event carries no part. */
    boolean endOfReplay() {
        return endOfReplay;
    }
}
