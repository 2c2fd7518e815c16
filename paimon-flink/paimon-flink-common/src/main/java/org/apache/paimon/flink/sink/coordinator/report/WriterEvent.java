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

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * One event of a writer attempt to its coordinator: a part of a report.
 *
 * <p>W1: every event carries its place in the sequence of its attempt (0, 1, 2, ...), so that a
 * lost or repeated one is noticed. W2: no event carries more than {@link #MAX_PART_BYTES}; a longer
 * report travels in consecutive parts, the last of which says so. Each part carries the checksum of
 * the whole report.
 *
 * <p>Events are never persisted; their Java serialization only has to agree within one job.
 */
public abstract class WriterEvent implements OperatorEvent {

    private static final long serialVersionUID = 2L;

    /** Most payload bytes in one event; Flink's RPC frame takes 10 MB by default. */
    static final int MAX_PART_BYTES = 1 << 20;

    private final long position;
    private final long checkpointId;
    private final int version;
    private final int checksum;
    private final boolean last;
    private final byte[] part;

    WriterEvent(
            long position,
            long checkpointId,
            int version,
            int checksum,
            boolean last,
            byte[] part) {
        this.position = position;
        this.checkpointId = checkpointId;
        this.version = version;
        this.checksum = checksum;
        this.last = last;
        this.part = part;
    }

    /** Place in the sequence of the attempt, from 0. */
    long position() {
        return position;
    }

    /** The checkpoint that is reported, or the one that the attempt was restored from. */
    long checkpointId() {
        return checkpointId;
    }

    /** Version of the report's bytes. */
    int version() {
        return version;
    }

    /** CRC-32C of the whole report. */
    int checksum() {
        return checksum;
    }

    /** Whether this part ends its report. */
    boolean last() {
        return last;
    }

    /** The bytes themselves, not a copy: not to be changed. */
    byte[] part() {
        return part;
    }

    @Override
    public String toString() {
        return String.format(
                "%s{position %d, checkpoint %d, %d bytes%s}",
                getClass().getSimpleName(),
                position,
                checkpointId,
                part == null ? 0 : part.length,
                last ? ", last" : "");
    }
}
