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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A replay over a link that brings nothing before somebody asks for it. */
class SlowReplayTest {

    private static final int WRITERS = 8;
    private static final int CHECKPOINTS = 20;
    private static final int FILES = 50_000;

    private final Deque<WriterEvent> underWay = new ArrayDeque<>();
    private long mostUnderWay;
    private int answers;

    @Test
    @Tag("slow")
    @DisplayName("W4: twenty reports of 50,000 files from each of eight writers arrive, bit by bit")
    void boundsWhatIsUnderWay() throws Exception {
        String[] files =
                IntStream.range(0, FILES).mapToObj(file -> "f" + file).toArray(String[]::new);
        EncodedReport template = Reports.of(1).files(files).encoded();
        // Everything is committed already, so that what arrives need not be kept here.
        CommitLedger ledger = new CommitLedger(WRITERS, checkpoint -> false);
        ledger.restoring(CHECKPOINTS, CHECKPOINTS, id -> false);
        ReportReceiver receiver = new ReportReceiver(WRITERS, ledger);

        for (int subtask = 0; subtask < WRITERS; subtask++) {
            int writer = subtask;
            new WriterEventSender(
                            event -> send((WriterEvent) event),
                            () -> {
                                answers++;
                                arrive(receiver, writer);
                            })
                    .replay(CHECKPOINTS, replay(template), Collections.emptyList());
            arrive(receiver, writer);
        }

        assertThat(ledger.replaysComplete()).isTrue();
        assertThat(mostUnderWay).isLessThanOrEqualTo(WriterEventSender.MAX_UNANSWERED_BYTES);
        long bytes = (long) WRITERS * CHECKPOINTS * template.serialized().length;
        assertThat((long) answers)
                .isGreaterThanOrEqualTo(bytes / WriterEventSender.MAX_UNANSWERED_BYTES - WRITERS);
    }

    @Test
    @DisplayName("W4: what is small travels without waiting, and side state counts as well")
    void waitsForNothingWhenThereIsRoom() throws Exception {
        List<EncodedReport> reports = new ArrayList<>();
        List<ReportSideState> sideStates = new ArrayList<>();
        for (int id = 1; id <= 20; id++) {
            reports.add(Reports.of(id).files("a").encoded());
            sideStates.add(ReportSideState.of(reports.get(id - 1), 20));
        }
        WriterEventSender sender =
                new WriterEventSender(event -> send((WriterEvent) event), () -> answers++);
        sender.replay(20, reports, sideStates);
        assertThat(answers).isZero();
        assertThat(underWay).hasSize(20 + 1 + 1);

        underWay.clear();
        String path = String.join("", Collections.nCopies(1_000, "0123456789"));
        sideStates.clear();
        for (int i = 0; i < 1_000; i++) {
            EncodedReport savepoint =
                    Reports.of(i).savepoint().encoded().withSavepointPath(path + i);
            sideStates.add(ReportSideState.of(savepoint, 20));
        }
        new WriterEventSender(
                        event -> send((WriterEvent) event),
                        () -> {
                            answers++;
                            underWay.clear();
                        })
                .replay(20, Collections.emptyList(), sideStates);
        assertThat(answers).isEqualTo(9);
        assertThat(mostUnderWay).isLessThanOrEqualTo(WriterEventSender.MAX_UNANSWERED_BYTES);
    }

    private void send(WriterEvent event) {
        underWay.add(event);
        long bytes = 0;
        for (WriterEvent sent : underWay) {
            bytes += sent.part().length;
            if (sent instanceof RestoredSideStateEvent) {
                for (byte[] element : ((RestoredSideStateEvent) sent).elements()) {
                    bytes += element.length;
                }
            }
        }
        mostUnderWay = Math.max(mostUnderWay, bytes);
    }

    private void arrive(ReportReceiver receiver, int subtask) {
        try {
            while (!underWay.isEmpty()) {
                receiver.receive(subtask, 0, underWay.remove());
            }
        } catch (ReportProtocolException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<EncodedReport> replay(EncodedReport template) {
        return new AbstractList<EncodedReport>() {
            @Override
            public EncodedReport get(int index) {
                byte[] bytes = template.serialized().clone();
                ByteBuffer.wrap(bytes).putLong(0, index + 1);
                try {
                    return EncodedReport.of(template.version(), bytes);
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }

            @Override
            public int size() {
                return CHECKPOINTS;
            }
        };
    }
}
