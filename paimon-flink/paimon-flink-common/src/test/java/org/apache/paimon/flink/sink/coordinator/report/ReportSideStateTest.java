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

import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What lies beside the reports in the writers' state, and how the coordinator joins it. */
class ReportSideStateTest {

    private static final EncodedReport ONE = Reports.of(4).files("a").encoded();
    private static final EncodedReport OTHER = Reports.of(4).files("b", "c").encoded();

    private final CommitLedger ledger = new CommitLedger(2, checkpoint -> false);

    @Test
    @DisplayName("S6: what is written is read again")
    void readsWhatItWrites() throws Exception {
        EncodedReport savepoint =
                Reports.of(7)
                        .files("a")
                        .savepoint()
                        .encoded()
                        .withSavepointPath("s3://b/sp-\u00fc");
        ReportSideState read =
                ReportSideState.fromBytes(ReportSideState.of(savepoint, 9).toBytes());

        assertThat(read.writtenIn()).isEqualTo(9);
        assertThat(read.checkpointId()).isEqualTo(7);
        assertThat(read.checksum()).isEqualTo(ReportChecksum.of(savepoint.serialized()));
        assertThat(read.savepointPath()).isEqualTo("s3://b/sp-\u00fc");
        assertThat(ReportSideState.fromBytes(ReportSideState.of(ONE, 4).toBytes()).savepointPath())
                .isNull();
    }

    @Test
    @DisplayName("S2: an unknown version, a short or long element, an absurd path are refused")
    void refusesWhatItCannotRead() {
        byte[] element = ReportSideState.of(ONE, 4).toBytes();
        byte[] version = element.clone();
        version[0] = 2;
        refused(version, "Unknown version 2");
        refused(new byte[0], "0 bytes");
        refused(Arrays.copyOf(element, element.length - 1), "fixed part");
        refused(Arrays.copyOf(element, element.length + 1), "path of -1 bytes, 1 are there");
        byte[] path = element.clone();
        ByteBuffer.wrap(path).putInt(element.length - Integer.BYTES, Integer.MAX_VALUE);
        refused(path, "path of 2147483647 bytes, 0 are there");
        ByteBuffer.wrap(path).putInt(element.length - Integer.BYTES, -2);
        refused(path, "path of -2 bytes");
    }

    private static void refused(byte[] element, String reason) {
        assertThatThrownBy(() -> ReportSideState.fromBytes(element))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(reason);
    }

    @Test
    @DisplayName("S6: checksums are joined by checkpoint, whichever writer finds them (A6)")
    void joinsWhatLiesElsewhere() throws Exception {
        ledger.restoring(4, -1, id -> false);
        replay(0, Arrays.asList(ONE, OTHER), Collections.emptyList());
        replay(1, Collections.emptyList(), sideStates(OTHER, ONE));

        assertThat(ledger.recover()).hasSize(1);
    }

    @Test
    @DisplayName("S6: a report that none of the checksums belongs to fails the job, by name")
    void refusesAnotherReport() throws Exception {
        ledger.restoring(4, -1, id -> false);
        replay(0, Collections.emptyList(), sideStates(ONE));
        replay(1, Collections.singletonList(OTHER), Collections.emptyList());

        assertThatThrownBy(ledger::recover)
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 1 (attempt 0), checkpoint 4")
                .hasMessageContaining(OTHER.persisted().toString())
                .hasMessageContaining("Restore another checkpoint");
    }

    @Test
    @DisplayName("S6: a report whose checkpoint has no checksum at all was not written so")
    void refusesAReportOfAnotherCheckpoint() throws Exception {
        ledger.restoring(4, -1, id -> false);
        replay(0, Collections.singletonList(Reports.of(3).files("a").encoded()), sideStates(ONE));
        replay(1, Collections.singletonList(ONE), Collections.emptyList());

        assertThatThrownBy(ledger::recover).hasMessageContaining("checkpoint 3");
    }

    @Test
    @DisplayName("S6: the state of a build without side state is taken as it is")
    void takesStateWithoutChecksums() throws Exception {
        ledger.restoring(4, -1, id -> false);
        replay(0, Collections.singletonList(ONE), Collections.emptyList());
        replay(1, Collections.singletonList(OTHER), Collections.emptyList());

        assertThat(ledger.recover()).hasSize(1);
    }

    @Test
    @DisplayName("A4, S6: what was committed before is dropped without a look at its checksum")
    void doesNotCheckWhatIsDropped() throws Exception {
        ledger.restoring(4, 3, id -> false);
        replay(0, Arrays.asList(Reports.of(3).encoded(), ONE), sideStates(ONE, OTHER));
        replay(1, Collections.singletonList(OTHER), Collections.emptyList());

        assertThat(ledger.recover()).hasSize(1);
    }

    @Test
    @DisplayName("A3, S6: a writer that replays alone brings the checksums of its reports")
    void checksAReplayOfOneWriter() throws Exception {
        ledger.triggered(1);
        ledger.report(0, 0, Reports.of(1).files("a").encoded(), false);
        ledger.reset(1, 1);
        assertThatThrownBy(
                        () ->
                                ledger.replay(
                                        1,
                                        1,
                                        1,
                                        Collections.singletonList(
                                                Reports.of(1).files("x").encoded()),
                                        Collections.singletonList(
                                                ReportSideState.of(
                                                        Reports.of(1).files("b").encoded(), 1))))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 1 (attempt 1), checkpoint 1");
    }

    @Test
    @DisplayName("S4, S6: a report whose flag was dropped since still has the checksum it had")
    void keepsTheChecksumOfWhatWasPersisted() throws Exception {
        EncodedReport flagged = Reports.of(4).files("a").savepoint().encoded();
        EncodedReport restored = EncodedReport.fromState(flagged.toState());

        assertThat(restored.withdrawn().persisted())
                .isEqualTo(ReportChecksum.of(flagged.serialized()));
        assertThat(restored.withdrawn().checksum()).isNotEqualTo(restored.withdrawn().persisted());
    }

    private void replay(int subtask, List<EncodedReport> reports, List<ReportSideState> sideStates)
            throws Exception {
        ledger.replay(subtask, 0, 4, reports, sideStates);
    }

    private static List<ReportSideState> sideStates(EncodedReport... reports) {
        ReportSideState[] sideStates = new ReportSideState[reports.length];
        for (int i = 0; i < reports.length; i++) {
            sideStates[i] = ReportSideState.of(reports[i], 4);
        }
        return Arrays.asList(sideStates);
    }
}
