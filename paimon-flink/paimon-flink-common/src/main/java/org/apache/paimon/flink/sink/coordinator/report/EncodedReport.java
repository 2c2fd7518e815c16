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

import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;

import org.apache.flink.core.io.SimpleVersionedSerialization;

import javax.annotation.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One report as the bytes of {@link CheckpointCommittablesSerializer}, with a header that can be
 * read as it lies.
 *
 * <p>The writer encodes a report once and keeps, persists and sends the same bytes; the coordinator
 * looks at the header only and decodes the committables when it commits them, so that a pending
 * checkpoint costs little more than its bytes.
 *
 * <p>Immutable. The header is checked on the way in, so its readers cannot fail. What travels is
 * checked against its checksum when it arrives; what a committable holds is seen only by {@link
 * #decode}.
 */
public final class EncodedReport {

    private static final byte[] NO_BYTES = new byte[0];

    private final int version;
    private final byte[] serialized;

    /** Of {@link #serialized}; null until it is asked for. */
    @Nullable private ReportChecksum checksum;

    /** S6: of the bytes that lay in the writer's state; null for a report that never did. */
    @Nullable private final ReportChecksum persisted;

    // Read once. All reports of a checkpoint are asked several times when it completes; their bytes
    // lie far apart in memory, and would have to be fetched again each time.
    private final long checkpointId;
    private final long watermark;
    private final int committableCount;
    private final boolean idle;
    private final boolean savepoint;

    /** L1: travels with the report, and is not in its bytes. */
    @Nullable private final String savepointPath;

    private EncodedReport(
            int version,
            byte[] serialized,
            @Nullable ReportChecksum checksum,
            @Nullable ReportChecksum persisted) {
        this.version = version;
        this.serialized = serialized;
        this.checksum = checksum;
        this.persisted = persisted;
        this.checkpointId = CheckpointCommittablesSerializer.checkpointId(serialized);
        this.watermark = CheckpointCommittablesSerializer.watermark(serialized);
        this.committableCount =
                CheckpointCommittablesSerializer.committableCount(version, serialized);
        this.idle = CheckpointCommittablesSerializer.idle(version, serialized);
        this.savepoint = CheckpointCommittablesSerializer.savepoint(version, serialized);
        this.savepointPath = null;
    }

    private EncodedReport(
            EncodedReport full, byte[] serialized, int committableCount, @Nullable String path) {
        this.version = full.version;
        this.serialized = serialized;
        this.checksum = serialized == full.serialized ? full.checksum : null;
        this.persisted = full.persisted;
        this.checkpointId = full.checkpointId;
        this.watermark = full.watermark;
        this.committableCount = committableCount;
        this.idle = full.idle;
        this.savepoint = full.savepoint;
        this.savepointPath = path;
    }

    /**
     * @throws IOException S2: when the version is unknown or the layout is broken
     */
    public static EncodedReport of(int version, byte[] serialized) throws IOException {
        CheckpointCommittablesSerializer.validate(version, serialized);
        return new EncodedReport(version, serialized, null, null);
    }

    /**
     * A report that the transport has brought as a whole.
     *
     * @param crc32c what its writer computed
     * @param persisted the report as it lay in the writer's state; null for a new one
     * @throws IOException S2: when the bytes have another checksum, the version is unknown or the
     *     header is broken
     */
    static EncodedReport received(
            int version, byte[] serialized, int crc32c, @Nullable ReportChecksum persisted)
            throws IOException {
        ReportChecksum checksum = ReportChecksum.of(serialized);
        if (checksum.crc32c() != crc32c) {
            throw new IOException(
                    String.format(
                            "It was damaged on its way: %s arrived, its writer sent CRC-32C %08x.",
                            checksum, crc32c));
        }
        CheckpointCommittablesSerializer.validateHeader(version, serialized);
        return new EncodedReport(version, serialized, checksum, persisted);
    }

    /** S4: as version 3 with the savepoint flag, else as version 2, which older builds read. */
    public static EncodedReport encode(
            CheckpointCommittables report, CheckpointCommittablesSerializer serializer)
            throws IOException {
        int version =
                report.savepoint()
                        ? CheckpointCommittablesSerializer.VERSION_3
                        : CheckpointCommittablesSerializer.VERSION_2;
        return new EncodedReport(version, serializer.serialize(version, report), null, null);
    }

    /** Reads one element of the writer's state: version (int), length (int) and bytes. */
    public static EncodedReport fromState(byte[] element) throws IOException {
        if (element.length < 2 * Integer.BYTES) {
            throw new IOException(
                    String.format(
                            "An element of the writer's state has %d bytes, its frame alone takes"
                                    + " %d.",
                            element.length, 2 * Integer.BYTES));
        }
        ByteBuffer in = ByteBuffer.wrap(element);
        int version = in.getInt();
        int length = in.getInt();
        if (length != in.remaining()) {
            throw new IOException(
                    String.format(
                            "An element of the writer's state (version %d) claims %d bytes, %d are"
                                    + " there.",
                            version, length, in.remaining()));
        }
        byte[] serialized = new byte[length];
        in.get(serialized);
        CheckpointCommittablesSerializer.validate(version, serialized);
        ReportChecksum checksum = ReportChecksum.of(serialized);
        return new EncodedReport(version, serialized, checksum, checksum);
    }

    /**
     * S3: the frame of {@link SimpleVersionedSerialization}, as the base release writes it. S4: no
     * version 3 without the flag, also when another build has written the report so.
     */
    public byte[] toState() {
        return asPersisted().frame();
    }

    /** What {@link #toState} writes. */
    EncodedReport asPersisted() {
        return savepoint ? this : withdrawn();
    }

    private byte[] frame() {
        return ByteBuffer.allocate(2 * Integer.BYTES + serialized.length)
                .putInt(version)
                .putInt(serialized.length)
                .put(serialized)
                .array();
    }

    public int version() {
        return version;
    }

    /** The bytes themselves, not a copy: not to be changed. */
    public byte[] serialized() {
        return serialized;
    }

    /** Of the bytes as they are. */
    ReportChecksum checksum() {
        if (checksum == null) {
            checksum = ReportChecksum.of(serialized);
        }
        return checksum;
    }

    /** S6: of the bytes that lay in the writer's state, or would if it had one. */
    public ReportChecksum persisted() {
        return persisted == null ? asPersisted().checksum() : persisted;
    }

    public long checkpointId() {
        return checkpointId;
    }

    public long watermark() {
        return watermark;
    }

    public boolean idle() {
        return idle;
    }

    public boolean savepoint() {
        return savepoint;
    }

    /** L1: where the savepoint is written; null when that is not known. */
    @Nullable
    public String savepointPath() {
        return savepointPath;
    }

    /** L1: the same report, with the path of its savepoint if that is known. */
    public EncodedReport withSavepointPath(@Nullable String path) {
        return path == null ? this : new EncodedReport(this, serialized, committableCount, path);
    }

    public int committableCount() {
        return committableCount;
    }

    /** A4: the same report without its committables, which are committed already. */
    public EncodedReport withoutCommittables() {
        return new EncodedReport(this, NO_BYTES, 0, savepointPath);
    }

    /** A1, S4: the same report without the savepoint flag, in a version that does not have it. */
    public EncodedReport withdrawn() {
        return version >= CheckpointCommittablesSerializer.VERSION_3
                ? new EncodedReport(
                        CheckpointCommittablesSerializer.VERSION_2,
                        CheckpointCommittablesSerializer.withoutSavepointFlag(serialized),
                        null,
                        persisted)
                : this;
    }

    public CheckpointCommittables decode(CheckpointCommittablesSerializer serializer)
            throws IOException {
        return serializer.deserialize(version, serialized);
    }

    @Override
    public String toString() {
        return String.format(
                "EncodedReport{checkpoint %d, %d committables, %d bytes%s}",
                checkpointId(),
                committableCount(),
                serialized.length,
                savepoint() ? ", savepoint" : "");
    }
}
