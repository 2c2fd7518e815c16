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

import org.apache.paimon.flink.sink.coordinator.commit.CommitBatch;
import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** W2: twenty checkpoints of 50,000 files each, replayed by one writer. */
@Tag("slow")
class LargeReplayTest {

    private static final int FILES = 50_000;
    private static final int CHECKPOINTS = 20;

    private final CommitLedger ledger = new CommitLedger(1, checkpoint -> false);
    private final HeldBytes held = new HeldBytes();

    @Test
    @DisplayName("A4: what was committed is dropped as it arrives, and never held beside another")
    void committedReportsAreDroppedAsTheyArrive() throws Exception {
        ledger.restoring(CHECKPOINTS, CHECKPOINTS, id -> false);
        replay();

        assertThat(held.arrived).isEqualTo(CHECKPOINTS);
        // Nothing is left that could be decoded, and all of it still counts as the writer's part.
        assertThat(held.bytes).isZero();
        assertThat(held.reports).isEqualTo(CHECKPOINTS);
        assertThat(ledger.recover()).isEmpty();
    }

    @Test
    @DisplayName("W2: what was not committed is held once, as the bytes that have arrived")
    void otherReportsAreHeldOnce() throws Exception {
        ledger.restoring(CHECKPOINTS, -1, id -> false);
        long bytes = replay();

        assertThat(held.bytes).isEqualTo(bytes);
        List<CommitBatch> batches = ledger.recover();
        assertThat(batches).hasSize(CHECKPOINTS);
    }

    /** Each event goes straight to the receiver, and no report exists before it is sent. */
    private long replay() throws Exception {
        EncodedReport template =
                Reports.of(1)
                        .files(
                                IntStream.range(0, FILES)
                                        .mapToObj(file -> "file-" + file)
                                        .toArray(String[]::new))
                        .encoded();
        ReportReceiver receiver = new ReportReceiver(1, held);
        new WriterEventSender(
                        event -> {
                            try {
                                receiver.receive(0, 0, (WriterEvent) event);
                            } catch (ReportProtocolException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        () -> {})
                .replay(
                        CHECKPOINTS,
                        new AbstractList<EncodedReport>() {
                            @Override
                            public EncodedReport get(int index) {
                                return ofCheckpoint(template, index + 1);
                            }

                            @Override
                            public int size() {
                                return CHECKPOINTS;
                            }
                        },
                        Collections.emptyList());
        return (long) CHECKPOINTS * template.serialized().length;
    }

    /** The checkpoint's id is what a report begins with. */
    private static EncodedReport ofCheckpoint(EncodedReport report, long checkpointId) {
        byte[] bytes = report.serialized().clone();
        ByteBuffer.wrap(bytes).putLong(0, checkpointId);
        try {
            return EncodedReport.of(report.version(), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the coordinator's side keeps of what has arrived. */
    private final class HeldBytes implements ReportReceiver.Listener {

        private int arrived;
        private int reports;
        private long bytes;

        @Override
        public EncodedReport withoutCommittedFiles(EncodedReport replayed) {
            arrived++;
            EncodedReport kept = ledger.withoutCommittedFiles(replayed);
            bytes += kept.serialized().length;
            return kept;
        }

        @Override
        public void replay(
                int subtask,
                int attempt,
                long restoredCheckpointId,
                List<EncodedReport> replayed,
                List<ReportSideState> sideStates)
                throws ReportProtocolException {
            reports += replayed.size();
            ledger.replay(subtask, attempt, restoredCheckpointId, replayed, sideStates);
        }

        @Override
        public void report(int subtask, int attempt, EncodedReport report, boolean endOfInput) {
            throw new IllegalStateException("A replay holds no report of a new checkpoint.");
        }
    }
}
