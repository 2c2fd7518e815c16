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
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.GoldenBytes;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import com.sun.management.ThreadMXBean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import static org.apache.paimon.flink.sink.coordinator.report.Reports.SERIALIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** S1 and S2: the bytes of one report. */
public class CheckpointCommittablesSerializerTest {

    private static final int COUNT_OFFSET_V3 = 8 + 8 + 1 + 1 + 4;
    private static final int FIRST_LENGTH_OFFSET_V3 = COUNT_OFFSET_V3 + 4;

    // ------------------------------------------------------------------------
    //  S1
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("S1: what was written as version 3 is read back as it was")
    void roundTrip() throws Exception {
        for (CheckpointCommittables report :
                Arrays.asList(
                        Reports.of(1).report(),
                        Reports.of(7).files("a", "b").watermark(99).savepoint().report(),
                        Reports.of(8).files("c").idle().report(),
                        Reports.of(Long.MAX_VALUE).watermark(-5).idle().savepoint().report())) {
            CheckpointCommittables read = SERIALIZER.deserialize(3, SERIALIZER.serialize(report));

            assertThat(SERIALIZER.getVersion()).isEqualTo(3);
            assertThat(read).hasToString(report.toString());
            assertThat(read.checkpointId()).isEqualTo(report.checkpointId());
            assertThat(read.watermark()).isEqualTo(report.watermark());
            assertThat(read.idle()).isEqualTo(report.idle());
            assertThat(read.savepoint()).isEqualTo(report.savepoint());
            assertThat(Reports.fileNames(read)).isEqualTo(Reports.fileNames(report));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "report-v1, 1, false, false",
        "report-v2, 2, true, false",
        "report-v3, 3, true, true",
        "report-v3-plain, 3, false, false",
        "stock-report-v2, 2, true, false"
    })
    @DisplayName("S1: the golden bytes of versions 1, 2 and 3 are read, absent bits as false")
    void readsGoldenBytes(String golden, int version, boolean idle, boolean savepoint)
            throws Exception {
        byte[] bytes = GoldenBytes.read(golden);

        CheckpointCommittables report = SERIALIZER.deserialize(version, bytes);

        assertThat(report.checkpointId()).isEqualTo(42);
        assertThat(report.watermark()).isEqualTo(1_700_000_000_123L);
        assertThat(report.idle()).isEqualTo(idle);
        assertThat(report.savepoint()).isEqualTo(savepoint);
        assertThat(Reports.fileNames(report))
                .containsExactly("data-golden-0.parquet", "data-golden-1.parquet");
        assertThat(report.committables()).allMatch(file -> file.checkpointId() == 42);

        EncodedReport encoded = EncodedReport.of(version, bytes);
        assertThat(encoded.checkpointId()).isEqualTo(42);
        assertThat(encoded.watermark()).isEqualTo(1_700_000_000_123L);
        assertThat(encoded.idle()).isEqualTo(idle);
        assertThat(encoded.savepoint()).isEqualTo(savepoint);
        assertThat(encoded.committableCount()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"report-v3", "report-v3-plain", "report-v3-empty"})
    @DisplayName("S1: what is written has the golden bytes of version 3")
    void writesGoldenBytes(String golden) throws Exception {
        byte[] bytes = GoldenBytes.read(golden);

        assertThat(SERIALIZER.serialize(SERIALIZER.deserialize(3, bytes))).isEqualTo(bytes);
    }

    @Test
    @DisplayName("S1: a report of the released build is one byte shorter than ours and else equal")
    void differsFromTheReleasedBytesByTheFlagAlone() throws Exception {
        byte[] stock = GoldenBytes.read("stock-report-v2");
        byte[] ours = SERIALIZER.serialize(SERIALIZER.deserialize(2, stock));

        assertThat(ours).hasSize(stock.length + 1);
        assertThat(Arrays.copyOf(ours, 17)).isEqualTo(Arrays.copyOf(stock, 17));
        assertThat(ours[17]).isZero();
        assertThat(Arrays.copyOfRange(ours, 18, ours.length))
                .isEqualTo(Arrays.copyOfRange(stock, 17, stock.length));
    }

    @Test
    @DisplayName("S4: as version 2 a report has the very bytes of the released build")
    void writesTheReleasedBytes() throws Exception {
        byte[] stock = GoldenBytes.read("stock-report-v2");

        assertThat(SERIALIZER.serialize(2, SERIALIZER.deserialize(2, stock))).isEqualTo(stock);
        assertThat(SERIALIZER.getVersion()).isEqualTo(3);
    }

    // ------------------------------------------------------------------------
    //  S2
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 4, Integer.MAX_VALUE})
    @DisplayName("S2: an unknown version is refused by name")
    void refusesUnknownVersions(int version) throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");

        refused(() -> SERIALIZER.deserialize(version, bytes), "version " + version, "1 to 3");
        refused(() -> EncodedReport.of(version, bytes), "version " + version, "1 to 3");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 1_000_000, Integer.MAX_VALUE})
    @DisplayName("S2: a negative or absurd number of committables is refused")
    void refusesAbsurdCounts(int count) throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(bytes).putInt(COUNT_OFFSET_V3, count);
        int left = bytes.length - FIRST_LENGTH_OFFSET_V3;

        String claim =
                String.format(
                        "it claims %d committables, the %d bytes left hold at most %d",
                        count, left, left / 4);
        refused(() -> SERIALIZER.deserialize(3, bytes), "checkpoint 42", claim);
        refused(() -> EncodedReport.of(3, bytes), "checkpoint 42", claim);
    }

    @Test
    @DisplayName("S2: one committable more than the bytes left can hold is refused as absurd")
    void refusesOneCommittableTooMany() throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        int most = (bytes.length - FIRST_LENGTH_OFFSET_V3) / 4;
        ByteBuffer.wrap(bytes).putInt(COUNT_OFFSET_V3, most + 1);

        refused(() -> SERIALIZER.deserialize(3, bytes), "claims " + (most + 1) + " committables");
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    @DisplayName("S2: more committables than there are is refused")
    void refusesTooManyCommittables(int count) throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(bytes).putInt(COUNT_OFFSET_V3, count);

        refused(() -> SERIALIZER.deserialize(3, bytes), "checkpoint 42", "committable");
        refused(() -> EncodedReport.of(3, bytes), "checkpoint 42", "committable");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 1_000_000, Integer.MAX_VALUE})
    @DisplayName("S2: a negative or absurd length of a committable is refused with its place")
    void refusesAbsurdLengths(int length) throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(bytes).putInt(FIRST_LENGTH_OFFSET_V3, length);

        refused(
                () -> SERIALIZER.deserialize(3, bytes),
                "checkpoint 42",
                "committable 1 of 2 claims " + length + " bytes at offset 26");
        refused(() -> EncodedReport.of(3, bytes), "committable 1 of 2 claims " + length);
    }

    @ParameterizedTest
    @CsvSource({"report-v1, 1", "report-v2, 2", "report-v3, 3"})
    @DisplayName("S2: a payload that was cut off at any byte is refused")
    void refusesTruncatedPayloads(String golden, int version) throws Exception {
        byte[] bytes = GoldenBytes.read(golden);

        for (int length = 0; length < bytes.length; length++) {
            byte[] truncated = Arrays.copyOf(bytes, length);
            refused(() -> SERIALIZER.deserialize(version, truncated), "bytes");
            refused(() -> EncodedReport.of(version, truncated), "bytes");
        }
    }

    @ParameterizedTest
    @CsvSource({"report-v1, 1", "report-v2, 2", "report-v3, 3", "report-v3-empty, 3"})
    @DisplayName("S2: bytes behind the last committable are refused")
    void refusesOverlongPayloads(String golden, int version) throws Exception {
        byte[] bytes = GoldenBytes.read(golden);

        for (int more : new int[] {1, 4, 100}) {
            byte[] overlong = Arrays.copyOf(bytes, bytes.length + more);
            String leftOver = more + " bytes are left over";
            refused(() -> SERIALIZER.deserialize(version, overlong), leftOver, "" + bytes.length);
            refused(() -> EncodedReport.of(version, overlong), leftOver);
        }
    }

    @ParameterizedTest
    @CsvSource({"report-v2, 2, 16", "report-v3, 3, 16", "report-v3, 3, 17"})
    @DisplayName("S2: a boolean that is neither 0 nor 1 is refused with its place and its value")
    void refusesOtherBooleans(String golden, int version, int offset) throws Exception {
        for (int value : new int[] {2, 127, -128, -1}) {
            byte[] bytes = GoldenBytes.read(golden);
            bytes[offset] = (byte) value;
            String found = "byte " + offset + " is " + value;

            refused(() -> SERIALIZER.deserialize(version, bytes), found);
            refused(() -> EncodedReport.of(version, bytes), found);
        }
    }

    @Test
    @DisplayName("S2: a negative checkpoint id is refused")
    void refusesNegativeCheckpointIds() throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(bytes).putLong(0, -7);

        refused(() -> SERIALIZER.deserialize(3, bytes), "checkpoint -7");
        refused(() -> EncodedReport.of(3, bytes), "checkpoint -7");
    }

    @Test
    @DisplayName("S2: a committable of an unknown version is refused with its place and version")
    void refusesUnreadableCommittables() throws Exception {
        for (int version : new int[] {77, 77 << 24}) {
            byte[] unknownVersion = GoldenBytes.read("report-v3");
            ByteBuffer.wrap(unknownVersion).putInt(COUNT_OFFSET_V3 - 4, version);
            refused(
                    () -> SERIALIZER.deserialize(3, unknownVersion),
                    "Committable 1 of 2 (version " + version,
                    "checkpoint 42");
        }
    }

    @Test
    @DisplayName("S2: a committable that holds nonsense is refused with its place and the reason")
    void refusesBrokenCommittables() throws Exception {
        byte[] bytes = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(bytes).putInt(bytes.length - 4, 3);

        refused(() -> SERIALIZER.deserialize(3, bytes), "Committable 2 of 2", "cannot be read: ");
    }

    @Test
    @DisplayName("S2: a committable without a byte is well framed, and refused when it is decoded")
    void refusesEmptyCommittables() throws Exception {
        byte[] bytes = Arrays.copyOf(GoldenBytes.read("report-v3"), FIRST_LENGTH_OFFSET_V3 + 4);
        ByteBuffer.wrap(bytes).putInt(COUNT_OFFSET_V3, 1).putInt(FIRST_LENGTH_OFFSET_V3, 0);

        EncodedReport report = EncodedReport.of(3, bytes);
        assertThat(report.committableCount()).isEqualTo(1);
        refused(() -> report.decode(SERIALIZER), "Committable 1 of 1", "cannot be read");
    }

    @Test
    @DisplayName("S2: nothing is allocated by a count or a length that was not checked")
    void allocatesNothingByUncheckedLengths() throws Exception {
        byte[] count = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(count).putInt(COUNT_OFFSET_V3, 200_000_000);
        byte[] length = GoldenBytes.read("report-v3");
        ByteBuffer.wrap(length).putInt(FIRST_LENGTH_OFFSET_V3, 200_000_000);
        for (byte[] bytes : Arrays.asList(count, length)) {
            // Once before measuring, for the classes that are loaded on the way.
            refused(() -> SERIALIZER.deserialize(3, bytes), "200000000");
            assertThat(allocatedWhile(() -> tryToRead(bytes))).isLessThan(64 * 1024);
        }
    }

    @Test
    @DisplayName("S2: a count that the bytes can hold allocates no more than a few times the bytes")
    void allocatesByTheBytesThatAreThere() throws Exception {
        byte[] zeros = new byte[1 << 20];
        ByteBuffer.wrap(zeros)
                .putInt(COUNT_OFFSET_V3, (zeros.length - FIRST_LENGTH_OFFSET_V3) / 4)
                .putInt(COUNT_OFFSET_V3 - 4, 1);
        refused(() -> SERIALIZER.deserialize(3, zeros), "Committable 1 of");

        assertThat(allocatedWhile(() -> tryToRead(zeros))).isLessThan(4L * zeros.length);
    }

    @Test
    @DisplayName(
            "Committables are decoded where they lie: without the copies of the base's serializer")
    void decodesWithoutCopies() throws Exception {
        String[] files = IntStream.range(0, 100).mapToObj(i -> "file-" + i).toArray(String[]::new);
        CheckpointCommittables report = Reports.of(1).files(files).report();
        byte[] bytes = SERIALIZER.serialize(report);
        CommittableSerializer base = new CommittableSerializer(new CommitMessageSerializer());
        List<byte[]> committables = new ArrayList<>();
        for (Committable committable : report.committables()) {
            committables.add(base.serialize(committable));
        }
        decodeByTheBase(base, committables);
        SERIALIZER.deserialize(3, bytes);

        long byTheBase = allocatedWhile(() -> decodeByTheBase(base, committables));
        long here = allocatedWhile(() -> decode(bytes));
        assertThat(here).isLessThan(byTheBase - bytes.length - bytes.length / 2);
    }

    private static void decode(byte[] bytes) {
        try {
            SERIALIZER.deserialize(3, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** It wants each one in an array of its own. */
    private static void decodeByTheBase(CommittableSerializer base, List<byte[]> committables) {
        try {
            for (byte[] committable : committables) {
                base.deserialize(base.getVersion(), committable.clone());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void tryToRead(byte[] bytes) {
        try {
            new CheckpointCommittablesSerializer(
                            new CommittableSerializer(new CommitMessageSerializer()))
                    .deserialize(3, bytes);
            throw new AssertionError("was read");
        } catch (IOException expected) {
            // that is what is measured
        }
    }

    public static long allocatedWhile(Runnable action) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        action.run();
        return threads.getThreadAllocatedBytes(thread) - before;
    }

    private static void refused(ThrowingCallable action, String... messageParts) {
        assertThatThrownBy(action)
                .isInstanceOf(IOException.class)
                .message()
                .isNotBlank()
                .contains(messageParts);
    }
}
