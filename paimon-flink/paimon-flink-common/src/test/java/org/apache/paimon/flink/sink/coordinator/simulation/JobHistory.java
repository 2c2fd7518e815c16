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

package org.apache.paimon.flink.sink.coordinator.simulation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** What outlives the JobManagers of one job: its checkpoints, its user, and what it has written. */
final class JobHistory {

    final String initialUser;

    /** As whom it commits: its own user, or that of the savepoint it was started from. */
    final String user;

    int parallelism;
    long nextCheckpointId;

    /** What a failure restores: a checkpoint, or the savepoint it was started from; or null. */
    Checkpoint newest;

    /** The synchronous savepoint that has completed; null when there is none. */
    Checkpoint stopped;

    final List<Checkpoint> checkpoints = new ArrayList<>();

    /** Files before the last restore of the whole job. */
    BitSet base = new BitSet();

    /** Reports of each writer since then. */
    List<List<Report>> reports = new ArrayList<>();

    JobHistory(String initialUser, String user, int parallelism, long nextCheckpointId) {
        this.initialUser = initialUser;
        this.user = user;
        this.parallelism = parallelism;
        this.nextCheckpointId = nextCheckpointId;
    }

    void restoreAll(Checkpoint checkpoint) {
        base = checkpoint == null ? new BitSet() : checkpoint.holds();
        reports = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            reports.add(new ArrayList<>());
        }
    }

    void restoreOne(int subtask, long checkpointId) {
        reports.get(subtask).removeIf(report -> report.checkpointId > checkpointId);
    }

    BitSet files(int subtask) {
        BitSet files = new BitSet();
        for (Report report : reports.get(subtask)) {
            files.or(report.files);
        }
        return files;
    }

    Checkpoint checkpoint(long id) {
        for (int i = checkpoints.size() - 1; i >= 0; i--) {
            if (checkpoints.get(i).id == id) {
                return checkpoints.get(i);
            }
        }
        return null;
    }

    /** The files of one writer for one checkpoint. */
    static final class Report {

        final long checkpointId;
        final BitSet files;

        Report(long checkpointId, BitSet files) {
            this.checkpointId = checkpointId;
            this.files = files;
        }
    }
}
