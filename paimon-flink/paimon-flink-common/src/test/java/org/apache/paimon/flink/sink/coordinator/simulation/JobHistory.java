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
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What outlives the JobManagers of one job: its checkpoints, its user, and what it has written. A
 * job that is restored after its end has another history, with the same user.
 */
final class JobHistory {

    final String initialUser;

    /** As whom it commits: its own user, or that of the savepoint it was started from. */
    final String user;

    final int parallelism;
    long nextCheckpointId;

    /** What a failure restores: a checkpoint, or the savepoint it was started from; or null. */
    Checkpoint newest;

    /** The synchronous savepoint that has completed; null when there is none. */
    Checkpoint stopped;

    /** Its own and those that it has inherited, by id. */
    final NavigableMap<Long, Checkpoint> checkpoints = new TreeMap<>();

    /** All files that it has inherited or written. Those of other courses are not its business. */
    final BitSet lineage = new BitSet();

    /** What it has committed itself. */
    final BitSet committed = new BitSet();

    /** What may be committed: all that its newest completed checkpoint holds. */
    BitSet committable = new BitSet();

    /** Files that may be in the table or not: it was rolled back while the job was running. */
    final BitSet uncertain = new BitSet();

    /** What was restored and was not committed when that was taken. */
    BitSet mayLack = new BitSet();

    /** What its newest JobMaster was started from; null for nothing. */
    Checkpoint startedFrom;

    /** Its newest snapshot that the table was not rolled back behind; null for none. */
    Checkpoint.Commit newestOwn;

    /** Identifier of its last commit. */
    long lastIdentifier = -1;

    /** Whether another job has taken its place: what it left undone is nobody's business. */
    boolean superseded;

    /** The restored checkpoint of which no replay arrived: its coordinator learns nothing new. */
    Checkpoint withoutReplays;

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

    /** The history of a job that is restored from one of this one's checkpoints. */
    JobHistory restoredFrom(Checkpoint checkpoint, String newUser, int newParallelism) {
        JobHistory next = new JobHistory(newUser, user, newParallelism, checkpoint.id + 1);
        for (Checkpoint earlier : checkpoints.headMap(checkpoint.id, true).values()) {
            Checkpoint copy = earlier.copyFor(checkpoint);
            next.checkpoints.put(copy.id, copy);
            if (copy.commit() != null
                    && !copy.commit().rolledBack
                    && (next.newestOwn == null || next.newestOwn.number < copy.commit().number)) {
                next.newestOwn = copy.commit();
            }
        }
        if (next.newestOwn == null) {
            next.newestOwn = checkpoint.knownOwn;
        }
        next.newest = next.checkpoints.get(checkpoint.id);
        next.lineage.or(checkpoint.holds());
        next.uncertain.or(uncertain);
        return next;
    }

    void restoreAll(Checkpoint checkpoint) {
        withoutReplays = null;
        base = checkpoint == null ? new BitSet() : checkpoint.holds();
        reports = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            reports.add(new ArrayList<>());
        }
    }

    void restoreOne(int subtask, long checkpointId) {
        reports.get(subtask).removeIf(report -> report.checkpointId > checkpointId);
    }

    /** A3: writers go back to a checkpoint and write what came after it again, into other files. */
    void breakAllAfter(long checkpointId) {
        for (Checkpoint checkpoint : checkpoints.tailMap(checkpointId, false).values()) {
            if (!checkpoint.broken) {
                checkpoint.broken = true;
                checkpoint.brokenBefore = nextCheckpointId;
            }
        }
    }

    BitSet files(int subtask) {
        BitSet files = new BitSet();
        for (Report report : reports.get(subtask)) {
            files.or(report.files);
        }
        return files;
    }

    Checkpoint checkpoint(long id) {
        return checkpoints.get(id);
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
