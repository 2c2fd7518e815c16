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

import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;

import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** A checkpoint or savepoint, as the one who took it knows it. */
final class Checkpoint {

    /** How it was asked for. */
    enum Type {
        CHECKPOINT,
        SAVEPOINT,
        STOP,
        STOP_WITH_DRAIN;

        boolean savepoint() {
            return this != CHECKPOINT;
        }

        boolean synchronous() {
            return this == STOP || this == STOP_WITH_DRAIN;
        }
    }

    /** What became of it. LOST: its JobManager died while it was pending. */
    enum Status {
        PENDING,
        COMPLETED,
        ABORTED,
        LOST
    }

    final long id;
    final Type type;
    final int parallelism;

    Status status = Status.PENDING;

    /** Writers that take part: all but those that had finished. */
    final boolean[] takesPart;

    final boolean[] acknowledged;

    /** Files that each writer had reported before its barrier; null before. */
    final BitSet[] before;

    /** State of each writer. */
    final List<byte[]>[] states;

    /** What lies beside each of these (S6). */
    final List<byte[]>[] sideStates;

    /** Files of everybody at the last restore before. */
    final BitSet base;

    /** Files of writers that had finished. */
    final BitSet finishedFiles;

    /** Where it is written; null for an ordinary checkpoint. */
    String path;

    byte[] coordinatorState;
    boolean coordinatorAcknowledged;

    /** Whether the tasks of the other vertices have taken it. */
    boolean othersAcknowledged;

    /** How many files carry exactly this id. */
    int ownFiles;

    /** A3: a writer was reset to a point before it. */
    boolean broken;

    /** The checkpoint that was to come next when that happened. */
    long brokenBefore;

    private Commit commit;

    /** Whether it was committed a second time, without files: either snapshot may be tagged. */
    private boolean committedAgainWithoutFiles;

    /** The newest own snapshot when the coordinator's state was taken; null for none. */
    Commit knownOwn;

    /** The newest rollback by a new snapshot then; null for none. */
    Commit knownRollback;

    /** Whose coordinator has taken it; null when nobody's has, as the sink is new. */
    SimulatedJob takenBy;

    /** Whether who took it had not seen a foreign commit before, as that had expired. */
    boolean missedForeignCommit;

    /** A4: what its coordinator counts as committed and tagged. */
    long committedUpTo = -1;

    /** Snapshots that had been tagged when the coordinator's state was taken. */
    BitSet taggedBefore = new BitSet();

    /** Files of its job that were in the table when the coordinator's state was taken. */
    BitSet committedBefore = new BitSet();

    /** The same for all copies of it. */
    private Checkpoint identity = this;

    /** Its tag may be there or not. */
    String excuse;

    /** A JobManager that knew of the abort has died, and the restored state still had the flag. */
    boolean abortForgotten;

    @SuppressWarnings({"unchecked", "rawtypes"})
    Checkpoint(long id, Type type, boolean[] takesPart, BitSet base, BitSet finishedFiles) {
        this.id = id;
        this.type = type;
        this.parallelism = takesPart.length;
        this.takesPart = takesPart;
        this.acknowledged = new boolean[parallelism];
        this.before = new BitSet[parallelism];
        this.states = new List[parallelism];
        this.sideStates = new List[parallelism];
        this.base = base;
        this.finishedFiles = finishedFiles;
    }

    /** As a job that is restored from a checkpoint knows those before it. */
    Checkpoint copyFor(Checkpoint restored) {
        Checkpoint copy = new Checkpoint(id, type, takesPart, base, finishedFiles);
        copy.identity = identity;
        copy.status = status;
        System.arraycopy(acknowledged, 0, copy.acknowledged, 0, parallelism);
        System.arraycopy(before, 0, copy.before, 0, parallelism);
        System.arraycopy(states, 0, copy.states, 0, parallelism);
        System.arraycopy(sideStates, 0, copy.sideStates, 0, parallelism);
        copy.path = path;
        copy.coordinatorState = coordinatorState;
        copy.coordinatorAcknowledged = coordinatorAcknowledged;
        copy.othersAcknowledged = othersAcknowledged;
        copy.ownFiles = ownFiles;
        // A writer that was reset later than that was not reset at all.
        copy.broken = broken && brokenBefore <= restored.id;
        copy.brokenBefore = brokenBefore;
        copy.knownOwn = knownOwn;
        copy.knownRollback = knownRollback;
        copy.takenBy = takenBy;
        copy.missedForeignCommit = missedForeignCommit;
        copy.committedUpTo = committedUpTo;
        copy.taggedBefore = taggedBefore;
        copy.committedBefore = committedBefore;
        copy.excuse = excuse;
        copy.abortForgotten = abortForgotten;
        return copy;
    }

    /** What a job that is restored from a checkpoint of this id finds for a sink that is new. */
    static Checkpoint ofNewSink(long id, int parallelism) {
        boolean[] takesPart = new boolean[parallelism];
        Arrays.fill(takesPart, true);
        Checkpoint none =
                new Checkpoint(id, Type.CHECKPOINT, takesPart, new BitSet(), new BitSet());
        Arrays.fill(none.before, new BitSet());
        none.status = Status.COMPLETED;
        return none;
    }

    /** Whether the sink has no state in it, since it was not part of the job then. */
    boolean withoutSink() {
        return coordinatorState == null && status == Status.COMPLETED;
    }

    /** The snapshot with its own id; null when it was not committed (under that id). */
    Commit commit() {
        return identity.commit;
    }

    void committedAs(Commit newCommit) {
        identity.commit = newCommit;
    }

    void committedAgainWithoutFiles() {
        identity.committedAgainWithoutFiles = true;
    }

    /** Whether it has two snapshots, without files, of which either may be tagged or gone. */
    boolean committedTwice() {
        return identity.committedAgainWithoutFiles;
    }

    /** Whether its tag may be there or not. */
    boolean excused() {
        return excuse != null || committedTwice();
    }

    /** R2: what it knows and the table was rolled back behind; null for nothing. */
    Commit lost() {
        for (Commit known : new Commit[] {knownOwn, knownRollback}) {
            if (known != null && known.rolledBack) {
                return known;
            }
        }
        return null;
    }

    boolean is(Checkpoint other) {
        return other != null && identity == other.identity;
    }

    /** Whether every writer that takes part has taken it. */
    boolean taken() {
        for (int i = 0; i < parallelism; i++) {
            if (takesPart[i] && before[i] == null) {
                return false;
            }
        }
        return true;
    }

    boolean acknowledgedByAll() {
        for (int i = 0; i < parallelism; i++) {
            if (takesPart[i] && !acknowledged[i]) {
                return false;
            }
        }
        return coordinatorAcknowledged && othersAcknowledged;
    }

    /** All files that it holds. */
    BitSet holds() {
        BitSet files = (BitSet) base.clone();
        files.or(finishedFiles);
        for (BitSet writer : before) {
            if (writer != null) {
                files.or(writer);
            }
        }
        return files;
    }

    /** Whether the state of some writer has a flagged report for a savepoint. */
    boolean flags(long savepointId) {
        try {
            for (List<byte[]> state : states) {
                if (state != null) {
                    for (byte[] element : state) {
                        EncodedReport report = EncodedReport.fromState(element);
                        if (report.checkpointId() == savepointId && report.savepoint()) {
                            return true;
                        }
                    }
                }
            }
            return false;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether no writer took part any more. */
    boolean allFinished() {
        for (boolean takes : takesPart) {
            if (takes) {
                return false;
            }
        }
        return true;
    }

    boolean someFinished() {
        for (boolean takes : takesPart) {
            if (!takes) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return type + " " + id + " (" + status + (broken ? ", broken" : "") + ")";
    }

    /** A snapshot of one of the jobs. */
    static final class Commit {

        /** Counts all commits of a run. */
        final int number;

        final long snapshotId;
        final long identifier;
        final SimulatedJob job;

        /** What was restored is committed in the name of whoever has taken it. */
        final SimulatedJob inNameOf;

        /** The table went back behind it. */
        boolean rolledBack;

        /** By which snapshot it did; 0 when its own was removed. */
        long rolledBackBy;

        Commit(int number, long snapshotId, long identifier, SimulatedJob job) {
            this.number = number;
            this.snapshotId = snapshotId;
            this.identifier = identifier;
            this.job = job;
            this.inNameOf = job == null ? null : job.inWhoseName(identifier);
        }

        @Override
        public String toString() {
            return "snapshot " + snapshotId + " of " + job;
        }
    }
}
