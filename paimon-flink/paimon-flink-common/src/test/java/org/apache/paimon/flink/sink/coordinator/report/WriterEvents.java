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

import org.apache.paimon.utils.Crc32c;

/** Makes single events for tests, with the checksum of what they carry. */
final class WriterEvents {

    private WriterEvents() {}

    /** A report of one part. */
    static CommittableEvent report(long position, long checkpointId, int version, byte[] bytes) {
        return part(position, checkpointId, version, bytes, true, bytes);
    }

    /** A part of a report. */
    static CommittableEvent part(
            long position,
            long checkpointId,
            int version,
            byte[] whole,
            boolean last,
            byte[] part) {
        return new CommittableEvent(
                position, checkpointId, false, version, Crc32c.of(whole), last, part, null);
    }

    /** A part of a replay, with the checksum of that part. */
    static RestoredCommittableEvent replay(
            long position, long restoredCheckpointId, int version, boolean last, byte[] part) {
        return RestoredCommittableEvent.part(
                position,
                restoredCheckpointId,
                version,
                Crc32c.of(part),
                last,
                part,
                ReportChecksum.of(part));
    }
}
