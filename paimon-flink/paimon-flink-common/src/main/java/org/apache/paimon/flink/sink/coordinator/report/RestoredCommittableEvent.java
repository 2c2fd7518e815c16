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

    private static final long serialVersionUID = 3L;

    private static final byte[] NOTHING = new byte[0];

    private final boolean endOfReplay;
    private final int persistedLength;
    private final int persistedCrc32c;

    private RestoredCommittableEvent(
            long position,
            long restoredCheckpointId,
            boolean endOfReplay,
            int version,
            int checksum,
            boolean last,
            byte[] part,
            ReportChecksum persisted) {
        super(position, restoredCheckpointId, version, checksum, last, part);
        this.endOfReplay = endOfReplay;
        this.persistedLength = persisted.length();
        this.persistedCrc32c = persisted.crc32c();
    }

    static RestoredCommittableEvent part(
            long position,
            long restoredCheckpointId,
            int version,
            int checksum,
            boolean last,
            byte[] part,
            ReportChecksum persisted) {
        return new RestoredCommittableEvent(
                position, restoredCheckpointId, false, version, checksum, last, part, persisted);
    }

    static RestoredCommittableEvent endOfReplay(long position, long restoredCheckpointId) {
        return new RestoredCommittableEvent(
                position,
                restoredCheckpointId,
                true,
                0,
                0,
                true,
                NOTHING,
                new ReportChecksum(0, 0));
    }

    /** Whether the replay is complete; such an event carries no part. */
    boolean endOfReplay() {
        return endOfReplay;
    }

    /** S6: the report as it lay in the state; the flag may have been dropped since. */
    ReportChecksum persisted() {
        return new ReportChecksum(persistedLength, persistedCrc32c);
    }
}
