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

import javax.annotation.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * S6: what a writer's state says of one of the reports in it, beside the report's own bytes, whose
 * layout is the base's: its checksum, and where its savepoint is written (L1).
 *
 * <p>It names the report that it belongs to, since both lie in list states of their own, which are
 * not split alike when the parallelism changes. It names the checkpoint that it was written in: a
 * build that does not know this state carries it along, but may have rewritten the reports.
 *
 * <pre>
 *   version (byte), checkpoint it was written in (long), checkpoint of the report (long),
 *   length of the report (int), CRC-32C of the report (int), length of the path (int; -1 for
 *   none), path (UTF-8)
 * </pre>
 */
public final class ReportSideState {

    private static final byte VERSION = 1;
    private static final int FIXED_LENGTH = 1 + 2 * Long.BYTES + 3 * Integer.BYTES;
    private static final int NO_PATH = -1;

    private final long writtenIn;
    private final long checkpointId;
    private final ReportChecksum checksum;
    @Nullable private final String savepointPath;

    private ReportSideState(
            long writtenIn,
            long checkpointId,
            ReportChecksum checksum,
            @Nullable String savepointPath) {
        this.writtenIn = writtenIn;
        this.checkpointId = checkpointId;
        this.checksum = checksum;
        this.savepointPath = savepointPath;
    }

    /** Of a report as it is written into the state of a checkpoint. */
    static ReportSideState of(EncodedReport persisted, long writtenIn) {
        return new ReportSideState(
                writtenIn,
                persisted.checkpointId(),
                persisted.checksum(),
                persisted.savepointPath());
    }

    /** The checkpoint in whose state it was written. */
    public long writtenIn() {
        return writtenIn;
    }

    /** The checkpoint whose report it belongs to. */
    public long checkpointId() {
        return checkpointId;
    }

    public ReportChecksum checksum() {
        return checksum;
    }

    /** L1: where the reported savepoint is written; null when that is not known. */
    @Nullable
    public String savepointPath() {
        return savepointPath;
    }

    public byte[] toBytes() {
        byte[] path = savepointPath == null ? null : savepointPath.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(FIXED_LENGTH + (path == null ? 0 : path.length));
        out.put(VERSION).putLong(writtenIn).putLong(checkpointId);
        out.putInt(checksum.length()).putInt(checksum.crc32c());
        out.putInt(path == null ? NO_PATH : path.length);
        if (path != null) {
            out.put(path);
        }
        return out.array();
    }

    /**
     * @throws IOException S2: when the version is unknown or the layout is broken
     */
    public static ReportSideState fromBytes(byte[] bytes) throws IOException {
        if (bytes.length > 0 && bytes[0] != VERSION) {
            throw new IOException(
                    String.format(
                            "Unknown version %d of the side state of a report; version %d can be"
                                    + " read. A newer build wrote it: use that one or a newer one.",
                            bytes[0], VERSION));
        }
        if (bytes.length < FIXED_LENGTH) {
            throw new IOException(
                    String.format(
                            "The side state of a report has %d bytes, its fixed part alone takes"
                                    + " %d.",
                            bytes.length, FIXED_LENGTH));
        }
        ByteBuffer in = ByteBuffer.wrap(bytes, 1, bytes.length - 1);
        long writtenIn = in.getLong();
        long checkpointId = in.getLong();
        int length = in.getInt();
        ReportChecksum checksum = new ReportChecksum(length, in.getInt());
        int pathLength = in.getInt();
        if (pathLength < NO_PATH || Math.max(pathLength, 0) != in.remaining()) {
            throw new IOException(
                    String.format(
                            "The side state of the report for checkpoint %d claims a path of %d"
                                    + " bytes, %d are there.",
                            checkpointId, pathLength, in.remaining()));
        }
        String path =
                pathLength == NO_PATH
                        ? null
                        : new String(bytes, FIXED_LENGTH, pathLength, StandardCharsets.UTF_8);
        return new ReportSideState(writtenIn, checkpointId, checksum, path);
    }

    @Override
    public String toString() {
        return String.format(
                "ReportSideState{checkpoint %d, %s, written in checkpoint %d%s}",
                checkpointId,
                checksum,
                writtenIn,
                savepointPath == null ? "" : ", savepoint " + savepointPath);
    }
}
