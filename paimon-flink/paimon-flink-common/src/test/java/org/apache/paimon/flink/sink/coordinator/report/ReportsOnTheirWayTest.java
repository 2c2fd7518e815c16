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

import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.util.InstantiationUtil;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** W1, W2 and W3: {@link WriterEventSender} at one end, {@link ReportReceiver} at the other. */
class ReportsOnTheirWayTest {

    private static final int SMALL_PART = 100;

    private CommitLedger ledger;
    private ReportReceiver receiver;
    private Wire wire;

    @BeforeEach
    void begin() {
        begin(1);
    }

    private void begin(int parallelism) {
        ledger = new CommitLedger(parallelism, checkpoint -> false);
        receiver = new ReportReceiver(parallelism, ledger);
        wire = new Wire();
    }

    /** A writer attempt that has replayed nothing. */
    private WriterEventSender freshWriter(int subtask, int attempt) throws Exception {
        WriterEventSender sender = new WriterEventSender(wire, () -> {}, SMALL_PART);
        sender.replay(-1, Collections.emptyList(), Collections.emptyList());
        deliver(subtask, attempt);
        return sender;
    }

    /** Delivers what is on the wire, as Flink would: serialized. */
    private void deliver(int subtask, int attempt) throws Exception {
        for (WriterEvent event : wire.take()) {
            receiver.receive(subtask, attempt, InstantiationUtil.clone(event));
        }
    }

    // ------------------------------------------------------------------------
    //  W1
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("W1: what was sent arrives, and the checkpoint holds it")
    void deliversReports() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        writer.report(Reports.of(2).files("b", "c").encoded());
        deliver(0, 0);

        assertThat(filesUpTo(2)).containsExactly("a", "b", "c");
    }

    @Test
    @DisplayName("W1: a lost report is noticed when the next one arrives")
    void noticesGaps() throws Exception {
        WriterEventSender writer = freshWriter(0, 3);
        writer.report(Reports.of(1).files("a").encoded());
        wire.loseAll();
        writer.report(Reports.of(2).files("b").encoded());

        assertThatThrownBy(() -> deliver(0, 3))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 0 (attempt 3), checkpoint 2")
                .hasMessageContaining("lost");
    }

    @Test
    @DisplayName("W1: the last lost report is noticed when its checkpoint completes")
    void noticesAMissingReportOnCompletion() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        wire.loseAll();

        assertThatThrownBy(() -> ledger.align(1))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 0 (attempt 0), checkpoint 1")
                .hasMessageContaining("never arrived");
    }

    @Test
    @DisplayName("W1: a lost part is noticed when the next part arrives")
    void noticesALostPart() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a", "b").encoded());
        List<WriterEvent> parts = wire.take();
        assertThat(parts).hasSizeGreaterThan(3);
        for (int lost = 0; lost < parts.size() - 1; lost++) {
            begin();
            freshWriter(0, 0);
            List<WriterEvent> remaining = new ArrayList<>(parts);
            remaining.remove(lost);

            assertThatThrownBy(
                            () -> {
                                for (WriterEvent part : remaining) {
                                    receiver.receive(0, 0, part);
                                }
                            })
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("lost");
        }
    }

    @Test
    @DisplayName("W1: a repeated event is noticed")
    void noticesRepetitions() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        List<WriterEvent> events = wire.take();
        for (WriterEvent event : events) {
            receiver.receive(0, 0, event);
        }

        assertThatThrownBy(() -> receiver.receive(0, 0, events.get(0)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("repeated");
    }

    @Test
    @DisplayName("W1: two events that change places are noticed")
    void noticesSwappedEvents() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).encoded());
        writer.report(Reports.of(2).encoded());
        List<WriterEvent> events = wire.take();

        assertThatThrownBy(() -> receiver.receive(0, 0, events.get(1)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("event 2 arrived where event 1 was due");
    }

    @Test
    @DisplayName("W1: an attempt that does not start with its replay is unknown")
    void refusesUnknownAttempts() throws Exception {
        WriterEventSender writer = new WriterEventSender(wire, () -> {});
        writer.replay(-1, Collections.emptyList(), Collections.emptyList());
        wire.loseAll();
        writer.report(Reports.of(1).encoded());

        assertThatThrownBy(() -> deliver(0, 5))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 0 (attempt 5), checkpoint 1")
                .hasMessageContaining("unknown attempt");
    }

    @Test
    @DisplayName("W1: a second attempt is unknown as long as nobody has ended the first")
    void refusesAnAttemptThatNobodyAnnounced() throws Exception {
        freshWriter(0, 0);

        assertThatThrownBy(() -> freshWriter(0, 1))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("attempt 0 is still current");
    }

    @Test
    @DisplayName("W1: events of an attempt that is over change nothing")
    void ignoresOldAttempts() throws Exception {
        WriterEventSender old = freshWriter(0, 0);
        old.report(Reports.of(1).files("a").encoded());
        List<WriterEvent> late = wire.take();
        receiver.attemptFailed(0, 0);
        for (WriterEvent event : late) {
            receiver.receive(0, 0, event);
        }
        receiver.reset(0);
        ledger.reset(0, -1);
        for (WriterEvent event : late) {
            receiver.receive(0, 0, event);
        }
        WriterEventSender next = freshWriter(0, 1);
        for (WriterEvent event : late) {
            receiver.receive(0, 0, event);
        }
        next.report(Reports.of(2).files("b").encoded());
        deliver(0, 1);

        assertThat(filesUpTo(2)).containsExactly("b");
    }

    @Test
    @DisplayName("W1: an attempt that fails before its first word does not spoil the next one")
    void survivesAnAttemptThatNeverSpoke() throws Exception {
        receiver.attemptFailed(0, 0);
        receiver.reset(0);
        WriterEventSender next = freshWriter(0, 1);
        next.report(Reports.of(1).files("a").encoded());
        deliver(0, 1);

        assertThat(filesUpTo(1)).containsExactly("a");
    }

    @Test
    @DisplayName("W1: what an attempt sent arrives in vain once it has failed")
    void ignoresAFailedAttempt() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        receiver.attemptFailed(0, 0);
        deliver(0, 0);

        assertThatThrownBy(() -> ledger.align(1))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("never arrived");
    }

    @Test
    @DisplayName("W1: what an attempt sent arrives in vain once its subtask was reset")
    void ignoresAResetAttempt() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        receiver.reset(0);
        ledger.reset(0, -1);
        deliver(0, 0);
        WriterEventSender next = freshWriter(0, 1);
        next.report(Reports.of(2).files("b").encoded());
        deliver(0, 1);

        assertThat(filesUpTo(2)).containsExactly("b");
    }

    @Test
    @DisplayName("W1: the failure of an earlier attempt, told late, does not end the current one")
    void lateFailureOfAnEarlierAttempt() throws Exception {
        freshWriter(0, 0);
        receiver.reset(0);
        ledger.reset(0, -1);
        WriterEventSender next = freshWriter(0, 1);
        receiver.attemptFailed(0, 0);
        next.report(Reports.of(1).files("a").encoded());
        deliver(0, 1);

        assertThat(filesUpTo(1)).containsExactly("a");
    }

    // ------------------------------------------------------------------------
    //  W2
    // ------------------------------------------------------------------------

    @Test
    @Tag("slow")
    @DisplayName("W2: 50,000 files travel in events of at most 1 MiB and arrive as they were")
    void cutsLongReportsAndJoinsThem() throws Exception {
        Reports report = Reports.of(1);
        for (int i = 0; i < 50_000; i++) {
            report.files("data-" + i);
        }
        EncodedReport encoded = report.encoded();
        assertThat(encoded.serialized().length).isGreaterThan(10 * 1024 * 1024);
        WriterEventSender writer = new WriterEventSender(wire, () -> {});
        writer.replay(-1, Collections.emptyList(), Collections.emptyList());
        writer.report(encoded);

        for (WriterEvent event : wire.events) {
            assertThat(InstantiationUtil.serializeObject(event))
                    .hasSizeLessThan(WriterEvent.MAX_PART_BYTES + 1_024);
        }
        deliver(0, 0);
        CommitBatch batch = ledger.align(1).get(0);
        assertThat(batch.reportsWithFiles()).isEqualTo(1);
        EncodedReport arrived = batch.releaseNext().report();
        assertThat(arrived.committableCount()).isEqualTo(50_000);
        assertThat(arrived.serialized()).isEqualTo(encoded.serialized());
    }

    @Test
    @DisplayName("W2: a replay of twenty long reports is cut and joined, each for itself")
    void cutsReplays() throws Exception {
        List<EncodedReport> reports = new ArrayList<>();
        for (int id = 1; id <= 20; id++) {
            Reports report = Reports.of(id);
            for (int i = 0; i < id; i++) {
                report.files("file-" + id + "-" + i);
            }
            reports.add(report.encoded());
        }
        ledger.restoring(20, -1, id -> false);
        WriterEventSender writer = new WriterEventSender(wire, () -> {}, SMALL_PART);
        writer.replay(20, reports, Collections.emptyList());
        assertThat(wire.events)
                .hasSizeGreaterThan(100)
                .allMatch(event -> event.part().length <= SMALL_PART);
        deliver(0, 0);

        List<CommitBatch> batches = ledger.recover();
        assertThat(batches).hasSize(20);
        for (int id = 1; id <= 20; id++) {
            assertThat(batches.get(id - 1).releaseNext().report().serialized())
                    .isEqualTo(reports.get(id - 1).serialized());
        }
    }

    @Test
    @DisplayName("W2: a report whose last part is missing is no report")
    void doesNotTakeAnIncompleteSeriesForAReport() throws Exception {
        WriterEventSender writer = freshWriter(0, 0);
        writer.report(Reports.of(1).files("a").encoded());
        List<WriterEvent> parts = wire.take();
        for (WriterEvent part : parts.subList(0, parts.size() - 1)) {
            receiver.receive(0, 0, part);
        }

        assertThatThrownBy(() -> ledger.align(1))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("never arrived");
    }

    @Test
    @DisplayName("W2: parts of two attempts never mix")
    void dropsThePartsOfAFailedAttempt() throws Exception {
        WriterEventSender old = freshWriter(0, 0);
        old.report(Reports.of(1).files("a", "b").encoded());
        List<WriterEvent> parts = wire.take();
        for (WriterEvent part : parts.subList(0, 2)) {
            receiver.receive(0, 0, part);
        }
        receiver.reset(0);
        ledger.reset(0, -1);
        WriterEventSender next = freshWriter(0, 1);
        for (WriterEvent part : parts.subList(2, parts.size())) {
            receiver.receive(0, 0, part);
        }
        next.report(Reports.of(2).files("c").encoded());
        deliver(0, 1);

        assertThat(filesUpTo(2)).containsExactly("c");
    }

    @Test
    @DisplayName("W2: parts of two subtasks never mix")
    void keepsSubtasksApart() throws Exception {
        begin(2);
        List<List<WriterEvent>> parts = new ArrayList<>();
        for (int subtask = 0; subtask < 2; subtask++) {
            WriterEventSender writer = freshWriter(subtask, 0);
            writer.report(Reports.of(1).files("of " + subtask, "too").encoded());
            parts.add(wire.take());
        }
        for (int i = 0; i < parts.get(0).size(); i++) {
            receiver.receive(0, 0, parts.get(0).get(i));
            receiver.receive(1, 0, parts.get(1).get(i));
        }

        assertThat(filesUpTo(1)).containsExactly("of 0", "too", "of 1", "too");
    }

    @Test
    @DisplayName("W2: a part of another report within a series is refused, whatever differs")
    void refusesMixedSeries() throws Exception {
        byte[] part = {1, 2, 3};
        for (CommittableEvent other :
                Arrays.asList(
                        WriterEvents.report(2, 2, 3, part), WriterEvents.report(2, 1, 2, part))) {
            begin();
            freshWriter(0, 0);
            receiver.receive(0, 0, WriterEvents.part(1, 1, 3, part, false, part));
            assertThatThrownBy(() -> receiver.receive(0, 0, other))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("unfinished report for checkpoint 1");
        }
    }

    @Test
    @DisplayName("W2: a replay that ends within a report, goes on after its end, or is overtaken")
    void refusesBrokenReplays() throws Exception {
        byte[] part = {1};
        ledger.restoring(4, -1, id -> false);
        receiver.receive(0, 0, WriterEvents.replay(0, 4, 3, false, part));
        assertThatThrownBy(() -> receiver.receive(0, 0, RestoredCommittableEvent.endOfReplay(1, 4)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("ended within a report");

        begin();
        freshWriter(0, 0);
        assertThatThrownBy(() -> receiver.receive(0, 0, WriterEvents.replay(1, -1, 3, true, part)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("has ended before");

        begin();
        ledger.restoring(4, -1, id -> false);
        receiver.receive(
                0, 0, WriterEvents.replay(0, 4, 2, true, Reports.of(4).encoded().serialized()));
        assertThatThrownBy(() -> receiver.receive(0, 0, WriterEvents.report(1, 5, 3, part)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("before its replay has ended");
    }

    // ------------------------------------------------------------------------
    //  W3
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("W3: what cannot be decoded names subtask, attempt, checkpoint and the reason")
    void namesWhatCannotBeDecoded() throws Exception {
        begin(3);
        receiver.receive(2, 7, RestoredCommittableEvent.endOfReplay(0, -1));
        byte[] bytes = Reports.of(5).files("a").encoded().serialized();

        assertThatThrownBy(() -> receiver.receive(2, 7, WriterEvents.report(1, 5, 9, bytes)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 2 (attempt 7), checkpoint 5")
                .hasMessageContaining("version 9");
        assertThatThrownBy(
                        () ->
                                receiver.receive(
                                        2,
                                        7,
                                        WriterEvents.report(2, 5, 2, Arrays.copyOf(bytes, 20))))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 2 (attempt 7), checkpoint 5");
        assertThatThrownBy(
                        () ->
                                receiver.receive(
                                        2,
                                        7,
                                        new CommittableEvent(3, 5, false, 3, 0, true, null, null)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 2 (attempt 7), checkpoint 5")
                .hasMessageContaining("no bytes");
    }

    @Test
    @DisplayName("W3: the same for a report in parts: the reason once, with its cause")
    void namesWhatCannotBeDecodedOnceItIsJoined() throws Exception {
        receiver.receive(0, 4, RestoredCommittableEvent.endOfReplay(0, -1));
        byte[] bytes = Reports.of(5).files("a").encoded().serialized();
        int unknownVersion = 9;
        int half = bytes.length / 2;
        receiver.receive(
                0,
                4,
                WriterEvents.part(1, 5, unknownVersion, bytes, false, Arrays.copyOf(bytes, half)));

        assertThatThrownBy(
                        () ->
                                receiver.receive(
                                        0,
                                        4,
                                        WriterEvents.part(
                                                2,
                                                5,
                                                unknownVersion,
                                                bytes,
                                                true,
                                                Arrays.copyOfRange(bytes, half, bytes.length))))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 0 (attempt 4), checkpoint 5")
                .message()
                .containsOnlyOnce("cannot be decoded")
                .containsOnlyOnce("version 9");
    }

    @Test
    @DisplayName("W3: a report for another checkpoint than its event says is refused with both")
    void refusesAnotherCheckpointThanAnnounced() throws Exception {
        receiver.receive(0, 0, RestoredCommittableEvent.endOfReplay(0, -1));

        assertThatThrownBy(
                        () ->
                                receiver.receive(
                                        0,
                                        0,
                                        WriterEvents.report(
                                                1, 6, 2, Reports.of(5).encoded().serialized())))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("checkpoint 6")
                .hasMessageContaining("checkpoint 5");
    }

    @Test
    @DisplayName("E2: the end of input travels with the report, in whatever number of parts")
    void tellsTheEndOfInput() throws Exception {
        begin(2);
        WriterEventSender finishing = freshWriter(0, 0);
        WriterEventSender going = freshWriter(1, 0);
        finishing.reportEndOfInput(Reports.of(1).files("last", "of all").encoded());
        deliver(0, 0);
        going.report(Reports.of(1).encoded());
        going.report(Reports.of(2).files("more").encoded());
        deliver(1, 0);

        assertThatCode(() -> assertThat(filesUpTo(1)).containsExactly("last", "of all"))
                .doesNotThrowAnyException();
        assertThat(filesUpTo(2)).containsExactly("more");
    }

    // ------------------------------------------------------------------------

    private List<String> filesUpTo(long checkpointId) throws Exception {
        List<String> files = new ArrayList<>();
        for (CommitBatch batch : ledger.align(checkpointId)) {
            for (CommitBatch.Entry entry = batch.releaseNext();
                    entry != null;
                    entry = batch.releaseNext()) {
                files.addAll(Reports.fileNames(entry.report()));
            }
        }
        return files;
    }

    /** Holds what was sent until it is delivered or lost. */
    private static final class Wire implements OperatorEventGateway {

        private final List<WriterEvent> events = new ArrayList<>();

        @Override
        public void sendEventToCoordinator(OperatorEvent event) {
            events.add((WriterEvent) event);
        }

        private List<WriterEvent> take() {
            List<WriterEvent> taken = new ArrayList<>(events);
            events.clear();
            return taken;
        }

        private void loseAll() {
            events.clear();
        }
    }
}
