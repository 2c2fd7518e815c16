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

import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link PendingReports}: what a writer keeps, and when it waits. */
class PendingReportsTest {

    private final PendingReports reports = new PendingReports();

    @Test
    @DisplayName("A4: a completion forgets what the completed checkpoint before it covered")
    void completionForgetsThePreviousOne() throws Exception {
        add(1, 2, 3);

        assertThat(reports.completed(2)).isFalse();
        assertThat(ids()).containsExactly(1L, 2L, 3L);

        add(4);
        assertThat(reports.completed(4)).isFalse();
        assertThat(ids()).containsExactly(3L, 4L);
    }

    @Test
    @DisplayName("W1: restored reports stay in the state until two checkpoints have completed")
    void restoredReportsStay() throws Exception {
        reports.restored(Arrays.asList(report(1, false), report(1, true), report(2, false)));
        add(3);

        assertThat(ids()).containsExactly(1L, 1L, 2L, 3L);
        assertThat(reports.toState()).hasSize(4);

        reports.completed(3);
        assertThat(ids()).containsExactly(1L, 1L, 2L, 3L);
        add(4);
        reports.completed(4);
        assertThat(ids()).containsExactly(4L);
    }

    @Test
    @DisplayName("A1: an abort drops the flag of all reports for it, and of no other")
    void abortDropsTheFlag() throws Exception {
        reports.restored(Arrays.asList(report(1, true), report(1, true), report(2, true)));
        reports.add(report(3, true));
        reports.add(report(4, true));

        reports.aborted(1);
        reports.aborted(4);
        reports.aborted(9);

        assertThat(reports.pending())
                .extracting(EncodedReport::savepoint)
                .containsExactly(false, false, true, true, false);
    }

    @Test
    @DisplayName("T2: the writer waits for the savepoint that the job stops with, and no other")
    void waitsForTheStop() throws Exception {
        add(1, 2);
        reports.stopsWith(2);

        assertThat(reports.completed(1)).isFalse();
        assertThat(reports.completed(2)).isTrue();
    }

    @Test
    @DisplayName("E1, E3: the first report after the end of input is the last, and is waited for")
    void waitsForTheFinalCheckpoint() throws Exception {
        add(1);
        assertThat(reports.inputEnded()).isFalse();
        reports.endInput();
        assertThat(reports.inputEnded()).isTrue();
        assertThat(reports.allReported()).isFalse();
        add(2);
        assertThat(reports.allReported()).isTrue();
        add(3);

        assertThat(reports.completed(1)).isFalse();
        assertThat(reports.completed(2)).isTrue();
        assertThat(reports.completed(3)).isTrue();
    }

    private void add(long... checkpointIds) throws IOException {
        for (long checkpointId : checkpointIds) {
            reports.add(report(checkpointId, false));
        }
    }

    private List<Long> ids() {
        return reports.pending().stream()
                .map(EncodedReport::checkpointId)
                .collect(Collectors.toList());
    }

    private static EncodedReport report(long checkpointId, boolean savepoint) throws IOException {
        return EncodedReport.encode(
                new CheckpointCommittables(
                        checkpointId, Collections.emptyList(), 0, false, savepoint),
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer())));
    }
}
