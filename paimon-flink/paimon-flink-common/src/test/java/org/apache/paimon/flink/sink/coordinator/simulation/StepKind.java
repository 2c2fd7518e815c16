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

/** What can happen next in a run. */
enum StepKind {
    // ---- data and checkpoints
    /** Writer a flushes b files for its next checkpoint. */
    WRITE(10),
    CHECKPOINT(6),
    SAVEPOINT(5),
    /** A synchronous savepoint; with b odd, it drains. */
    STOP(1),
    /** The input of writer a ends. */
    FINISH(1),
    /** The a-th oldest pending checkpoint or savepoint is aborted. */
    ABORT(3),

    // ---- progress, one thing at a time
    /** The JobManager's main thread runs its next action. */
    MAIN(12),
    /** The a-th newest event loop runs its next action, or goes on with the one that hangs. */
    LOOP(14),
    /** The next message of writer a reaches the JobManager. */
    RPC(16),
    /** The next barrier reaches writer a. */
    BARRIER(8),
    /** The tasks of other vertices have taken the a-th oldest pending checkpoint. */
    OTHERS(4),
    /** Writer a gets its b-th notification. */
    NOTIFY(6),
    /**
     * Everything that can go on does, until nothing is left; with b odd also in frozen processes,
     * with b from 2 on the writers first.
     */
    DRAIN(5),
    /** The same, but for writer a and the savepoints of other vertices, which are slow. */
    DRAIN_WITHOUT(3),

    // ---- failures of the job
    /** Writer a fails. */
    FAIL_WRITER(3),
    /** Everything fails. */
    FAIL_ALL(1),
    /** What has failed is started again; with b odd and all failed, by new coordinators. */
    RESTART(8),
    /** The a-th newest event loop has not ended in time: it is interrupted. */
    DEADLINE(2),
    /** The coordinator of the a-th newest event loop has ended. */
    CLOSED(6),
    /** The JobManager dies; another one takes over. */
    JOB_MANAGER_DIES(1),
    /** The JobManager freezes; another one takes over, and it wakes up later. */
    JOB_MANAGER_FREEZES(1),
    /** The JobManager dies at its a-th change of a file from now on. */
    CRASH(1),

    // ---- failures of commits and tags
    /** The next commit fails: before (b even) or after (b odd) its snapshot is there. */
    COMMIT_FAILS(2),
    /** The next commit hangs: before (b even) or after (b odd) its snapshot is there. */
    COMMIT_HANGS(1),
    /** The next change of a tag's file fails: before (b even) or after (b odd) it happens. */
    TAG_FAILS(2),

    // ---- operators and other processes
    /** The job is canceled and restored from its newest checkpoint, with a writers. */
    RESCALE(1),
    /** The job is canceled and restored from the newest savepoint, with a writers. */
    RESTORE_SAVEPOINT(2),
    /** The table is rolled back to the b-th newest tag and the job restored from its savepoint. */
    ROLL_BACK(1),
    /** The job is canceled and a new one starts on the same table, with a writers. */
    FRESH_JOB(1),
    /** Another process expires all snapshots but the newest a. */
    EXPIRE(3),
    ANOTHER_COMMITS(2),

    // ---- jobs and tables that are changed
    /** The job is canceled and restored from the a-th newest of all its checkpoints. */
    RESTORE_OLD(1),
    /**
     * The same, after the table was rolled back: with b below 2 to the newest snapshot of that
     * checkpoint's job up to it, else to one before; with b odd by a new snapshot.
     */
    RESTORE_AFTER_ROLLBACK(2),
    /** The table is rolled back below the running job, a snapshots; with b odd by a new one. */
    ROLL_BACK_BELOW(1),
    /** A sink of its own is added to the job at a restore. */
    NEW_SINK(1),
    /**
     * A second job is started from the newest checkpoint (a even) or savepoint, in the same process
     * (b odd) or in another one; steps are the second one's from now on.
     */
    CLONE(2),
    /** Steps are the other job's from now on. */
    SWITCH_JOBS(6),
    /** Both jobs are stopped and this one restored from its newest checkpoint. */
    KEEP_ONE(1),
    /** Many snapshots of somebody else. */
    MANY_COMMITS(1),
    /** Somebody else rewrites all files. */
    COMPACT(2),
    /** The table's owner deletes the a-th tag. */
    DELETE_TAG(2),

    // ---- hostile
    /** The next event of writer a is lost. */
    LOSE_EVENT(2, true),
    /** The next event of writer a arrives twice. */
    REPEAT_EVENT(2, true),
    /** The next two events of writer a change places. */
    SWAP_EVENTS(2, true),
    /** An event of an attempt that is over arrives. */
    STALE_EVENT(3, true),
    /** The JobManager's next notification is lost. */
    LOSE_NOTIFICATION(1, true),
    /** A notification of checkpoint a arrives again. */
    REPEAT_NOTIFICATION(2, true),
    /** The next two actions of the main thread change places. */
    SWAP_NOTIFICATIONS(2, true),
    /** An attempt of writer a that is over fails again. */
    STALE_FAILURE(1, true),
    /** Attempt b of writer a is said to be ready. */
    STALE_READY(1, true);

    final int weight;
    final boolean hostile;

    StepKind(int weight) {
        this(weight, false);
    }

    StepKind(int weight, boolean hostile) {
        this.weight = weight;
        this.hostile = hostile;
    }
}
