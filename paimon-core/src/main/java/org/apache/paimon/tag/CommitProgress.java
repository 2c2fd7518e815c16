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

package org.apache.paimon.tag;

import javax.annotation.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * A4: what a checkpoint knows of the commits before it. Immutable.
 *
 * <p>It is kept as bytes in a state of a name of its own. It names its checkpoint, because a build
 * that does not know that state carries it along unread into its own checkpoints.
 *
 * <p>Layout of version 1: version (int), checkpoint id (long), run id (UTF), committed up to
 * (long), creation time of the table (long), anchor id and time (long, long), whether there is a
 * newest own snapshot (boolean), and then its id, time and identifier (long, long, long), whether
 * it names a run (boolean), and that run (UTF).
 */
public final class CommitProgress {

    private static final int VERSION = 1;

    private final long checkpointId;
    private final String runId;
    private final long committedUpTo;
    private final long tableCreationMillis;
    private final SnapshotPosition anchor;
    @Nullable private final OwnSnapshot newestOwn;

    /**
     * @param runId who commits what the checkpoint holds
     * @param committedUpTo everything up to this identifier is committed and tagged
     * @param tableCreationMillis when the table was created
     * @param anchor the newest snapshot of the table, of whatever commit user
     * @param newestOwn the newest snapshot of this commit user; null when none is known
     */
    public CommitProgress(
            long checkpointId,
            String runId,
            long committedUpTo,
            long tableCreationMillis,
            SnapshotPosition anchor,
            @Nullable OwnSnapshot newestOwn) {
        this.checkpointId = checkpointId;
        this.runId = runId;
        this.committedUpTo = committedUpTo;
        this.tableCreationMillis = tableCreationMillis;
        this.anchor = anchor;
        this.newestOwn = newestOwn;
    }

    /** The same in a later checkpoint. */
    public CommitProgress as(long laterCheckpointId) {
        return new CommitProgress(
                laterCheckpointId, runId, committedUpTo, tableCreationMillis, anchor, newestOwn);
    }

    public long checkpointId() {
        return checkpointId;
    }

    public String runId() {
        return runId;
    }

    public long committedUpTo() {
        return committedUpTo;
    }

    public long tableCreationMillis() {
        return tableCreationMillis;
    }

    public SnapshotPosition anchor() {
        return anchor;
    }

    @Nullable
    public OwnSnapshot newestOwn() {
        return newestOwn;
    }

    public byte[] toBytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(VERSION);
        out.writeLong(checkpointId);
        out.writeUTF(runId);
        out.writeLong(committedUpTo);
        out.writeLong(tableCreationMillis);
        writePosition(out, anchor);
        out.writeBoolean(newestOwn != null);
        if (newestOwn != null) {
            writePosition(out, newestOwn.position());
            out.writeLong(newestOwn.identifier());
            out.writeBoolean(newestOwn.runId() != null);
            if (newestOwn.runId() != null) {
                out.writeUTF(newestOwn.runId());
            }
        }
        return bytes.toByteArray();
    }

    /**
     * @throws IOException S2: when the version is unknown, or bytes are missing or left over
     */
    public static CommitProgress fromBytes(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        try {
            int version = in.readInt();
            if (version != VERSION) {
                throw new IOException(
                        String.format(
                                "unknown version %d; version %d can be read. A newer build wrote"
                                        + " it: use that one or a newer one",
                                version, VERSION));
            }
            CommitProgress progress = read(in);
            if (in.available() > 0) {
                throw new IOException(in.available() + " bytes are left over");
            }
            return progress;
        } catch (IOException e) {
            throw new IOException(
                    String.format(
                            "What the checkpoint knows of earlier commits (%d bytes) cannot be"
                                    + " read: %s.",
                            bytes.length, e.getMessage() == null ? e : e.getMessage()),
                    e);
        }
    }

    private static CommitProgress read(DataInputStream in) throws IOException {
        long checkpointId = in.readLong();
        String runId = in.readUTF();
        long committedUpTo = in.readLong();
        long tableCreationMillis = in.readLong();
        SnapshotPosition anchor = readPosition(in);
        OwnSnapshot newestOwn = null;
        if (in.readBoolean()) {
            SnapshotPosition position = readPosition(in);
            long identifier = in.readLong();
            newestOwn =
                    new OwnSnapshot(position, identifier, in.readBoolean() ? in.readUTF() : null);
        }
        return new CommitProgress(
                checkpointId, runId, committedUpTo, tableCreationMillis, anchor, newestOwn);
    }

    private static void writePosition(DataOutputStream out, SnapshotPosition position)
            throws IOException {
        out.writeLong(position.id());
        out.writeLong(position.timeMillis());
    }

    private static SnapshotPosition readPosition(DataInputStream in) throws IOException {
        return new SnapshotPosition(in.readLong(), in.readLong());
    }

    @Override
    public String toString() {
        return String.format(
                "CommitProgress{checkpoint %d, run %s, committed up to %d, anchor %s, newest own %s}",
                checkpointId, runId, committedUpTo, anchor, newestOwn);
    }
}
