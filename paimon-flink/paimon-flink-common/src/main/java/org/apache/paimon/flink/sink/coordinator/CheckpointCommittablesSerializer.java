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
import org.apache.paimon.flink.sink.CommittableSerializer;

import org.apache.flink.core.io.SimpleVersionedSerializer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Turns {@link CheckpointCommittables} into bytes and back. Threads: one at a time, as for the
 * base's serializers; the static methods may be called by any.
 *
 * <ul>
 *   <li>version 1: checkpoint id (long), watermark (long), version of the committables (int),
 *       number of committables (int), then per committable its length (int) and bytes
 *   <li>version 2: an idle bit (boolean) after the watermark; absent means false
 *   <li>version 3: a savepoint flag (boolean) after the idle bit; absent means false
 * </ul>
 *
 * <p>S1: it writes version 3 and reads all three. S4: a report without the savepoint flag is
 * written as version 2 by {@link #serialize(int, CheckpointCommittables)}, which older builds can
 * read. S2: whatever does not fit is an {@link IOException} that says what and where, and nothing
 * is allocated by a length that was not checked against the bytes that are there.
 */
public class CheckpointCommittablesSerializer
        implements SimpleVersionedSerializer<CheckpointCommittables> {

    static final int VERSION_1 = 1;
    public static final int VERSION_2 = 2;
    public static final int VERSION_3 = 3;

    private final CommittableSerializer committableSerializer;
    private final CommittableReader reader = new CommittableReader();

    public CheckpointCommittablesSerializer(CommittableSerializer committableSerializer) {
        this.committableSerializer = committableSerializer;
    }

    @Override
    public int getVersion() {
        return VERSION_3;
    }

    @Override
    public byte[] serialize(CheckpointCommittables report) throws IOException {
        return serialize(VERSION_3, report);
    }

    /**
     * @param version 2 or 3; version 2 leaves the savepoint flag out
     */
    public byte[] serialize(int version, CheckpointCommittables report) throws IOException {
        List<byte[]> committables = new ArrayList<>(report.size());
        long length = headerLength(version) + 2L * Integer.BYTES;
        for (Committable committable : report.committables()) {
            byte[] bytes = committableSerializer.serialize(committable);
            committables.add(bytes);
            length += Integer.BYTES + bytes.length;
        }
        if (length > Integer.MAX_VALUE - 8) {
            throw new IOException(
                    String.format(
                            "The report for checkpoint %d takes %d bytes for %d committables, more"
                                    + " than one array holds; checkpoint more often or write"
                                    + " larger files.",
                            report.checkpointId(), length, report.size()));
        }

        ByteBuffer out = ByteBuffer.allocate((int) length);
        out.putLong(report.checkpointId());
        out.putLong(report.watermark());
        out.put(toByte(report.idle()));
        if (version >= VERSION_3) {
            out.put(toByte(report.savepoint()));
        }
        out.putInt(committableSerializer.getVersion());
        out.putInt(committables.size());
        for (byte[] bytes : committables) {
            out.putInt(bytes.length);
            out.put(bytes);
        }
        return out.array();
    }

    @Override
    public CheckpointCommittables deserialize(int version, byte[] serialized) throws IOException {
        Body body = new Body(version, serialized);
        List<Committable> committables = new ArrayList<>(body.count());
        while (body.hasNext()) {
            body.skip();
            committables.add(decode(serialized, body));
        }
        return new CheckpointCommittables(
                checkpointId(serialized),
                committables,
                watermark(serialized),
                idle(version, serialized),
                savepoint(version, serialized));
    }

    private Committable decode(byte[] serialized, Body body) throws IOException {
        try {
            return body.committableVersion() == committableSerializer.getVersion()
                            && reader.canRead(serialized, body.offset(), body.length())
                    ? reader.read(serialized, body.offset(), body.length())
                    : committableSerializer.deserialize(body.committableVersion(), body.copy());
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // The last one where a length in it is absurd, which a checksum would have shown (S2).
            throw new IOException(
                    String.format(
                            "Committable %d of %d (version %d, %d bytes) in the report for"
                                    + " checkpoint %d cannot be read: %s",
                            body.position(),
                            body.count(),
                            body.committableVersion(),
                            body.length(),
                            body.checkpointId(),
                            e.getMessage() == null ? e : e.getMessage()),
                    e);
        }
    }

    // ------------------------------------------------------------------------
    //  The header, readable without a copy
    // ------------------------------------------------------------------------

    /** Checks what the readers below read; makes no object, as it is done for each event. */
    public static void validateHeader(int version, byte[] serialized) throws IOException {
        if (version < VERSION_1 || version > VERSION_3) {
            throw new IOException(
                    String.format(
                            "Unknown version %d of a report; versions %d to %d can be read."
                                    + " A newer build wrote it: use that one or a newer one.",
                            version, VERSION_1, VERSION_3));
        }
        int fixedLength = headerLength(version) + 2 * Integer.BYTES;
        if (serialized.length < fixedLength) {
            throw new IOException(
                    String.format(
                            "A report of version %d has %d bytes, its fixed part alone takes %d.",
                            version, serialized.length, fixedLength));
        }
        for (int offset = IDLE_OFFSET; offset < headerLength(version); offset++) {
            if (serialized[offset] != 0 && serialized[offset] != 1) {
                throw corrupt(
                        serialized,
                        "byte %d is %d, but a boolean is 0 or 1",
                        offset,
                        serialized[offset]);
            }
        }
        if (checkpointId(serialized) < 0) {
            throw new IOException(
                    String.format(
                            "A report is for checkpoint %d, but checkpoint ids are not negative.",
                            checkpointId(serialized)));
        }
        int count = committableCount(version, serialized);
        int left = serialized.length - fixedLength;
        if (count < 0 || count > left / Integer.BYTES) {
            throw corrupt(
                    serialized,
                    "it claims %d committables, the %d bytes left hold at most %d",
                    count,
                    left,
                    left / Integer.BYTES);
        }
    }

    /** Walks the layout to its end, so that later reads of a part of it cannot run out of bytes. */
    public static void validate(int version, byte[] serialized) throws IOException {
        Body body = new Body(version, serialized);
        while (body.hasNext()) {
            body.skip();
        }
    }

    public static long checkpointId(byte[] serialized) {
        return ByteBuffer.wrap(serialized).getLong(0);
    }

    public static long watermark(byte[] serialized) {
        return ByteBuffer.wrap(serialized).getLong(Long.BYTES);
    }

    public static boolean idle(int version, byte[] serialized) {
        return version >= VERSION_2 && serialized[IDLE_OFFSET] != 0;
    }

    public static boolean savepoint(int version, byte[] serialized) {
        return version >= VERSION_3 && serialized[SAVEPOINT_OFFSET] != 0;
    }

    public static int committableCount(int version, byte[] serialized) {
        return ByteBuffer.wrap(serialized).getInt(headerLength(version) + Integer.BYTES);
    }

    /** A copy of a report of version 3 as version 2, which has no savepoint flag. */
    public static byte[] withoutSavepointFlag(byte[] serialized) {
        byte[] copy = new byte[serialized.length - 1];
        System.arraycopy(serialized, 0, copy, 0, SAVEPOINT_OFFSET);
        System.arraycopy(
                serialized,
                SAVEPOINT_OFFSET + 1,
                copy,
                SAVEPOINT_OFFSET,
                copy.length - SAVEPOINT_OFFSET);
        return copy;
    }

    private static final int IDLE_OFFSET = 2 * Long.BYTES;
    private static final int SAVEPOINT_OFFSET = IDLE_OFFSET + 1;

    private static int headerLength(int version) {
        return 2 * Long.BYTES + (version - VERSION_1);
    }

    private static byte toByte(boolean bit) {
        return (byte) (bit ? 1 : 0);
    }

    /** Reads the part behind the header, one committable after the other. */
    static final class Body {

        private final byte[] serialized;
        private final int committableVersion;
        private final int count;

        /** How many committables were taken so far. */
        private int position;

        private int length;

        /** Where the next committable's length lies. */
        private int next;

        Body(int version, byte[] serialized) throws IOException {
            validateHeader(version, serialized);
            this.serialized = serialized;
            int header = headerLength(version);
            this.committableVersion = ByteBuffer.wrap(serialized).getInt(header);
            this.count = committableCount(version, serialized);
            this.next = header + 2 * Integer.BYTES;
        }

        long checkpointId() {
            return CheckpointCommittablesSerializer.checkpointId(serialized);
        }

        int committableVersion() {
            return committableVersion;
        }

        int count() {
            return count;
        }

        int position() {
            return position;
        }

        /** False after the last committable, when no byte is left over. */
        boolean hasNext() throws IOException {
            if (position < count) {
                return true;
            }
            if (left() > 0) {
                throw corrupt(
                        serialized,
                        "%d bytes are left over behind its last committable at offset %d",
                        left(),
                        next);
            }
            return false;
        }

        /** Goes to the next committable. */
        void skip() throws IOException {
            length = nextLength();
            next += Integer.BYTES + length;
        }

        /** Where the committable begins that was gone to last. */
        int offset() {
            return next - length;
        }

        int length() {
            return length;
        }

        byte[] copy() {
            return Arrays.copyOfRange(serialized, offset(), next);
        }

        private int left() {
            return serialized.length - next;
        }

        private int nextLength() throws IOException {
            position++;
            if (left() < Integer.BYTES) {
                throw corrupt(
                        serialized,
                        "%d bytes are left at offset %d, too few for the length of committable %d"
                                + " of %d",
                        left(),
                        next,
                        position,
                        count);
            }
            int length = ByteBuffer.wrap(serialized).getInt(next);
            if (length < 0 || length > left() - Integer.BYTES) {
                throw corrupt(
                        serialized,
                        "committable %d of %d claims %d bytes at offset %d, where %d are left",
                        position,
                        count,
                        length,
                        next,
                        left() - Integer.BYTES);
            }
            return length;
        }
    }

    private static IOException corrupt(byte[] serialized, String format, Object... args) {
        return new IOException(
                String.format(
                        "The report for checkpoint %d (%d bytes) is corrupt: %s.",
                        checkpointId(serialized), serialized.length, String.format(format, args)));
    }
}
