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


import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.flink.sink.state.CoordinatorState;
import org.apache.paimon.flink.sink.state.CoordinatorStateSerializer;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.core.io.SimpleVersionedSerializer;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes the golden bytes that the tests of the reports and of the coordinator's state compare with.
 *
 * <p>Runs on the untouched released jar: {@code tools/golden-reports/generate} leaves the classes of
 * this repository off the class path, and this checks that they are not there. The layouts of spec
 * S1 and S3 are written out field by field with a {@link DataOutputStream}; only what a committable
 * holds is left to the released serializer. The files named {@code stock-*} are written by the
 * released classes alone.
 */
public final class GoldenReports {

    private static final long CHECKPOINT = 42L;
    private static final long WATERMARK = 1_700_000_000_123L;

    private static final CommittableSerializer COMMITTABLES =
            new CommittableSerializer(new CommitMessageSerializer());

    private GoldenReports() {}

    public static void main(String[] args) throws IOException {
        CheckpointCommittablesSerializer stock = new CheckpointCommittablesSerializer(COMMITTABLES);
        if (stock.getVersion() != 2) {
            throw new IllegalStateException(
                    "The serializer on the class path writes version "
                            + stock.getVersion()
                            + ", not the released one's version 2.");
        }
        Path directory = Paths.get(args[0]);
        Files.createDirectories(directory);

        List<Committable> committables =
                Arrays.asList(
                        committable("data-golden-0.parquet", 11L, 1_111L),
                        committable("data-golden-1.parquet", 22L, 2_222L));
        write(directory, "report-v1", report(1, committables, false, false));
        write(directory, "report-v2", report(2, committables, true, false));
        write(directory, "report-v3", report(3, committables, true, true));
        write(directory, "report-v3-plain", report(3, committables, false, false));
        write(directory, "report-v3-empty", report(3, Collections.emptyList(), false, true));

        CheckpointCommittables idle =
                new CheckpointCommittables(CHECKPOINT, committables, WATERMARK, true);
        write(directory, "stock-report-v2", stock.serialize(idle));
        write(directory, "stock-element-v2", frame(stock, idle));

        // S5: the writer's state as upstream's version 3 leaves it, with savepoint 42 pending.
        write(
                directory,
                "upstream-element-v3-savepoint",
                element(3, report(3, committables, false, true)));
        write(
                directory,
                "upstream-element-v3-empty",
                element(3, report(3, Collections.emptyList(), false, true)));
        write(
                directory,
                "upstream-element-v3-checkpoint",
                element(3, report(CHECKPOINT + 1, 3, Collections.emptyList(), false, false)));

        Map<String, byte[]> states = new TreeMap<>();
        states.put("some_state", new byte[] {1, 2, 3});
        write(directory, "coordinator-state", coordinatorState("golden-user", states));
        write(
                directory,
                "stock-coordinator-state",
                frame(new CoordinatorStateSerializer(), new CoordinatorState("golden-user", states)));
        write(
                directory,
                "coordinator-state-empty",
                coordinatorState("golden-user", Collections.emptyMap()));
    }

    /** S1: the layout of one report, version by version. */
    private static byte[] report(
            int version, List<Committable> committables, boolean idle, boolean savepoint)
            throws IOException {
        return report(CHECKPOINT, version, committables, idle, savepoint);
    }

    private static byte[] report(
            long checkpoint,
            int version,
            List<Committable> committables,
            boolean idle,
            boolean savepoint)
            throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(checkpoint);
        out.writeLong(WATERMARK);
        if (version >= 2) {
            out.writeBoolean(idle);
        }
        if (version >= 3) {
            out.writeBoolean(savepoint);
        }
        out.writeInt(COMMITTABLES.getVersion());
        out.writeInt(committables.size());
        for (Committable committable : committables) {
            byte[] serialized = COMMITTABLES.serialize(committable);
            out.writeInt(serialized.length);
            out.write(serialized);
        }
        return bytes.toByteArray();
    }

    /** S3: an element of the writer's state: version, length and the report. */
    private static byte[] element(int version, byte[] report) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(version);
        out.writeInt(report.length);
        out.write(report);
        return bytes.toByteArray();
    }

    /** S3: version 1, length, commit user, and the committer's states as a map. */
    private static byte[] coordinatorState(String commitUser, Map<String, byte[]> states)
            throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(body);
        out.writeUTF(commitUser);
        out.writeInt(states.size());
        for (Map.Entry<String, byte[]> state : states.entrySet()) {
            // Flink's StringValue writes the length plus one, then each char; all are ASCII here.
            out.writeByte(state.getKey().length() + 1);
            out.write(state.getKey().getBytes(StandardCharsets.US_ASCII));
            out.writeBoolean(false); // not null
            out.writeInt(state.getValue().length);
            out.write(state.getValue());
        }
        ByteArrayOutputStream framed = new ByteArrayOutputStream();
        DataOutputStream frame = new DataOutputStream(framed);
        frame.writeInt(1);
        frame.writeInt(body.size());
        frame.write(body.toByteArray());
        return framed.toByteArray();
    }

    private static <T> byte[] frame(SimpleVersionedSerializer<T> serializer, T value)
            throws IOException {
        return SimpleVersionedSerialization.writeVersionAndSerialize(serializer, value);
    }

    private static Committable committable(String fileName, long rows, long size) {
        DataFileMeta file =
                DataFileMeta.create(
                        fileName,
                        size,
                        rows,
                        DataFileMeta.EMPTY_MIN_KEY,
                        DataFileMeta.EMPTY_MAX_KEY,
                        SimpleStats.EMPTY_STATS,
                        SimpleStats.EMPTY_STATS,
                        0L,
                        rows - 1,
                        0L,
                        DataFileMeta.DUMMY_LEVEL,
                        Collections.emptyList(),
                        Timestamp.fromEpochMillis(1_600_000_000_000L),
                        null,
                        null,
                        FileSource.APPEND,
                        null,
                        null,
                        null,
                        null);
        return new Committable(
                CHECKPOINT,
                new CommitMessageImpl(
                        BinaryRow.EMPTY_ROW,
                        0,
                        -1,
                        new DataIncrement(
                                Collections.singletonList(file),
                                Collections.emptyList(),
                                Collections.emptyList()),
                        CompactIncrement.emptyIncrement()));
    }

    /** Hexadecimal, 32 bytes a line, so that a difference can be read. */
    private static void write(Path directory, String name, byte[] bytes) throws IOException {
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < bytes.length; i++) {
            hex.append(String.format("%02x", bytes[i]));
            if (i % 32 == 31 || i == bytes.length - 1) {
                hex.append('\n');
            }
        }
        Files.write(
                directory.resolve(name + ".hex"),
                hex.toString().getBytes(StandardCharsets.US_ASCII));
    }
}
