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

import org.apache.paimon.Snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * L2: a savepoint that is tagged, and of which it is not known whether it has completed.
 *
 * <pre>
 *   version (byte), checkpoint it was written in (long), savepoint (long), length of the path (int),
 *   path (UTF-8), the tagged snapshot (JSON in UTF-8)
 * </pre>
 */
final class UnconfirmedSavepoint {

    private static final byte VERSION = 1;
    private static final int FIXED_LENGTH = 1 + 2 * Long.BYTES + Integer.BYTES;

    private final long savepointId;
    private final String path;
    private final Snapshot snapshot;

    UnconfirmedSavepoint(long savepointId, String path, Snapshot snapshot) {
        this.savepointId = savepointId;
        this.path = path;
        this.snapshot = snapshot;
    }

    long savepointId() {
        return savepointId;
    }

    String path() {
        return path;
    }

    /** The one that is tagged for it. */
    Snapshot snapshot() {
        return snapshot;
    }

    byte[] toBytes(long writtenIn) {
        byte[] pathBytes = path.getBytes(StandardCharsets.UTF_8);
        byte[] json = snapshot.toJson().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(FIXED_LENGTH + pathBytes.length + json.length)
                .put(VERSION)
                .putLong(writtenIn)
                .putLong(savepointId)
                .putInt(pathBytes.length)
                .put(pathBytes)
                .put(json)
                .array();
    }

    /** The checkpoint in whose state it was written. */
    static long writtenIn(byte[] bytes) throws IOException {
        if (bytes.length < FIXED_LENGTH) {
            throw new IOException(
                    String.format(
                            "An unconfirmed savepoint in the coordinator's state has %d bytes, its"
                                    + " fixed part alone takes %d.",
                            bytes.length, FIXED_LENGTH));
        }
        if (bytes[0] != VERSION) {
            throw new IOException(
                    String.format(
                            "Unknown version %d of an unconfirmed savepoint in the coordinator's"
                                    + " state; version %d can be read. A newer build wrote it: use"
                                    + " that one or a newer one.",
                            bytes[0], VERSION));
        }
        return ByteBuffer.wrap(bytes).getLong(1);
    }

    /**
     * @throws IOException S2: when the version is unknown or the layout is broken
     */
    static UnconfirmedSavepoint fromBytes(byte[] bytes) throws IOException {
        writtenIn(bytes);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        in.position(1 + Long.BYTES);
        long savepointId = in.getLong();
        int pathLength = in.getInt();
        if (pathLength < 0 || pathLength > in.remaining()) {
            throw new IOException(
                    String.format(
                            "The unconfirmed savepoint %d in the coordinator's state claims a path"
                                    + " of %d bytes, %d are there.",
                            savepointId, pathLength, in.remaining()));
        }
        String path = new String(bytes, FIXED_LENGTH, pathLength, StandardCharsets.UTF_8);
        int jsonAt = FIXED_LENGTH + pathLength;
        String json = new String(bytes, jsonAt, bytes.length - jsonAt, StandardCharsets.UTF_8);
        try {
            return new UnconfirmedSavepoint(savepointId, path, Snapshot.fromJson(json));
        } catch (RuntimeException e) {
            throw new IOException(
                    String.format(
                            "The snapshot of the unconfirmed savepoint %d in the coordinator's"
                                    + " state cannot be read: %s",
                            savepointId, e.getMessage()),
                    e);
        }
    }
}
