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

import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.Reports;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The reports that two writers have sent, by checkpoint. */
class CutsTest {

    private static final String PATH = "s3://bucket/savepoint-2";

    private final LedgerLoad load = new LedgerLoad();
    private final Cuts cuts = new Cuts(2, load);

    @Test
    @DisplayName("A3: a reset takes the writer's reports out of all newer cuts, and of no other")
    void resetTakesReportsOut() {
        EncodedReport kept = put(0, Reports.of(1).files("a"));
        EncodedReport ofOther = put(1, Reports.of(2).files("b"));
        put(0, Reports.of(2).files("c"));
        put(0, Reports.of(3).files("d"));
        cuts.breakAfter(1, 0);

        assertThat(cuts.get(1).report(0)).isSameAs(kept);
        assertThat(cuts.get(2).report(0)).isNull();
        assertThat(cuts.get(2).report(1)).isSameAs(ofOther);
        assertThat(cuts.get(2).reports()).isEqualTo(1);
        assertThat(cuts.get(3).reports()).isZero();
    }

    @Test
    @DisplayName(
            "A3: the cuts that were seen after the reset's checkpoint are broken, up to commit")
    void brokenCuts() {
        cuts.seen(4);
        cuts.breakAfter(2, 1);
        assertThat(cuts.broken(2)).isFalse();
        assertThat(cuts.broken(3)).isTrue();
        assertThat(cuts.broken(4)).isTrue();
        assertThat(cuts.broken(5)).isFalse();

        cuts.removeUpTo(3);
        assertThat(cuts.broken(4)).isTrue();
        cuts.removeUpTo(4);
        assertThat(cuts.broken(4)).isFalse();
    }

    @Test
    @DisplayName("T1: a cut is a savepoint by its flags; a reset takes those of its writer away")
    void flagsOfACut() {
        put(0, Reports.of(2).savepoint());
        put(1, Reports.of(2).savepoint());
        assertThat(cuts.get(2).allFlagged()).isTrue();
        assertThat(load.savepoints()).isEqualTo(1);

        cuts.breakAfter(1, 0);
        assertThat(cuts.get(2).allFlagged()).isTrue();
        assertThat(cuts.savepointsAfter(1)).containsExactly(2L);
        assertThat(load.savepoints()).isEqualTo(1);

        cuts.breakAfter(1, 1);
        assertThat(cuts.get(2).anyFlagged()).isFalse();
        assertThat(cuts.get(2).allFlagged()).as("of no report").isFalse();
        assertThat(cuts.savepointsAfter(1)).isEmpty();
        assertThat(load.savepoints()).isZero();
    }

    @Test
    @DisplayName("T1: the reset of a writer without a flag leaves the flag of the other")
    void resetOfAWriterWithoutFlag() {
        put(0, Reports.of(2));
        put(1, Reports.of(2).savepoint());
        assertThat(cuts.get(2).allFlagged()).isFalse();
        cuts.breakAfter(1, 0);

        assertThat(cuts.get(2).anyFlagged()).isTrue();
        assertThat(cuts.get(2).allFlagged()).isTrue();
        assertThat(cuts.savepointsAfter(1)).containsExactly(2L);
        assertThat(cuts.savepointsAfter(2)).isEmpty();
    }

    @Test
    @DisplayName("A1: a report that takes the place of a flagged one takes its flag away")
    void replacedReport() {
        put(0, Reports.of(2).savepoint());
        EncodedReport withdrawn = put(0, Reports.of(2));

        assertThat(cuts.get(2).report(0)).isSameAs(withdrawn);
        assertThat(cuts.get(2).anyFlagged()).isFalse();
        assertThat(load.savepoints()).isZero();
    }

    @Test
    @DisplayName("Held reports are shown in bytes, also after a reset and a commit")
    void showsBytes() {
        EncodedReport first = put(0, Reports.of(1).files("a"));
        EncodedReport second = put(0, Reports.of(2).files("b", "c"));
        EncodedReport third = put(1, Reports.of(2).files("d", "e", "f"));
        EncodedReport fourth = put(1, Reports.of(3));
        assertThat(load.checkpoints()).isEqualTo(3);
        assertThat(load.bytes()).isEqualTo(bytes(first, second, third, fourth));

        cuts.removeUpTo(1);
        assertThat(load.checkpoints()).isEqualTo(2);
        assertThat(load.bytes()).isEqualTo(bytes(second, third, fourth));

        cuts.breakAfter(1, 0);
        assertThat(load.bytes()).isEqualTo(bytes(third, fourth));

        cuts.removeUpTo(3);
        assertThat(load.checkpoints()).isZero();
        assertThat(load.bytes()).isZero();
    }

    @Test
    @DisplayName("L1: the path is that of any writer that knows it, and unknown without one")
    void pathOfASavepoint() {
        put(0, Reports.of(2).savepoint());
        assertThat(cuts.get(2).savepointPath()).isNull();

        cuts.put(1, 0, Reports.of(2).savepoint().encoded().withSavepointPath(PATH));
        assertThat(cuts.get(2).savepointPath()).isEqualTo(PATH);
    }

    private EncodedReport put(int subtask, Reports report) {
        EncodedReport encoded = report.encoded();
        cuts.put(subtask, 0, encoded);
        return encoded;
    }

    private static long bytes(EncodedReport... reports) {
        long bytes = 0;
        for (EncodedReport report : reports) {
            bytes += report.serialized().length;
        }
        return bytes;
    }
}
