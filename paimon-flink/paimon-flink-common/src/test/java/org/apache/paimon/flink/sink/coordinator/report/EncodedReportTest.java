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

import org.apache.flink.core.io.SimpleVersionedSerialization;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

import static org.apache.paimon.flink.sink.coordinator.report.Reports.SERIALIZER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** S1, S3 and A1: a report as bytes, in the writer's state and on its way. */
class EncodedReportTest {

    @Test
    @DisplayName("S3: an element of the writer's state has the frame that the base release writes")
    void stateElementHasFlinksFrame() throws Exception {
        CheckpointCommittables report =
                Reports.of(5).files("a", "b").watermark(3).savepoint().report();

        assertThat(EncodedReport.encode(report, SERIALIZER).toState())
                .isEqualTo(
                        SimpleVersionedSerialization.writeVersionAndSerialize(SERIALIZER, report));
    }

    @Test
    @DisplayName("S3: an element of the released build's state is read, and written as it was")
    void readsElementsOfTheReleasedBuild() throws Exception {
        byte[] element = GoldenBytes.read("stock-element-v2");

        EncodedReport report = EncodedReport.fromState(element);

        assertThat(report.version()).isEqualTo(2);
        assertThat(report.checkpointId()).isEqualTo(42);
        assertThat(report.idle()).isTrue();
        assertThat(report.savepoint()).isFalse();
        assertThat(Reports.fileNames(report))
                .containsExactly("data-golden-0.parquet", "data-golden-1.parquet");
        assertThat(report.toState()).isEqualTo(element);
    }

    @Test
    @DisplayName("S2: an element whose frame does not fit its bytes is refused with both lengths")
    void refusesElementsOfAnotherLength() throws Exception {
        byte[] element = GoldenBytes.read("stock-element-v2");
        for (int length = 0; length < element.length; length++) {
            byte[] truncated = Arrays.copyOf(element, length);
            assertThatThrownBy(() -> EncodedReport.fromState(truncated))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("bytes");
        }
        byte[] overlong = Arrays.copyOf(element, element.length + 3);
        assertThatThrownBy(() -> EncodedReport.fromState(overlong))
                .isInstanceOf(IOException.class)
                .hasMessageContaining((element.length - 8) + " bytes")
                .hasMessageContaining((element.length - 5) + " are there");
        byte[] negative = element.clone();
        ByteBuffer.wrap(negative).putInt(4, -1);
        assertThatThrownBy(() -> EncodedReport.fromState(negative))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("claims -1 bytes");
    }

    @Test
    @DisplayName("S2: an element that is all frame and no report is refused for the report")
    void refusesElementsWithoutAReport() {
        byte[] frame = ByteBuffer.allocate(8).putInt(3).putInt(0).array();

        assertThatThrownBy(() -> EncodedReport.fromState(frame))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("A report of version 3 has 0 bytes");
    }

    @Test
    @DisplayName("S4: a report without the flag is the released build's element, byte for byte")
    void unflaggedReportIsOfVersion2() throws Exception {
        byte[] element = GoldenBytes.read("stock-element-v2");
        CheckpointCommittables report = EncodedReport.fromState(element).decode(SERIALIZER);

        EncodedReport encoded = EncodedReport.encode(report, SERIALIZER);

        assertThat(encoded.version()).isEqualTo(2);
        assertThat(encoded.toState()).isEqualTo(element);
        assertThat(Reports.of(5).savepoint().encoded().version()).isEqualTo(3);
    }

    @Test
    @DisplayName("S4: a withdrawn report is of version 2, as if it had never been flagged")
    void withdrawnReportIsOfVersion2() throws Exception {
        Reports plain = Reports.of(9).files("a").watermark(4).idle();
        byte[] unflagged = plain.encoded().toState();

        EncodedReport withdrawn = plain.savepoint().encoded().withdrawn();

        assertThat(withdrawn.version()).isEqualTo(2);
        assertThat(withdrawn.toState()).isEqualTo(unflagged);
        assertThat(EncodedReport.fromState(withdrawn.toState()).decode(SERIALIZER))
                .hasToString(Reports.of(9).files("a").watermark(4).idle().report().toString());
    }

    @Test
    @DisplayName("S5: upstream's element with a pending savepoint is read, and written as it was")
    void upstreamElementOfAPendingSavepoint() throws Exception {
        for (String golden :
                Arrays.asList("upstream-element-v3-savepoint", "upstream-element-v3-empty")) {
            byte[] element = GoldenBytes.read(golden);

            EncodedReport report = EncodedReport.fromState(element);

            assertThat(report.version()).isEqualTo(3);
            assertThat(report.checkpointId()).isEqualTo(42);
            assertThat(report.savepoint()).isTrue();
            assertThat(report.toState()).isEqualTo(element);
            assertThat(EncodedReport.encode(report.decode(SERIALIZER), SERIALIZER).toState())
                    .as("encoded anew")
                    .isEqualTo(element);
        }
    }

    @Test
    @DisplayName("S4, S5: upstream's element without the flag goes on as version 2")
    void upstreamElementOfACheckpoint() throws Exception {
        byte[] element = GoldenBytes.read("upstream-element-v3-checkpoint");
        EncodedReport report = EncodedReport.fromState(element);
        assertThat(report.version()).isEqualTo(3);
        assertThat(report.checkpointId()).isEqualTo(43);
        assertThat(report.savepoint()).isFalse();

        EncodedReport written = EncodedReport.fromState(report.toState());

        assertThat(written.version()).isEqualTo(2);
        assertThat(written.decode(SERIALIZER)).hasToString(report.decode(SERIALIZER).toString());
        assertThat(written.toState()).hasSize(element.length - 1);
    }

    @Test
    @DisplayName("A1: a withdrawn report loses its flag and nothing else")
    void withdrawalClearsTheFlagAlone() throws Exception {
        EncodedReport report = Reports.of(9).files("a").watermark(4).idle().savepoint().encoded();

        EncodedReport withdrawn = report.withdrawn();

        assertThat(withdrawn.savepoint()).isFalse();
        assertThat(withdrawn.serialized())
                .isEqualTo(Reports.of(9).files("a").watermark(4).idle().encoded().serialized());
        assertThat(report.savepoint()).as("the report itself").isTrue();
        assertThat(withdrawn.withdrawn()).isSameAs(withdrawn);
    }

    @Test
    @DisplayName("S1: a report of an old version has no flag to withdraw and stays what it is")
    void withdrawalOfAnOldVersionChangesNothing() throws Exception {
        for (String golden : Arrays.asList("report-v1", "report-v2")) {
            EncodedReport report =
                    EncodedReport.of(
                            golden.charAt(golden.length() - 1) - '0', GoldenBytes.read(golden));
            assertThat(report.withdrawn()).isSameAs(report);
        }
    }

    @Test
    @DisplayName("S1: the header reads the same without decoding as after it")
    void headerAgreesWithTheDecodedReport() throws Exception {
        EncodedReport report = Reports.of(11).files("x", "y").watermark(77).savepoint().encoded();
        CheckpointCommittables decoded = report.decode(SERIALIZER);

        assertThat(report.checkpointId()).isEqualTo(decoded.checkpointId()).isEqualTo(11);
        assertThat(report.watermark()).isEqualTo(decoded.watermark()).isEqualTo(77);
        assertThat(report.idle()).isEqualTo(decoded.idle()).isFalse();
        assertThat(report.savepoint()).isEqualTo(decoded.savepoint()).isTrue();
        assertThat(report.committableCount()).isEqualTo(decoded.size()).isEqualTo(2);
    }
}
