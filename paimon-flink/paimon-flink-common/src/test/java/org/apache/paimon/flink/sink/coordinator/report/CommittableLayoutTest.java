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

import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryRowWriter;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.index.DeletionVectorMeta;
import org.apache.paimon.index.GlobalIndexMeta;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataTypes;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** S2: what a committable holds is checked before the base reads it through raw memory. */
@SuppressWarnings("try") // the base's close() may be interrupted
class CommittableLayoutTest {

    private static final CommittableSerializer COMMITTABLES =
            new CommittableSerializer(new CommitMessageSerializer());

    // ------------------------------------------------------------------------
    //  Nothing good is refused
    // ------------------------------------------------------------------------

    @Test
    @Tag("slow")
    @DisplayName("S2: whatever a wide partitioned table writes passes")
    void passesWhatRealTablesWrite(@TempDir File directory) throws Exception {
        FileSystemCatalog catalog =
                new FileSystemCatalog(LocalFileIO.create(), new Path(directory.toURI().toString()));
        catalog.createDatabase("db", true);
        Schema.Builder schema =
                Schema.newBuilder()
                        .column("day", DataTypes.STRING())
                        .column("hour", DataTypes.INT())
                        .column("price", DataTypes.DECIMAL(38, 10))
                        .column("at", DataTypes.TIMESTAMP(9))
                        .partitionKeys("day", "hour")
                        .option("bucket", "-1")
                        .option("write-only", "true")
                        .option("file.format", "parquet")
                        .option("metadata.stats-mode", "full")
                        .option("file-index.bloom-filter.columns", "c0");
        int columns = 30;
        for (int i = 0; i < columns; i++) {
            schema.column("c" + i, i % 2 == 0 ? DataTypes.STRING() : DataTypes.BIGINT());
        }
        Identifier identifier = Identifier.create("db", "wide");
        catalog.createTable(identifier, schema.build(), false);
        FileStoreTable table = (FileStoreTable) catalog.getTable(identifier);

        List<CommitMessage> messages;
        try (StreamTableWrite write = table.newWrite("user")) {
            for (int row = 0; row < 20; row++) {
                GenericRow values = new GenericRow(4 + columns);
                values.setField(0, BinaryString.fromString("2026-01-0" + row % 4));
                values.setField(1, row % 2 == 0 ? null : row);
                values.setField(3, Timestamp.fromEpochMillis(row, 123_456));
                for (int i = 0; i < columns; i += 3) {
                    values.setField(
                            4 + i,
                            i % 2 == 0
                                    ? BinaryString.fromString("a longer value " + row + i)
                                    : (Object) (long) i);
                }
                write.write(values);
            }
            messages = write.prepareCommit(true, 1);
        }

        assertThat(messages).hasSizeGreaterThan(4);
        for (CommitMessage message : messages) {
            assertPasses(message);
        }
    }

    @Test
    @DisplayName("S2: every kind of file and every optional field passes")
    void passesEveryKindOfFile() throws Exception {
        DataFileMeta bare = dataFile("f", Collections.emptyList(), null, null, null);
        DataFileMeta full =
                dataFile(
                        "a-file-name-that-does-not-fit-into-a-word",
                        Arrays.asList("x", "an extra file with a long name", ""),
                        new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9},
                        "oss://somewhere/else",
                        Arrays.asList("c", "a_long_column_name"));
        LinkedHashMap<String, DeletionVectorMeta> vectors = new LinkedHashMap<>();
        vectors.put("some-data-file-0", new DeletionVectorMeta("some-data-file-0", 1, 22, 333L));
        vectors.put("f", new DeletionVectorMeta("f", 23, 22, null));
        IndexFileMeta vectorIndex =
                new IndexFileMeta("DELETION_VECTORS", "index-0", 5L, 6L, vectors, "file:/x/y/z");
        IndexFileMeta hashIndex =
                new IndexFileMeta(
                        "HASH",
                        "index-1",
                        5L,
                        6L,
                        (LinkedHashMap<String, DeletionVectorMeta>) null,
                        null);
        IndexFileMeta globalIndex =
                new IndexFileMeta(
                        "btree",
                        "index-2",
                        5L,
                        6L,
                        new GlobalIndexMeta(0L, 9L, 1, new int[] {2, 3}, new byte[] {4, 5}),
                        null);

        for (Integer totalBuckets : new Integer[] {null, -1, 8}) {
            for (BinaryRow partition :
                    Arrays.asList(
                            BinaryRow.EMPTY_ROW,
                            BinaryRow.singleColumn(7),
                            BinaryRow.singleColumn("a partition of some length"))) {
                assertPasses(
                        new CommitMessageImpl(
                                partition,
                                3,
                                totalBuckets,
                                new DataIncrement(
                                        Arrays.asList(bare, full),
                                        Arrays.asList(full),
                                        Arrays.asList(bare),
                                        Arrays.asList(vectorIndex, hashIndex),
                                        Arrays.asList(globalIndex)),
                                new CompactIncrement(
                                        Arrays.asList(full),
                                        Arrays.asList(bare, full),
                                        Arrays.asList(full),
                                        Arrays.asList(globalIndex),
                                        Arrays.asList(vectorIndex))));
            }
        }
        assertPasses(
                new CommitMessageImpl(
                        BinaryRow.EMPTY_ROW,
                        0,
                        null,
                        DataIncrement.emptyIncrement(),
                        CompactIncrement.emptyIncrement()));
    }

    private static void assertPasses(CommitMessage message) throws IOException {
        byte[] bytes = COMMITTABLES.serialize(new Committable(1, message));
        CommittableLayout.check(bytes);
        assertThat(COMMITTABLES.deserialize(COMMITTABLES.getVersion(), bytes).commitMessage())
                .isEqualTo(message);
    }

    private static DataFileMeta dataFile(
            String name,
            List<String> extraFiles,
            byte[] embeddedIndex,
            String externalPath,
            List<String> columns) {
        return DataFileMeta.create(
                name,
                100L,
                10L,
                DataFileMeta.EMPTY_MIN_KEY,
                DataFileMeta.EMPTY_MAX_KEY,
                SimpleStats.EMPTY_STATS,
                SimpleStats.EMPTY_STATS,
                0L,
                9L,
                0L,
                DataFileMeta.DUMMY_LEVEL,
                new ArrayList<>(extraFiles),
                Timestamp.fromEpochMillis(1_600_000_000_000L),
                externalPath == null ? null : 1L,
                embeddedIndex,
                FileSource.APPEND,
                columns,
                externalPath,
                externalPath == null ? null : 17L,
                columns);
    }

    // ------------------------------------------------------------------------
    //  Nothing bad passes
    // ------------------------------------------------------------------------

    /** Where the binary row of the first data file starts in the golden committable. */
    private static final int ROW = 8 + 4 + 12 + 4 + 5 + 4 + 4;

    private static final int NULL_BITS = BinaryRow.calculateBitSetWidthInBytes(20);

    @Test
    @DisplayName("S2: an offset that points out of its row is refused (the base would crash there)")
    void refusesOffsetsOutOfTheRow() throws Exception {
        for (long word :
                new long[] {
                    (1L << 62) | 10, // far above
                    (168L << 32) | Integer.MAX_VALUE, // too long
                    (168L << 32) | 0xFFFFFFFFL // a negative length
                }) {
            assertThatThrownBy(() -> CommittableLayout.check(withFileName(word)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(
                            "_FILE_NAME claims "
                                    + (int) word
                                    + " bytes at offset "
                                    + (int) (word >> 32));
        }
        // Marked as short, with a length that a word cannot hold.
        assertThatThrownBy(() -> CommittableLayout.check(withFileName(-1L)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("_FILE_NAME claims 127 bytes within a word");
    }

    @Test
    @DisplayName("S2: a null where the base never asks for one is refused")
    void refusesNullsThatTheBaseWouldRead() throws Exception {
        byte[] nullName = goldenCommittable();
        nullName[ROW + 1] |= 1;
        assertThatThrownBy(() -> CommittableLayout.check(nullName))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("_FILE_NAME is null");

        byte[] nullCounts = goldenCommittable();
        ByteBuffer rows = ByteBuffer.wrap(nullCounts).order(ByteOrder.nativeOrder());
        int keyStats = ROW + (int) (rows.getLong(ROW + NULL_BITS + 8 * 5) >> 32);
        nullCounts[keyStats + 1] |= 1 << 2;
        assertThatThrownBy(() -> CommittableLayout.check(nullCounts))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("_NULL_COUNTS is null");
    }

    @Test
    @DisplayName("S2: a null that has a value as well is refused, whatever its type")
    void refusesNullsWithValues() throws Exception {
        byte[] golden = committable(key());
        for (DataField field : DataFileMeta.SCHEMA.getFields()) {
            if (!field.type().isNullable()) {
                continue;
            }
            int index = DataFileMeta.SCHEMA.getFieldIndex(field.name());
            byte[] changed = withLong(golden, word(field.name()), 0);
            changed[FILES + 4 + (8 + index) / 8] |= 1 << (8 + index) % 8;
            CommittableLayout.check(changed);

            refused(
                    withLong(changed, word(field.name()), 1_234_567_890_123L),
                    field.name() + " is null and has a value at the same time");
        }
    }

    @Test
    @DisplayName("S2: a commit message of another version is refused with both versions")
    void refusesOtherMessageVersions() throws Exception {
        byte[] committable = goldenCommittable();
        ByteBuffer.wrap(committable).putInt(committable.length - 4, 3);

        assertThatThrownBy(() -> CommittableLayout.check(committable))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version 3")
                .hasMessageContaining("version " + CommitMessageSerializer.CURRENT_VERSION);
    }

    @Test
    @DisplayName("S2: a committable that was cut off at any byte, or is too long, is refused")
    void refusesOtherLengths() throws Exception {
        byte[] golden = goldenCommittable();
        CommittableLayout.check(golden);
        for (int length = 0; length < golden.length; length++) {
            byte[] truncated = Arrays.copyOf(golden, length);
            assertThatThrownBy(() -> CommittableLayout.check(truncated))
                    .isInstanceOf(IOException.class);
        }
        ByteBuffer overlong = ByteBuffer.allocate(golden.length + 5);
        overlong.put(golden, 0, golden.length - 4);
        overlong.putInt(overlong.capacity() - 4, CommitMessageSerializer.CURRENT_VERSION);
        refused(
                overlong.array(),
                "5 bytes are left over at offset " + (golden.length - Integer.BYTES));
    }

    @Test
    @DisplayName("S2: a message that breaks off at any byte is refused with what is missing")
    void refusesMessagesThatBreakOff() throws Exception {
        byte[] golden = goldenCommittable();
        for (int length = 8; length < golden.length - 4; length++) {
            byte[] broken = Arrays.copyOf(golden, length + 4);
            ByteBuffer.wrap(broken).putInt(length, CommitMessageSerializer.CURRENT_VERSION);
            assertThatThrownBy(() -> CommittableLayout.check(broken))
                    .isInstanceOf(IOException.class)
                    .message()
                    .containsAnyOf("are left", "bytes at offset");
        }
    }

    @Test
    @DisplayName("S2: a message that breaks off within the number of buckets says so")
    void refusesMessagesWithoutTheirBuckets() throws Exception {
        int left = 2;
        byte[] broken = Arrays.copyOf(committable(key()), BOOLEAN + 1 + left + Integer.BYTES);
        broken[BOOLEAN] = 1;

        refused(
                withInt(broken, BOOLEAN + 1 + left, CommitMessageSerializer.CURRENT_VERSION),
                left
                        + " bytes are left at offset "
                        + (BOOLEAN + 1)
                        + ", too few for the number of buckets");
    }

    @Test
    @DisplayName("S2: a number of buckets is there or not, and nothing else")
    void refusesOtherBooleans() throws Exception {
        byte[] committable = committable(key());
        committable[BOOLEAN] = 2;

        refused(committable, "byte " + BOOLEAN + " is 2, but a boolean is 0 or 1");
    }

    @Test
    @DisplayName("S2: lengths and counts that the bytes cannot hold are refused with their place")
    void refusesLengthsInTheMessage() throws Exception {
        byte[] golden = committable(key());
        int left = golden.length - 4 - FILES;

        int most = left / 4;
        refused(
                withInt(golden, FILES - 4, most + 1),
                String.format(
                        "a list of data files claims %d of them at offset %d, where %d bytes are"
                                + " left",
                        most + 1, FILES - 4, left));
        refused(withInt(golden, FILES - 4, -1), "a list of data files claims -1 of them");
        for (int length : new int[] {-1, left}) {
            refused(
                    withInt(golden, FILES, length),
                    String.format(
                            "data file claims %d bytes at offset %d, where %d are left",
                            length, FILES, left - 4));
        }
        refused(withInt(golden, FILES, 0), "data file has 0 bytes at offset " + (FILES + 4));
        refused(withInt(golden, 8, Integer.MAX_VALUE), "the partition claims 2147483647 bytes");
        refused(withInt(golden, 8, 2), "the partition has 2 bytes at offset 12, its fixed part");
        refused(withInt(golden, 12, 7), "the partition claims 7 fields in 12 bytes");
    }

    @Test
    @DisplayName("S2: a serialized row within a row is checked like the row around it")
    void refusesSerializedRows() throws Exception {
        byte[] golden = committable(key());
        int word = word("_MIN_KEY");
        int at = target(golden, word);
        int size = 4 + 8 + 3 * 8;
        assertThat((int) rows(golden).getLong(word)).isEqualTo(size);

        refused(withWord(golden, word, offset(golden, word), 1 << 20), "_MIN_KEY claims 1048576");
        refused(
                withWord(golden, word, offset(golden, word), 3),
                "_MIN_KEY has 3 bytes at offset " + at + ", its fixed part alone takes 4");
        refused(
                withInt(golden, at, 4),
                String.format(
                        "_MIN_KEY has %d bytes at offset %d, its fixed part alone takes %d",
                        size, at, 4 + 8 + 4 * 8));
        for (int arity : new int[] {-1, 5, Integer.MAX_VALUE}) {
            refused(
                    withInt(golden, at, arity),
                    "_MIN_KEY claims " + arity + " fields in " + size + " bytes");
        }
    }

    @Test
    @DisplayName("S2: an array within a row is checked, and so is each of its elements")
    void refusesArrays() throws Exception {
        byte[] golden = committable(key());
        int word = word("_EXTRA_FILES");
        int at = target(golden, word);
        int size = (int) rows(golden).getLong(word);
        int header = 4 + 4;

        refused(
                withWord(golden, word, offset(golden, word), 1 << 20),
                "_EXTRA_FILES claims 1048576 bytes at offset " + offset(golden, word));
        refused(
                withWord(golden, word, offset(golden, word), 3),
                "_EXTRA_FILES has 3 bytes at offset " + at + ", its fixed part alone takes 4");
        int most = size / 8;
        for (int count : new int[] {-1, most + 1, Integer.MAX_VALUE}) {
            refused(
                    withRowInt(golden, at, count),
                    String.format(
                            "_EXTRA_FILES claims %d elements of 8 bytes in an array of %d bytes",
                            count, size));
        }
        refused(
                withRowInt(golden, at, most),
                String.format(
                        "_EXTRA_FILES has %d bytes at offset %d, its fixed part alone takes %d",
                        size, at, header + 8 * most));
        for (int element = 0; element < 2; element++) {
            refused(
                    withWord(golden, at + header + 8 * element, 16, 1 << 20),
                    String.format(
                            "_EXTRA_FILES claims 1048576 bytes at offset 16 of the %d bytes at %d",
                            size, at));
        }
    }

    @Test
    @DisplayName("S2: a row within a row is checked, and so is what is in it")
    void refusesRowsWithinRows() throws Exception {
        byte[] golden = committable(key());
        int word = word("_VALUE_STATS");
        int at = target(golden, word);

        refused(
                withWord(golden, word, offset(golden, word), 1 << 20),
                "_VALUE_STATS claims 1048576 bytes");
        refused(
                withWord(golden, word, offset(golden, word), 31),
                "_VALUE_STATS has 31 bytes at offset " + at + ", its fixed part alone takes 32");
        refused(withWord(golden, at + 8, 1 << 20, 4), "_MIN_VALUES claims 4 bytes at offset");
        refused(withWord(golden, at + 24, 1 << 20, 4), "_NULL_COUNTS claims 4 bytes at offset");
    }

    @Test
    @DisplayName("S2: short values lie within their word, empty ones anywhere in their row")
    void knowsShortAndEmptyValues() throws Exception {
        byte[] golden = committable(key());
        int word = word("_FILE_NAME");

        refused(
                withLong(golden, word, 0x88L << 56),
                "_FILE_NAME claims 8 bytes within a word of 8");
        CommittableLayout.check(withLong(golden, word, 0x87L << 56));
        CommittableLayout.check(withWord(golden, word, 0, 0));
    }

    // ------------------------------------------------------------------------

    /** Where the boolean lies that says whether the number of buckets is known. */
    private static final int BOOLEAN = 8 + 4 + 12 + 4;

    /** Where the length of the first data file lies, when the number of buckets is not known. */
    private static final int FILES = BOOLEAN + 1 + 4;

    /** Alone, and in the midst of other bytes, as it lies in a report. */
    private static void refused(byte[] committable, String message) {
        assertThatThrownBy(() -> CommittableLayout.check(committable))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message);
        int before = 50;
        byte[] report = new byte[before + committable.length + 50];
        System.arraycopy(committable, 0, report, before, committable.length);
        assertThatThrownBy(() -> new CommittableLayout(report).check(before, committable.length))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message);
    }

    private static int word(String field) {
        return FILES + 4 + NULL_BITS + 8 * DataFileMeta.SCHEMA.getFieldIndex(field);
    }

    private static ByteBuffer rows(byte[] committable) {
        return ByteBuffer.wrap(committable).order(ByteOrder.nativeOrder());
    }

    private static int offset(byte[] committable, int word) {
        return (int) (rows(committable).getLong(word) >> 32);
    }

    /** Where the value lies that a word of the first data file points to. */
    private static int target(byte[] committable, int word) {
        return FILES + 4 + offset(committable, word);
    }

    private static byte[] withInt(byte[] committable, int at, int value) {
        byte[] changed = committable.clone();
        ByteBuffer.wrap(changed).putInt(at, value);
        return changed;
    }

    private static byte[] withRowInt(byte[] committable, int at, int value) {
        byte[] changed = committable.clone();
        rows(changed).putInt(at, value);
        return changed;
    }

    private static byte[] withLong(byte[] committable, int at, long value) {
        byte[] changed = committable.clone();
        rows(changed).putLong(at, value);
        return changed;
    }

    private static byte[] withWord(byte[] committable, int at, int offset, int length) {
        return withLong(committable, at, ((long) offset << 32) | length);
    }

    /** One data file with that key and two extra files, in a table of unknown buckets. */
    private static byte[] committable(BinaryRow minKey) throws IOException {
        DataFileMeta file =
                DataFileMeta.create(
                        "a-file-name-that-does-not-fit-into-a-word",
                        100L,
                        10L,
                        minKey,
                        minKey,
                        SimpleStats.EMPTY_STATS,
                        SimpleStats.EMPTY_STATS,
                        0L,
                        9L,
                        0L,
                        DataFileMeta.DUMMY_LEVEL,
                        Arrays.asList("the first extra file", "the second extra file"),
                        Timestamp.fromEpochMillis(1_600_000_000_000L),
                        null,
                        null,
                        FileSource.APPEND,
                        null,
                        null,
                        null,
                        null);
        return COMMITTABLES.serialize(
                new Committable(
                        1,
                        new CommitMessageImpl(
                                BinaryRow.EMPTY_ROW,
                                0,
                                null,
                                new DataIncrement(
                                        Collections.singletonList(file),
                                        Collections.emptyList(),
                                        Collections.emptyList()),
                                CompactIncrement.emptyIncrement())));
    }

    /** Three numbers. */
    private static BinaryRow key() {
        BinaryRow key = new BinaryRow(3);
        BinaryRowWriter writer = new BinaryRowWriter(key);
        for (int field = 0; field < 3; field++) {
            writer.writeInt(field, field);
        }
        writer.complete();
        return key;
    }

    private static byte[] withFileName(long word) throws IOException {
        byte[] committable = goldenCommittable();
        ByteBuffer.wrap(committable).order(ByteOrder.nativeOrder()).putLong(ROW + NULL_BITS, word);
        return committable;
    }

    private static byte[] goldenCommittable() throws IOException {
        ByteBuffer report = ByteBuffer.wrap(GoldenBytes.read("report-v3"));
        byte[] committable = new byte[report.getInt(26)];
        report.position(30);
        report.get(committable);
        return committable;
    }
}
