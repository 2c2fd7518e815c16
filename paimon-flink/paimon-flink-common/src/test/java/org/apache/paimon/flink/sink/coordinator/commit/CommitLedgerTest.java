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
import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The decisions of the coordinator-commit path. Calls come in orders that Flink allows; each batch
 * is read as {@code 7 [a, b] watermark 5 savepoint}.
 */
class CommitLedgerTest {

    private static final List<ReportSideState> NO_SIDE_STATES = Collections.emptyList();

    private final Set<Long> aborted = new HashSet<>();
    private CommitLedger ledger = ledger(2);

    /** What the job was restored from. */
    private long restored;

    // ------------------------------------------------------------------------
    //  Checkpoints and savepoints
    // ------------------------------------------------------------------------

    @Nested
    class Checkpoints {

        @Test
        @DisplayName("T1: a checkpoint returns its files once, under its own identifier")
        void handsOutOnce() throws Exception {
            checkpoint(1, "a", "b");

            assertThat(align(1)).containsExactly("1 [a, b]");
            assertThat(align(1)).isEmpty();
        }

        @Test
        @DisplayName("T1: a later checkpoint commits the savepoints before it, each for itself")
        void severalSavepointsInARow() throws Exception {
            savepoint(1, "a", "b");
            savepoint(2, "c", "d");
            savepoint(3, "e", null);
            checkpoint(4, "f", "g");

            assertThat(align(4))
                    .containsExactly(
                            "1 [a, b] savepoint",
                            "2 [c, d] savepoint",
                            "3 [e] savepoint",
                            "4 [f, g]");
        }

        @Test
        @DisplayName("T1: a savepoint that comes after the completed checkpoint stays pending")
        void keepsWhatIsLater() throws Exception {
            checkpoint(1, "a", "b");
            savepoint(2, "c", "d");

            assertThat(align(1)).containsExactly("1 [a, b]");
            checkpoint(3, "e", "f");
            assertThat(align(3)).containsExactly("2 [c, d] savepoint", "3 [e, f]");
        }

        @Test
        @DisplayName("T2: a synchronous savepoint is returned by its own completion")
        void synchronousSavepoint() throws Exception {
            savepoint(5, "a", "b");

            assertThat(align(5)).containsExactly("5 [a, b] savepoint");
        }

        @Test
        @DisplayName("T7: without flags nothing is a savepoint")
        void noFlagsNoSavepoints() throws Exception {
            checkpoint(1, "a", "b");
            checkpoint(2, null, null);

            assertThat(align(2)).containsExactly("1 [a, b]", "2 []");
        }

        @Test
        @DisplayName("T1: a cut that only one of two writers has flagged is no savepoint")
        void everyWriterHasToFlag() throws Exception {
            report(0, Reports.of(1).files("a").savepoint());
            report(1, Reports.of(1).files("b"));

            assertThat(align(1)).containsExactly("1 [a, b]");
        }

        @Test
        @DisplayName("T8: a savepoint without files stays a savepoint; the committer decides")
        void emptySavepoint() throws Exception {
            savepoint(1, null, null);
            checkpoint(2, "a", "b");

            assertThat(align(2)).containsExactly("1 [] savepoint", "2 [a, b]");
        }

        @Test
        @DisplayName("T8: reports without files make an empty batch, those with files say who")
        void batches() throws Exception {
            checkpoint(1, null, null);
            checkpoint(2, 3, 4, null, "a");
            List<CommitBatch> batches = ledger.align(2);

            assertThat(batches.get(0).hasFiles()).isFalse();
            assertThat(batches.get(0).reportsWithFiles()).isZero();
            assertThat(batches.get(1).hasFiles()).isTrue();
            assertThat(batches.get(1).reportsWithFiles()).isEqualTo(1);
            CommitBatch.Entry entry = batches.get(1).releaseNext();
            assertThat(entry.subtask()).isEqualTo(1);
            assertThat(entry.attempt()).isEqualTo(4);
            assertThat(batches.get(1).releaseNext()).isNull();
            assertThat(batches.get(1).hasFiles()).isTrue();
        }

        @Test
        @DisplayName("T1: an earlier completion that is told late hands nothing out again")
        void lateCompletion() throws Exception {
            checkpoint(1, "a", "b");
            checkpoint(2, "c", "d");
            align(2);

            assertThat(align(1)).isEmpty();
        }

        @Test
        @DisplayName("W1: a checkpoint that completes without a report is refused by name")
        void missingReport() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.triggered(2);
            report(0, Reports.of(2).files("c"));

            assertThatThrownBy(() -> ledger.align(2))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 1 (attempt 0), checkpoint 2")
                    .hasMessageContaining("last reported: checkpoint 1");
        }

        @Test
        @DisplayName("W1: a checkpoint of which no report arrived at all is refused too")
        void allReportsMissing() {
            ledger.triggered(1);

            assertThatThrownBy(() -> ledger.align(1))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("last reported: none");
        }

        @Test
        @DisplayName(
                "W1: a second report for a checkpoint, or an earlier one, is refused with both")
        void reportsRise() throws Exception {
            report(0, Reports.of(3));
            for (long id : new long[] {3, 2}) {
                assertThatThrownBy(() -> report(0, Reports.of(id)))
                        .isInstanceOf(ReportProtocolException.class)
                        .hasMessageContaining("checkpoint " + id)
                        .hasMessageContaining("reported checkpoint 3");
            }
        }

        @Test
        @DisplayName("W1: a report for what was committed without it is refused")
        void reportAfterItsCommit() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("a"));
            reportEndOfInput(1, Reports.of(1).files("b"));
            reportEndOfInput(1, Reports.of(2));
            align(2);

            assertThatThrownBy(() -> reportEndOfInput(0, Reports.of(2).files("late")))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("after checkpoint 2 was committed");
        }
    }

    // ------------------------------------------------------------------------
    //  Aborts
    // ------------------------------------------------------------------------

    @Nested
    class Aborts {

        @Test
        @DisplayName("A1: an aborted savepoint keeps its files and loses its flag")
        void abortAfterTheReports() throws Exception {
            savepoint(1, "a", "b");
            aborted.add(1L);
            checkpoint(2, "c", "d");

            assertThat(align(2)).containsExactly("1 [a, b]", "2 [c, d]");
        }

        @Test
        @DisplayName("A2: a late report of an aborted savepoint stays withdrawn")
        void reportsAfterTheAbort() throws Exception {
            ledger.triggered(1);
            report(0, Reports.of(1).files("a").savepoint());
            aborted.add(1L);
            report(1, Reports.of(1).files("b").savepoint());
            checkpoint(2, "c", "d");

            assertThat(align(2)).containsExactly("1 [a, b]", "2 [c, d]");
        }

        @Test
        @DisplayName("A2: reports that all come after the abort stay withdrawn")
        void allReportsAfterTheAbort() throws Exception {
            ledger.triggered(1);
            aborted.add(1L);
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");

            assertThat(align(2)).containsExactly("1 [a, b]", "2 [c, d]");
        }

        @Test
        @DisplayName("A1: an abort that comes before the trigger is known withdraws as well")
        void abortBeforeTheTrigger() throws Exception {
            aborted.add(1L);
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");

            assertThat(align(2)).containsExactly("1 [a, b]", "2 [c, d]");
        }

        @Test
        @DisplayName("A1: an abort touches no other savepoint")
        void abortsOneSavepointAlone() throws Exception {
            savepoint(1, "a", "b");
            savepoint(2, "c", "d");
            savepoint(3, "e", "f");
            aborted.add(2L);
            checkpoint(4, "g", "h");

            assertThat(align(4))
                    .containsExactly(
                            "1 [a, b] savepoint", "2 [c, d]", "3 [e, f] savepoint", "4 [g, h]");
        }

        @Test
        @DisplayName(
                "A1, A3: files of a checkpoint that one writer never took are committed with the next")
        void abortedCheckpointOfOneWriter() throws Exception {
            ledger.triggered(1);
            report(0, Reports.of(1).files("a"));
            aborted.add(1L);
            checkpoint(2, "b", "c");

            assertThat(align(2)).containsExactly("2 [a, b, c]");
        }

        @Test
        @DisplayName("A1: whoever handed a savepoint out knows that its tag may have to go")
        void knowsWhatWasHandedOut() throws Exception {
            savepoint(1, "a", "b");
            assertThat(ledger.alignedOrRestoring(1)).isFalse();
            checkpoint(2, "c", "d");
            align(2);

            assertThat(ledger.alignedOrRestoring(1)).isTrue();
            assertThat(ledger.alignedOrRestoring(2)).isTrue();
            assertThat(ledger.alignedOrRestoring(3)).isFalse();
            assertThat(ledger.lastAligned()).isEqualTo(2);
        }

        @Test
        @DisplayName("A2: a late abort of what was returned disturbs nothing later")
        void abortAfterTheCommit() throws Exception {
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");
            align(2);
            aborted.add(1L);
            savepoint(3, "e", "f");

            assertThat(align(3)).containsExactly("3 [e, f] savepoint");
        }
    }

    // ------------------------------------------------------------------------
    //  Region failover
    // ------------------------------------------------------------------------

    @Nested
    class RegionFailover {

        @Test
        @DisplayName(
                "A3: cuts newer than the reset are no savepoints, the other writers' files stay")
        void resetBreaksNewerCuts() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            savepoint(2, "c", "d");
            restart(1, 1, 1);
            checkpoint(3, 0, 1, "e", "d again");

            assertThat(align(3)).containsExactly("3 [c, e, d again]");
        }

        @Test
        @DisplayName("A3: a savepoint whose reports come after the reset is broken as well")
        void resetBetweenTheReports() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.triggered(2);
            report(1, Reports.of(2).files("d").savepoint());
            restart(1, 1, 1);
            report(0, Reports.of(2).files("c").savepoint());
            checkpoint(3, 0, 1, "e", "f");

            assertThat(align(3)).containsExactly("3 [c, e, f]");
        }

        @Test
        @DisplayName("A3: of a savepoint that was triggered before the reset no report had arrived")
        void resetBeforeAnyReport() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.triggered(2);
            restart(1, 1, 1);
            report(0, Reports.of(2).files("c").savepoint());
            // The new attempt is not asked for 2.
            checkpoint(3, 0, 1, "e", "f");

            assertThat(align(3)).containsExactly("3 [c, e, f]");
        }

        @Test
        @DisplayName("A3: not even flagged reports of all writers make a broken cut whole again")
        void brokenForGood() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.triggered(2);
            restart(1, 1, 1);
            report(0, Reports.of(2).files("c").savepoint());
            report(1, 1, Reports.of(2).files("d").savepoint());
            checkpoint(3, 0, 1, "e", "f");

            assertThat(align(3)).containsExactly("3 [c, d, e, f]");
        }

        @Test
        @DisplayName("A3: a broken cut stays broken when one before it is returned")
        void brokenBeyondTheNextCommit() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            savepoint(2, "c", "d");
            savepoint(3, "e", "f");
            restart(1, 1, 1);
            report(1, 1, Reports.of(2).files("d again").savepoint());
            assertThat(align(2)).containsExactly("2 [c, d again]");
            report(1, 1, Reports.of(3).files("f again").savepoint());

            assertThat(align(3)).containsExactly("3 [e, f again]");
        }

        @Test
        @DisplayName("A3: a cut that is known by a report alone is broken by a reset as well")
        void resetAfterAReportWithoutTrigger() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            report(0, Reports.of(2).files("c").savepoint());
            restart(1, 1, 1);
            report(1, 1, Reports.of(2).files("d").savepoint());

            assertThat(align(2)).containsExactly("2 [c, d]");
        }

        @Test
        @DisplayName("A3: what a replay brings back of a cut that is still here is committed")
        void replayIsPutIntoTheCut() throws Exception {
            ledger.triggered(1);
            report(0, Reports.of(1).files("a"));
            // The report of writer 1 was lost; its state holds it, and checkpoint 1 is complete.
            ledger.reset(1, 1);
            ledger.replay(
                    1,
                    1,
                    1,
                    Collections.singletonList(Reports.of(1).files("b").encoded()),
                    NO_SIDE_STATES);

            assertThat(align(1)).containsExactly("1 [a, b]");
        }

        @Test
        @DisplayName("A3: the reset of a writer that had finished breaks the newer cuts as well")
        void resetOfAFinishedWriter() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            report(1, Reports.of(2).files("c").savepoint());
            ledger.reset(0, 1);
            ledger.ready(0);
            ledger.triggered(3);
            report(1, Reports.of(3).files("d"));

            assertThat(align(3)).containsExactly("3 [c, d]");
        }

        @Test
        @DisplayName("A3: a savepoint after the reset is complete again")
        void savepointAfterTheReset() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            savepoint(2, "c", "d");
            restart(0, 1, 1);
            report(0, 1, Reports.of(3).files("c again").savepoint());
            report(1, Reports.of(3).files("e").savepoint());

            assertThat(align(3)).containsExactly("3 [d, c again, e] savepoint");
        }

        @Test
        @DisplayName("A3: savepoints before the reset stay complete, also with the replayed report")
        void savepointBeforeTheReset() throws Exception {
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");
            // Checkpoint 2 is complete, but nobody has told the coordinator yet.
            ledger.reset(1, 2);
            ledger.replay(
                    1,
                    1,
                    2,
                    Arrays.asList(
                            Reports.of(1).files("b").savepoint().encoded(),
                            Reports.of(2).files("d").encoded()),
                    NO_SIDE_STATES);

            assertThat(align(2)).containsExactly("1 [a, b] savepoint", "2 [c, d]");
            checkpoint(3, 0, 1, "e", "f");
            assertThat(align(3)).containsExactly("3 [e, f]");
        }

        @Test
        @DisplayName("A3: after the completion of the reset's checkpoint nothing is returned twice")
        void replayOfWhatWasCommitted() throws Exception {
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");
            align(2);
            ledger.reset(1, 2);
            ledger.replay(
                    1,
                    1,
                    2,
                    Arrays.asList(
                            Reports.of(1).files("b").savepoint().encoded(),
                            Reports.of(2).files("d").encoded()),
                    NO_SIDE_STATES);
            checkpoint(3, 0, 1, "e", "f");

            assertThat(align(3)).containsExactly("3 [e, f]");
        }

        @Test
        @DisplayName("A3: two resets, of two writers, break what lies after the earlier one")
        void twoResets() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            savepoint(2, "c", "d");
            restart(0, 1, 1);
            savepoint(3, 1, 0, "c again", "e");
            restart(1, 1, 1);
            checkpoint(4, 1, 1, "f", "d and e again");

            assertThat(align(4)).containsExactly("4 [c again, f, d and e again]");
        }

        @Test
        @DisplayName("A3: a writer that starts all over breaks every savepoint so far")
        void resetToNothing() throws Exception {
            savepoint(1, "a", "b");
            restart(1, 1, -1);
            checkpoint(2, 0, 1, "c", "b again");

            assertThat(align(2)).containsExactly("2 [a, c, b again]");
        }

        @Test
        @DisplayName(
                "A2: a savepoint that was aborted before a reset stays withdrawn in the replay")
        void replayOfAnAbortedSavepoint() throws Exception {
            savepoint(1, "a", "b");
            checkpoint(2, "c", "d");
            aborted.add(1L);
            ledger.reset(1, 2);
            ledger.replay(
                    1,
                    1,
                    2,
                    Arrays.asList(
                            Reports.of(1).files("b").savepoint().encoded(),
                            Reports.of(2).files("d").encoded()),
                    NO_SIDE_STATES);

            assertThat(align(2)).containsExactly("1 [a, b]", "2 [c, d]");
        }

        @Test
        @DisplayName("W1: a completion does not pass over a writer that is reset and silent")
        void completionWhileAWriterIsReset() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.triggered(2);
            report(0, Reports.of(2).files("c"));
            restart(1, 1, 1);

            assertThatThrownBy(() -> ledger.align(2)).isInstanceOf(ReportProtocolException.class);
        }

        @Test
        @DisplayName(
                "A3: an attempt that was restored from another checkpoint is refused with both")
        void replayOfAnotherCheckpoint() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            ledger.reset(1, 1);

            assertThatThrownBy(
                            () -> ledger.replay(1, 1, -1, Collections.emptyList(), NO_SIDE_STATES))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 1 (attempt 1), checkpoint -1")
                    .hasMessageContaining("expects checkpoint 1");
            assertThatThrownBy(
                            () ->
                                    ledger.replay(
                                            1,
                                            1,
                                            1,
                                            Collections.singletonList(Reports.of(2).encoded()),
                                            NO_SIDE_STATES))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("report for checkpoint 2");
        }
    }

    // ------------------------------------------------------------------------
    //  Restore
    // ------------------------------------------------------------------------

    @Nested
    class Restore {

        @Test
        @DisplayName("A4: replays rebuild files, savepoints and watermark")
        void recoversEverything() throws Exception {
            restoring(3);
            assertThat(ledger.replaysMissing()).isEqualTo(2);
            replay(
                    0,
                    Reports.of(2).files("a").watermark(10).savepoint(),
                    Reports.of(3).files("c").watermark(20));
            assertThat(ledger.replaysComplete()).isFalse();
            assertThat(ledger.replaysMissing()).isEqualTo(1);
            replay(
                    1,
                    Reports.of(2).files("b").watermark(11).savepoint(),
                    Reports.of(3).files("d").watermark(19));
            assertThat(ledger.replaysComplete()).isTrue();

            assertThat(recover())
                    .containsExactly("2 [a, b] watermark 10 savepoint", "3 [c, d] watermark 19");
            assertThat(ledger.restoring()).isFalse();
            checkpoint(4, "e", "f");
            assertThat(align(3)).isEmpty();
            assertThat(align(4)).containsExactly("4 [e, f] watermark 19");
        }

        @Test
        @DisplayName("A4: a savepoint of which one writer lost its report is not complete")
        void incompleteReplayedCut() throws Exception {
            restoring(3);
            replay(0, Reports.of(2).files("a").savepoint(), Reports.of(3));
            replay(1, Reports.of(3));

            assertThat(recover()).containsExactly("3 [a]");
        }

        @Test
        @DisplayName("A4: a flag that some of the replayed reports lack is not complete")
        void partlyWithdrawnCut() throws Exception {
            restoring(3);
            replay(0, Reports.of(2).files("a").savepoint(), Reports.of(3));
            replay(1, Reports.of(2).files("b"), Reports.of(3));

            assertThat(recover()).containsExactly("2 [a, b]", "3 []");
        }

        @Test
        @DisplayName(
                "A4: without any report for the restored checkpoint all are stale, and dropped")
        void noReportForTheRestoredCheckpoint() throws Exception {
            restoring(500);
            replay(0, Reports.of(11).files("a").savepoint(), Reports.of(12).files("c"));
            replay(1, Reports.of(11).files("b").savepoint());

            try (CapturedLog log = CapturedLog.of(RestoredReports.class)) {
                assertThat(recover()).isEmpty();
                assertThat(log.messages())
                        .singleElement()
                        .asString()
                        .startsWith("WARN")
                        .contains("[11, 12]", "restored checkpoint 500");
            }
            assertThat(ledger.restoring()).isFalse();
            checkpoint(501, "d", "e");
            assertThat(align(501)).containsExactly("501 [d, e]");
        }

        @Test
        @DisplayName("A4: nothing is dropped, and nothing warned of, when nothing was replayed")
        void nothingReplayed() throws Exception {
            restoring(3);
            replay(0);
            replay(1);

            try (CapturedLog log = CapturedLog.of(RestoredReports.class)) {
                assertThat(recover()).isEmpty();
                assertThat(log.messages()).isEmpty();
            }
        }

        @Test
        @DisplayName("A4: reports up to what is committed lose their files, and nothing else")
        void reportsOfWhatIsCommitted() throws Exception {
            restoring(4, 2);
            EncodedReport committed =
                    ledger.withoutCommittedFiles(
                            Reports.of(2)
                                    .files("a", "b")
                                    .watermark(7)
                                    .idle()
                                    .savepoint()
                                    .encoded());
            EncodedReport pending =
                    ledger.withoutCommittedFiles(Reports.of(3).files("c").encoded());

            assertThat(committed.committableCount()).isZero();
            assertThat(committed.serialized()).isEmpty();
            assertThat(committed.checkpointId()).isEqualTo(2);
            assertThat(committed.watermark()).isEqualTo(7);
            assertThat(committed.idle()).isTrue();
            assertThat(committed.savepoint()).isTrue();
            assertThat(pending.committableCount()).isEqualTo(1);
        }

        @Test
        @DisplayName("A4: what is committed makes no batch and no tag, but moves the watermark")
        void committedCutsMakeNoBatch() throws Exception {
            restoring(4, 2);
            ledger.replay(
                    0,
                    0,
                    4,
                    Arrays.asList(
                            committed(Reports.of(2).files("a").watermark(50).savepoint()),
                            Reports.of(3).files("c").watermark(10).encoded(),
                            Reports.of(4).watermark(11).encoded()),
                    NO_SIDE_STATES);
            ledger.replay(
                    1,
                    0,
                    4,
                    Arrays.asList(
                            committed(Reports.of(2).files("b").watermark(40).savepoint()),
                            Reports.of(3).files("d").watermark(12).encoded(),
                            Reports.of(4).files("e").watermark(12).encoded()),
                    NO_SIDE_STATES);

            assertThat(recover()).containsExactly("3 [c, d] watermark 40", "4 [e] watermark 40");
        }

        @Test
        @DisplayName("A4: outside a restore no report loses its files")
        void filesOfARegionFailover() throws Exception {
            restoring(4, 2);
            replay(0);
            replay(1);
            recover();

            assertThat(
                            ledger.withoutCommittedFiles(Reports.of(2).files("a").encoded())
                                    .committableCount())
                    .isEqualTo(1);
        }

        /** As a replay comes out of the receiver. */
        private EncodedReport committed(Reports report) {
            return ledger.withoutCommittedFiles(report.encoded());
        }

        @Test
        @DisplayName("R1: a vertex that is new in the restored job replays nothing, and starts")
        void newVertex() throws Exception {
            restoring(3);
            ledger.sinkIsNew();
            ledger.replay(0, 0, -1, Collections.emptyList(), NO_SIDE_STATES);
            ledger.replay(1, 0, -1, Collections.emptyList(), NO_SIDE_STATES);
            assertThat(ledger.replaysComplete()).isTrue();
            assertThat(recover()).isEmpty();

            checkpoint(4, "a", "b");
            assertThat(align(4)).containsExactly("4 [a, b]");
        }

        @Test
        @DisplayName("R1: the same in a region failover before its first checkpoint, not after it")
        void failoverOfANewVertex() throws Exception {
            newVertexUpTo(3);
            ledger.reset(0, 3);
            ledger.replay(0, 1, -1, Collections.emptyList(), NO_SIDE_STATES);
            checkpoint(4, 1, 0, "a", "b");
            assertThat(align(4)).containsExactly("4 [a, b]");
            ledger.reset(0, 4);

            assertThatThrownBy(
                            () -> ledger.replay(0, 2, -1, Collections.emptyList(), NO_SIDE_STATES))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("expects checkpoint 4");
        }

        private void newVertexUpTo(long checkpointId) throws Exception {
            restoring(checkpointId);
            ledger.sinkIsNew();
            ledger.replay(0, 0, -1, Collections.emptyList(), NO_SIDE_STATES);
            ledger.replay(1, 0, -1, Collections.emptyList(), NO_SIDE_STATES);
            recover();
        }

        @Test
        @DisplayName("R1: an attempt without a restored checkpoint that replays reports is refused")
        void newVertexWithReports() {
            restoring(3);

            assertThatThrownBy(
                            () ->
                                    ledger.replay(
                                            0,
                                            0,
                                            -1,
                                            Collections.singletonList(Reports.of(3).encoded()),
                                            NO_SIDE_STATES))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("expects checkpoint 3");
        }

        @Test
        @DisplayName("T8: replayed reports without files make an empty batch")
        void emptyReplays() throws Exception {
            restoring(3);
            replay(0, Reports.of(3));
            replay(1, Reports.of(3));

            assertThat(ledger.recover()).hasSize(1).noneMatch(CommitBatch::hasFiles);
        }

        @Test
        @DisplayName("A3: what the surviving writer replays after a reset stays broken")
        void replayAfterRegionFailover() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            savepoint(2, "c", "d");
            restart(1, 1, 1);
            checkpoint(3, 0, 1, "e", "d again");
            // Before 3 is committed the JobManager dies. Writer 0 still has its flagged report.
            ledger = ledger(2);
            restoring(3);
            replay(0, Reports.of(2).files("c").savepoint(), Reports.of(3).files("e"));
            replay(1, Reports.of(3).files("d again"));

            assertThat(recover()).containsExactly("3 [c, e, d again]");
        }

        @Test
        @DisplayName("A5: a restore from the savepoint itself finds it complete")
        void restoreFromTheSavepoint() throws Exception {
            restoring(2);
            replay(0, Reports.of(2).files("a").savepoint());
            replay(1, Reports.of(2).files("b").savepoint());

            assertThat(recover()).containsExactly("2 [a, b] savepoint");
        }

        @Test
        @DisplayName("A6: replays of four old writers on two new ones are merged")
        void scaleDown() throws Exception {
            restoring(3);
            replay(
                    0,
                    Reports.of(2).files("a").watermark(8).savepoint(),
                    Reports.of(3).files("e").watermark(12),
                    Reports.of(2).files("b").watermark(7).savepoint(),
                    Reports.of(3).files("f").watermark(11));
            replay(
                    1,
                    Reports.of(2).files("c").watermark(3).idle().savepoint(),
                    Reports.of(3).watermark(4).idle(),
                    Reports.of(2).files("d").watermark(9).savepoint(),
                    Reports.of(3).files("h").watermark(13));

            assertThat(recover())
                    .containsExactly(
                            "2 [a, b, c, d] watermark 7 savepoint", "3 [e, f, h] watermark 11");
        }

        @Test
        @DisplayName("A6: replays of two old writers spread over four new ones, two of them empty")
        void scaleUp() throws Exception {
            ledger = ledger(4);
            restoring(3);
            replay(0, Reports.of(2).files("a").savepoint());
            replay(1, Reports.of(3).files("c"));
            replay(2, Reports.of(2).files("b").savepoint());
            replay(3, Reports.of(3).files("d"));

            assertThat(recover()).containsExactly("2 [a, b] savepoint", "3 [c, d]");
        }

        @Test
        @DisplayName("A6: a cut that not every writer reported does not move the watermark")
        void partialCutsDoNotMoveTheWatermark() throws Exception {
            // Checkpoint 2 was aborted before writer 1, which is behind, had taken it.
            restoring(3);
            replay(
                    0,
                    Reports.of(2).files("a").watermark(100),
                    Reports.of(3).files("b").watermark(110));
            replay(1, Reports.of(3).files("c").watermark(20));

            assertThat(recover()).containsExactly("3 [a, b, c] watermark 20");
        }

        @Test
        @DisplayName(
                "A1: what an earlier coordinator was told to abort stays withdrawn in the replay")
        void abortedInAnEarlierLife() throws Exception {
            aborted.add(2L);
            restoring(3);
            replay(0, Reports.of(2).files("a").savepoint(), Reports.of(3));
            replay(1, Reports.of(2).files("b").savepoint(), Reports.of(3));

            assertThat(recover()).containsExactly("2 [a, b]", "3 []");
        }

        @Test
        @DisplayName("A4: a writer that fails while others still replay replays again")
        void failureWhileRestoring() throws Exception {
            restoring(3);
            replay(0, Reports.of(3).files("a"));
            ledger.reset(0, 3);
            assertThat(ledger.replaysMissing()).isEqualTo(2);
            replay(1, Reports.of(3).files("b"));
            assertThat(ledger.replaysComplete()).isFalse();
            ledger.replay(
                    0,
                    1,
                    3,
                    Collections.singletonList(Reports.of(3).files("a").encoded()),
                    NO_SIDE_STATES);
            assertThat(ledger.replaysComplete()).isTrue();

            assertThat(recover()).containsExactly("3 [a, b]");
        }

        @Test
        @DisplayName("A4: the completion of the restored checkpoint, told late, hands nothing out")
        void completionOfTheRestoredCheckpoint() throws Exception {
            restoring(3);

            assertThat(align(3)).isEmpty();
            assertThatThrownBy(() -> ledger.align(4))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("2 writers are missing");
        }

        @Test
        @DisplayName(
                "A4: an attempt restored from another checkpoint than the coordinator is refused")
        void anotherCheckpoint() {
            restoring(3);

            assertThatThrownBy(
                            () -> ledger.replay(0, 0, 2, Collections.emptyList(), NO_SIDE_STATES))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("checkpoint 2")
                    .hasMessageContaining("expects checkpoint 3");
        }

        @Test
        @DisplayName("A4: a region failover right after the recovery replays what is committed")
        void regionFailoverAfterRecovery() throws Exception {
            restoring(3);
            replay(0, Reports.of(3).files("a"));
            replay(1, Reports.of(3).files("b"));
            recover();
            ledger.reset(1, 3);
            ledger.replay(
                    1,
                    1,
                    3,
                    Collections.singletonList(Reports.of(3).files("b").encoded()),
                    NO_SIDE_STATES);
            checkpoint(4, 0, 1, "c", "d");

            assertThat(align(4)).containsExactly("4 [c, d]");
        }
    }

    // ------------------------------------------------------------------------
    //  Finished writers
    // ------------------------------------------------------------------------

    @Nested
    class FinishedWriters {

        @Test
        @DisplayName("E2: a writer that has finished takes part in no later cut")
        void finishedWriterIsNotAwaited() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            assertThat(align(1)).containsExactly("1 [last, b]");
            report(1, Reports.of(2).files("c").savepoint());
            report(1, Reports.of(3).files("d"));

            assertThat(align(3)).containsExactly("2 [c] savepoint", "3 [d]");
        }

        @Test
        @DisplayName("E2: a writer that waits for its last checkpoint may go on reporting")
        void finishedWriterMayReport() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            aborted.add(1L);
            reportEndOfInput(0, Reports.of(2).savepoint());
            report(1, Reports.of(2).files("c").savepoint());

            assertThat(align(2)).containsExactly("1 [last, b]", "2 [c] savepoint");
        }

        @Test
        @DisplayName("A4, E2: a cut that a finished writer left out is not committed twice")
        void committedCutThatAFinishedWriterLeftOut() throws Exception {
            ledger.restoring(3, -1, id -> id == 2);
            ledger.replay(
                    0,
                    0,
                    3,
                    Collections.singletonList(Reports.of(3).files("e").encoded()),
                    NO_SIDE_STATES);
            ledger.replay(
                    1,
                    0,
                    3,
                    Arrays.asList(
                            Reports.of(2).files("c").encoded(), Reports.of(3).files("d").encoded()),
                    NO_SIDE_STATES);

            assertThat(read(ledger.recover())).containsExactly("3 [e, d]");
        }

        @Test
        @DisplayName("A3, A4: nor is what earlier cuts had left to it")
        void leftToACommittedCut() throws Exception {
            ledger.restoring(3, -1, id -> id == 2);
            ledger.replay(
                    0,
                    0,
                    3,
                    Arrays.asList(
                            Reports.of(1).files("a").encoded(), Reports.of(3).files("e").encoded()),
                    NO_SIDE_STATES);
            ledger.replay(
                    1,
                    0,
                    3,
                    Arrays.asList(
                            Reports.of(2).files("c").encoded(), Reports.of(3).files("d").encoded()),
                    NO_SIDE_STATES);

            assertThat(read(ledger.recover())).containsExactly("3 [e, d]");
        }

        @Test
        @DisplayName("E1: when all writers have finished, later checkpoints make no snapshot")
        void checkpointsAfterTheEnd() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            reportEndOfInput(1, Reports.of(1));
            assertThat(align(1)).containsExactly("1 [last]");
            reportEndOfInput(0, Reports.of(2));
            reportEndOfInput(1, Reports.of(2));

            assertThat(align(2)).isEmpty();
        }

        @Test
        @DisplayName("T8: a savepoint after all writers have finished stays one")
        void savepointAfterTheEnd() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("a"));
            reportEndOfInput(1, Reports.of(1).files("b"));
            align(1);
            reportEndOfInput(0, Reports.of(2).savepoint());
            reportEndOfInput(1, Reports.of(2).savepoint());

            assertThat(align(2)).containsExactly("2 [] savepoint");
        }

        @Test
        @DisplayName("E1: the checkpoint with the last data is returned, also without files")
        void checkpointOfTheEnd() throws Exception {
            reportEndOfInput(0, Reports.of(1).watermark(5));
            reportEndOfInput(1, Reports.of(1).watermark(6));

            assertThat(align(1)).containsExactly("1 [] watermark 5");
        }

        @Test
        @DisplayName("E2: what a finished writer skipped before its reset stays skipped")
        void skippedBeforeTheReset() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            report(1, Reports.of(2).files("c").savepoint());
            report(1, Reports.of(3).files("d"));
            // Checkpoint 3 is complete, but nobody has told the coordinator yet.
            restart(0, 1, 3);
            assertThat(align(3)).containsExactly("2 [c] savepoint", "3 [d]");
        }

        @Test
        @DisplayName("E2: what a finished writer skipped stays skipped when it reports again")
        void skippedBeforeItReportsAgain() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            report(1, Reports.of(2).files("c").savepoint());
            report(1, Reports.of(3).files("d"));
            restart(0, 1, 3);
            report(0, 1, Reports.of(4).files("e"));
            report(1, Reports.of(4).files("f"));

            assertThat(align(4)).containsExactly("2 [c] savepoint", "3 [d]", "4 [e, f]");
        }

        @Test
        @DisplayName("E2: a finished writer that reports data again takes part again")
        void takesPartAgain() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            report(0, Reports.of(2).files("more"));
            report(1, Reports.of(2).files("c"));
            align(2);
            report(1, Reports.of(3).files("d"));

            assertThatThrownBy(() -> ledger.align(3))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 0");
        }

        @Test
        @DisplayName("E2: the report with the last data itself is not optional")
        void lastDataIsAwaited() throws Exception {
            ledger.triggered(1);
            report(1, Reports.of(1).files("b"));

            assertThatThrownBy(() -> ledger.align(1)).isInstanceOf(ReportProtocolException.class);
        }

        @Test
        @DisplayName("E2: a finished writer that is reset before its end takes part again")
        void resetBeforeTheEnd() throws Exception {
            checkpoint(1, "a", "b");
            align(1);
            reportEndOfInput(0, Reports.of(2).files("last"));
            restart(0, 1, 1);
            report(1, Reports.of(2).files("c"));
            report(1, Reports.of(3).files("d"));

            assertThatThrownBy(() -> ledger.align(3))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 0");
            reportEndOfInput(0, 1, Reports.of(3).files("last again"));
            assertThat(align(3)).containsExactly("3 [c, last again, d]");
        }

        @Test
        @DisplayName("E2: a finished writer that is redeployed with its state takes part again")
        void redeployedWithState() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            restart(0, 1, 1);
            report(1, Reports.of(2).files("c"));

            assertThatThrownBy(() -> ledger.align(2))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 0");
        }

        @Test
        @DisplayName("E4: a finished writer that is redeployed without opening stays finished")
        void redeployedWithoutState() throws Exception {
            reportEndOfInput(0, Reports.of(1).files("last"));
            report(1, Reports.of(1).files("b"));
            align(1);
            report(1, Reports.of(2).files("c"));
            align(2);
            ledger.reset(0, 2);
            ledger.ready(0);
            ledger.triggered(3);
            report(1, Reports.of(3).files("d").savepoint());

            assertThat(align(3)).containsExactly("3 [d] savepoint");
        }

        @Test
        @DisplayName(
                "E4: a vertex that had finished when the checkpoint was taken restores as such")
        void allFinishedOnRestore() throws Exception {
            restoring(5);
            ledger.ready(0);
            ledger.ready(1);
            assertThat(ledger.replaysComplete()).isFalse();
            ledger.triggered(6);
            assertThat(ledger.replaysComplete()).isTrue();

            assertThat(recover()).isEmpty();
            assertThat(align(6)).isEmpty();
        }

        @Test
        @DisplayName(
                "E4: writers that run without a replay beside others that replayed lost theirs")
        void someReplaysLost() throws Exception {
            restoring(5);
            ledger.ready(0);
            ledger.ready(1);
            replay(0, Reports.of(5).files("a"));
            ledger.triggered(6);
            assertThat(ledger.replaysComplete()).isTrue();

            assertThatThrownBy(() -> ledger.recover())
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("1 of 2 writers")
                    .hasMessageContaining("subtask 1");
        }

        @Test
        @DisplayName("W1: who was taken for finished and replays later had lost its first replay")
        void replayOfAWriterTakenForFinished() throws Exception {
            restoring(5);
            ledger.ready(0);
            ledger.ready(1);
            ledger.triggered(6);
            recover();
            ledger.reset(1, 5);

            assertThatThrownBy(() -> replay(1, Reports.of(5).files("b")))
                    .isInstanceOf(ReportProtocolException.class)
                    .hasMessageContaining("subtask 1")
                    .hasMessageContaining("lost on its way");
        }

        @Test
        @DisplayName("E4: a replay that comes after the word that its attempt begins counts")
        void replayAfterReady() throws Exception {
            restoring(5);
            ledger.ready(0);
            replay(0, Reports.of(5).files("a"));
            replay(1, Reports.of(5).files("b"));

            assertThat(recover()).containsExactly("5 [a, b]");
        }
    }

    // ------------------------------------------------------------------------
    //  Watermarks
    // ------------------------------------------------------------------------

    @Nested
    class Watermarks {

        @Test
        @DisplayName("A6: the watermark is the minimum over the active writers")
        void minimumOfActiveWriters() throws Exception {
            report(0, Reports.of(1).watermark(10));
            report(1, Reports.of(1).watermark(20));
            assertThat(align(1)).containsExactly("1 [] watermark 10");

            report(0, Reports.of(2).watermark(10).idle());
            report(1, Reports.of(2).watermark(25));
            assertThat(align(2)).containsExactly("2 [] watermark 25");
        }

        @Test
        @DisplayName("A6: all writers idle leave the watermark where it is")
        void allIdle() throws Exception {
            report(0, Reports.of(1).watermark(10));
            report(1, Reports.of(1).watermark(20));
            report(0, Reports.of(2).watermark(50).idle());
            report(1, Reports.of(2).watermark(60).idle());

            assertThat(align(2)).containsExactly("1 [] watermark 10", "2 [] watermark 10");
        }

        @Test
        @DisplayName("A6: a writer that comes back from idle and is behind does not turn it back")
        void neverGoesBack() throws Exception {
            report(0, Reports.of(1).watermark(5).idle());
            report(1, Reports.of(1).watermark(20));
            report(0, Reports.of(2).watermark(6));
            report(1, Reports.of(2).watermark(30));

            assertThat(align(2)).containsExactly("1 [] watermark 20", "2 [] watermark 20");
        }

        @Test
        @DisplayName("A6: a writer that has no watermark yet holds it back")
        void noWatermarkYet() throws Exception {
            report(0, Reports.of(1));
            report(1, Reports.of(1).watermark(20));

            assertThat(align(1)).containsExactly("1 []");
        }

        @Test
        @DisplayName("A6: a writer that skipped an aborted checkpoint counts as it was before")
        void skippedCheckpoint() throws Exception {
            report(0, Reports.of(1).watermark(10));
            report(1, Reports.of(1).watermark(11));
            align(1);
            report(0, Reports.of(2).watermark(50));
            aborted.add(2L);
            report(0, Reports.of(3).watermark(60));
            report(1, Reports.of(3).watermark(55));

            assertThat(align(3)).containsExactly("3 [] watermark 55");
        }

        @Test
        @DisplayName("E2: a finished writer does not hold the watermark back")
        void finishedWriter() throws Exception {
            reportEndOfInput(0, Reports.of(1).watermark(10));
            report(1, Reports.of(1).watermark(20));
            align(1);
            report(1, Reports.of(2).watermark(30));

            assertThat(align(2)).containsExactly("2 [] watermark 30");
        }
    }

    // ------------------------------------------------------------------------

    /** All writers in their first attempt take a checkpoint; null means no file. */
    private void checkpoint(long id, String file0, String file1) throws Exception {
        checkpoint(id, 0, 0, file0, file1);
    }

    private void checkpoint(long id, int attempt0, int attempt1, String file0, String file1)
            throws Exception {
        ledger.triggered(id);
        report(0, attempt0, with(Reports.of(id), file0));
        report(1, attempt1, with(Reports.of(id), file1));
    }

    private void savepoint(long id, String file0, String file1) throws Exception {
        savepoint(id, 0, 0, file0, file1);
    }

    private void savepoint(long id, int attempt0, int attempt1, String file0, String file1)
            throws Exception {
        ledger.triggered(id);
        report(0, attempt0, with(Reports.of(id).savepoint(), file0));
        report(1, attempt1, with(Reports.of(id).savepoint(), file1));
    }

    private static Reports with(Reports report, String file) {
        return file == null ? report : report.files(file);
    }

    private void report(int subtask, Reports report) throws Exception {
        report(subtask, 0, report);
    }

    private void report(int subtask, int attempt, Reports report) throws Exception {
        ledger.report(subtask, attempt, report.encoded(), false);
    }

    private void reportEndOfInput(int subtask, Reports report) throws Exception {
        reportEndOfInput(subtask, 0, report);
    }

    private void reportEndOfInput(int subtask, int attempt, Reports report) throws Exception {
        ledger.report(subtask, attempt, report.encoded(), true);
    }

    /** A writer fails, goes back and finds nothing to replay. */
    private void restart(int subtask, int nextAttempt, long checkpointId) throws Exception {
        ledger.reset(subtask, checkpointId);
        ledger.replay(subtask, nextAttempt, checkpointId, Collections.emptyList(), NO_SIDE_STATES);
    }

    /** The whole job was restored, and a writer replays what it finds. */
    private void replay(int subtask, Reports... reports) throws Exception {
        List<EncodedReport> encoded =
                Arrays.stream(reports).map(Reports::encoded).collect(Collectors.toList());
        ledger.replay(subtask, 0, restored, encoded, NO_SIDE_STATES);
    }

    private CommitLedger ledger(int parallelism) {
        return new CommitLedger(parallelism, aborted::contains);
    }

    private void restoring(long checkpointId) {
        restoring(checkpointId, -1);
    }

    private void restoring(long checkpointId, long committedUpTo) {
        restored = checkpointId;
        ledger.restoring(checkpointId, committedUpTo, id -> false);
    }

    private List<String> align(long checkpointId) throws Exception {
        return read(ledger.align(checkpointId));
    }

    private List<String> recover() throws Exception {
        return read(ledger.recover());
    }

    private static List<String> read(List<CommitBatch> batches) {
        List<String> read = new ArrayList<>();
        for (CommitBatch batch : batches) {
            List<String> files = new ArrayList<>();
            for (CommitBatch.Entry entry = batch.releaseNext();
                    entry != null;
                    entry = batch.releaseNext()) {
                files.addAll(Reports.fileNames(entry.report()));
            }
            read.add(
                    batch.checkpointId()
                            + " "
                            + files
                            + (batch.watermark() == Long.MIN_VALUE
                                    ? ""
                                    : " watermark " + batch.watermark())
                            + (batch.completeSavepoint() ? " savepoint" : ""));
        }
        return read;
    }
}
