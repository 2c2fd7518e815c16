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
import org.apache.paimon.flink.sink.coordinator.report.ReportChecksum;
import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;

import javax.annotation.Nullable;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the restored state says of the replayed reports, by checkpoint and not by position (S6).
 *
 * <p>Threads: the coordinator's event loop.
 */
final class ReportSideStates {

    private final Map<Long, Set<ReportChecksum>> checksums = new HashMap<>();
    private final Map<Long, String> savepointPaths = new HashMap<>();

    void add(Collection<ReportSideState> sideStates) {
        for (ReportSideState sideState : sideStates) {
            checksums
                    .computeIfAbsent(sideState.checkpointId(), id -> new HashSet<>())
                    .add(sideState.checksum());
            if (sideState.savepointPath() != null) {
                savepointPaths.put(sideState.checkpointId(), sideState.savepointPath());
            }
        }
    }

    /**
     * A build that writes side states does so for every report of a checkpoint, so one without a
     * checksum is not one that was written.
     *
     * @throws ReportProtocolException when there are checksums, and none is that of the report
     */
    void check(int subtask, int attempt, EncodedReport report) throws ReportProtocolException {
        Set<ReportChecksum> expected =
                checksums.getOrDefault(report.checkpointId(), Collections.emptySet());
        if (!checksums.isEmpty() && !expected.contains(report.persisted())) {
            throw new ReportProtocolException(
                    subtask,
                    attempt,
                    report.checkpointId(),
                    String.format(
                            "the report in its state has %s, which is none of the %d reports that"
                                    + " were written for this checkpoint: the state was damaged."
                                    + " Restore another checkpoint or savepoint.",
                            report.persisted(), expected.size()));
        }
    }

    /** L1: where the savepoint with this id is written; null when that is not known. */
    @Nullable
    String savepointPath(long savepointId) {
        return savepointPaths.get(savepointId);
    }
}
