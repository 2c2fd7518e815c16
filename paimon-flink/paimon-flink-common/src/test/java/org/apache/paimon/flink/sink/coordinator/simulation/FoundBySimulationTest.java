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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static org.apache.paimon.flink.sink.coordinator.simulation.Scenario.scenario;

/** What the simulation has found, shrunk: each of these broke a promise once. */
class FoundBySimulationTest {

    @Test
    @DisplayName("E4: a writer that begins to initialise has not finished: its replay is to come")
    void replayComesAfterReady() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_DIES)
                .then(StepKind.MAIN)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC, 1, 0)
                .then(StepKind.LOOP)
                .then(StepKind.LOOP)
                .then(StepKind.LOOP)
                .reaches("2 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T5: the torn tag of another job's crash takes the name, and fails nobody")
    void tornTagOfAnotherJob() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.CRASH, 3, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.STOP)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.FRESH_JOB)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .reaches("2 starts, 1 commit, 1 fault")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A1: an abort that reaches a failed coordinator is carried out by the next one")
    void abortAfterTheCoordinatorFailed() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN)
                .then(StepKind.TAG_FAILS, 0, 1)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN_WITHOUT, 5, 0)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.ABORT)
                .reaches("1 start, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("W1: what was restored is not lost when all replays are")
    void allReplaysLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.COMMIT_FAILS)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTART)
                .then(StepKind.MAIN)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .reaches("1 start, 1 restart, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("E3: a writer that waits may be told of its commit after a later one")
    void answerAfterALaterCommit() throws Exception {
        scenario(Mode.LEGAL, 5)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.RPC)
                .then(StepKind.FINISH)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN_WITHOUT, 1, 0)
                .then(StepKind.STOP)
                .then(StepKind.WRITE, 4, 0)
                .reaches("1 start")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A7: a canceled job whose coordinator has not begun commits nothing any more")
    void canceledBeforeItBegan() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.RESCALE)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.FRESH_JOB)
                .then(StepKind.CLOSED, 5, 0)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.EXPIRE)
                .reaches("3 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T1, W1: a savepoint is found again whose replay was lost after its commit")
    void replayOfACommittedSavepointLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_SAVEPOINT)
                .then(StepKind.COMMIT_FAILS, 0, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.RESCALE)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .reaches("3 starts, 1 commit, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T3, A7: what another hand has committed is tagged before anything later is")
    void savepointCommittedByAnotherHand() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.BARRIER)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.MAIN)
                .then(StepKind.JOB_MANAGER_FREEZES)
                .then(StepKind.COMMIT_FAILS, 0, 3)
                .then(StepKind.DRAIN)
                .reaches("2 starts, 1 commit, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("W1: what was restored is not lost when its replay is and the writer fails then")
    void replayLostBeforeTheWriterFails() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.COMMIT_FAILS)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_FREEZES)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.RPC)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.FAIL_WRITER)
                .reaches("2 starts, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("W1: a replay whose end is lost is noticed before the next checkpoint is taken")
    void endOfReplayLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.FRESH_JOB, 1, 0)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_SAVEPOINT)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.LOSE_EVENT)
                .reaches("3 starts")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("W1: a savepoint under way holds what was restored, should its replay be lost")
    void replayLostUnderASavepoint() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.WRITE)
                .then(StepKind.RPC)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTART)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.RPC)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.MAIN)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.LOOP)
                .then(StepKind.DRAIN, 0, 2)
                .then(StepKind.RESTORE_SAVEPOINT)
                .reaches("2 starts, 1 restart, 2 failures")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: a file that a second rollback removes may have been compacted before")
    void twoRollbacksByNewSnapshots() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_DIES)
                .then(StepKind.COMPACT)
                .then(StepKind.ROLL_BACK_BELOW, 0, 1)
                .then(StepKind.ROLL_BACK_BELOW, 0, 1)
                .reaches("2 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: an anchor that has expired may have been replaced before")
    void anchorThatHasExpired() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.COMMIT_FAILS)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.TAG_FAILS)
                .then(StepKind.ROLL_BACK_BELOW)
                .then(StepKind.RESTART)
                .then(StepKind.DRAIN)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.EXPIRE)
                .reaches("2 starts, 1 restart, 1 commit, 2 faults, 2 failures")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T10: a savepoint that has its tag is not said to be without")
    void tagOfASavepointWhoseSnapshotHasExpired() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 1)
                .then(StepKind.EXPIRE)
                .reaches("2 starts, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: a rollback behind files that were compacted before is noticed")
    void rollbackBehindACompactedSnapshot() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.DRAIN_WITHOUT, 5, 0)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.COMPACT)
                .then(StepKind.RESCALE)
                .then(StepKind.ROLL_BACK_BELOW, 1, 3)
                .then(StepKind.RESTORE_OLD)
                .reaches("3 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A7: what a clone has committed in the name of our run is foreign")
    void committedByACloneInOurName() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.CLONE, 1, 0)
                .then(StepKind.DRAIN)
                .then(StepKind.SWITCH_JOBS)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .reaches("2 starts, 1 commit, 1 tag, 1 refusal")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: a snapshot of an abandoned course may be rolled back")
    void newestOwnSnapshotOfAnotherCourse() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.MAIN)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.MANY_COMMITS)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_OLD, 2, 0)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESCALE)
                .then(StepKind.ROLL_BACK_BELOW)
                .reaches("3 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: an empty savepoint is not committed again behind later files")
    void emptySavepointBehindLaterCommits() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .forceSnapshots()
                .then(StepKind.DRAIN)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.BARRIER)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 1)
                .reaches("2 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: files tell what has expired since the restore began")
    void commitOfACloneExpiresDuringTheRestore() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_OLD)
                .then(StepKind.CLONE, 1, 0)
                .then(StepKind.DRAIN, 0, 1)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.EXPIRE)
                .then(StepKind.SWITCH_JOBS)
                .then(StepKind.SWITCH_JOBS)
                .then(StepKind.SWITCH_JOBS)
                .then(StepKind.DRAIN)
                .reaches("3 starts, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R1: an empty replay does not pass for that of a new sink when there is state")
    void staleReplayIsNotThatOfANewSink() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.FAIL_WRITER)
                .then(StepKind.RESTART)
                .then(StepKind.COMMIT_FAILS)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTART)
                .then(StepKind.STALE_EVENT)
                .then(StepKind.FAIL_WRITER)
                .reaches("1 start, 1 restart, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A1: an abort deletes a tag whose creation failed after its file was there")
    void abortOfASavepointWhoseTagIsHalfCreated() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN)
                .then(StepKind.TAG_FAILS, 0, 3)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN_WITHOUT, 1, 0)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.RESTART)
                .reaches("1 start, 1 restart, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: a job recovered without replays does not say that all is committed")
    void nothingIsSettledWhenAllReplaysAreLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.COMMIT_FAILS)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_DIES)
                .then(StepKind.MAIN)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .reaches("2 starts, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: what a rollback by a new snapshot has kept is lost behind that")
    void rollbackBehindARollback() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 2)
                .reaches("3 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: the newest own snapshot is known after a rollback of others snapshots")
    void rollbackWhileAJobIsRunningForgetsNothing() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.CRASH, 6, 0)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_DIES)
                .then(StepKind.DRAIN)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.DRAIN)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.ROLL_BACK_BELOW)
                .then(StepKind.DRAIN)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 3)
                .reaches("4 starts, 2 commits, 1 fault")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: the table is read again when it was rolled back during the restore")
    void rollbackBetweenOpenAndRecovery() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.STOP)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.DRAIN)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.ROLL_BACK_BELOW, 1, 1)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.RESTORE_OLD)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.LOOP)
                .then(StepKind.ROLL_BACK_BELOW, 3, 0)
                .reaches("2 starts, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: a checkpoint without recovery keeps what the restored one knew")
    void progressIsKeptWhenAllReplaysAreLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.MAIN)
                .then(StepKind.WRITE)
                .then(StepKind.DRAIN)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.JOB_MANAGER_FREEZES)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.DRAIN)
                .then(StepKind.STOP)
                .reaches("2 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName(
            "A7: a frozen JobManager sees its successor's commit behind a rollback of the table")
    void foreignCommitBehindARollback() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.MANY_COMMITS)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN_WITHOUT)
                .then(StepKind.BARRIER)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.ROLL_BACK_BELOW)
                .then(StepKind.MAIN)
                .then(StepKind.JOB_MANAGER_FREEZES)
                .then(StepKind.DRAIN)
                .reaches("2 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R1, A4: a new sink whose empty replay was lost knows what it has committed")
    void newSinkWhoseReplayWasLost() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.SAVEPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.CLONE, 7, 0)
                .then(StepKind.NEW_SINK)
                .then(StepKind.MAIN)
                .then(StepKind.LOSE_EVENT)
                .then(StepKind.RPC)
                .then(StepKind.RPC)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN)
                .then(StepKind.RESCALE)
                .then(StepKind.DRAIN)
                .then(StepKind.ANOTHER_COMMITS)
                .then(StepKind.CLONE)
                .then(StepKind.EXPIRE)
                .reaches("5 starts, 1 commit, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: a snapshot that the look has seen may have expired before the base looks")
    void ownSnapshotExpiresDuringTheRecovery() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.CRASH, 1, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .reaches("2 starts, 1 commit, 1 fault")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: the same in a failover, where it is committed again")
    void ownSnapshotExpiresDuringAFailover() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESCALE, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.FAIL_WRITER, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .reaches("2 starts, 1 commit")
                .keepsItsPromises();
    }

    @Test
    @DisplayName(
            "T3: of an empty savepoint that was committed twice, either snapshot may be tagged")
    void emptySavepointThatWasCommittedTwice() throws Exception {
        scenario(Mode.LEGAL, 1)
                .maxPartBytes(32)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.TAG_FAILS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 1, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .reaches("4 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName(
            "T10: an empty savepoint is not looked for again by a clone that took it for committed")
    void emptySavepointCommittedBehindACloneThatLooked() throws Exception {
        scenario(Mode.LEGAL, 3)
                .forceSnapshots()
                .then(StepKind.COMMIT_FAILS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.FAIL_WRITER, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.CLONE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 1)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 2, 0)
                .reaches("2 starts, 1 restart, 2 commits, 2 faults, 2 failures")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: a checkpoint knows what a clone has committed in the name of its run")
    void rollbackBehindWhatACloneCommittedInOurName() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CRASH, 2, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.CLONE, 3, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 2)
                .reaches("4 starts, 2 commits, 1 tag, 1 fault")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: a savepoint that expires right after its tag is known to later checkpoints")
    void ownSavepointExpiresBeforeTheNextLook() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .maxPartBytes(59)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.BARRIER, 0, 0)
                .then(StepKind.BARRIER, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESCALE, 6, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 3, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 3)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .reaches("5 starts, 3 commits, 2 tags")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: without replays a checkpoint says no more of tags than the restored one")
    void tagDeletedBehindALostReplay() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 5, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.LOSE_EVENT, 0, 0)
                .then(StepKind.LOSE_EVENT, 0, 0)
                .then(StepKind.DELETE_TAG, 0, 0)
                .reaches("2 starts, 1 commit, 1 tag, 1 deleted tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("R2: a running job that is rolled back behind a savepoint forgets that snapshot")
    void rollbackBehindWhatWasJustTagged() throws Exception {
        scenario(Mode.LEGAL, 1)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CLONE, 7, 0)
                .reaches("3 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName(
            "A3: what a reset writer had written before a cloned savepoint is there in another form")
    void cloneOfASavepointWhoseJobWentBack() throws Exception {
        scenario(Mode.LEGAL, 3)
                .then(StepKind.DRAIN_WITHOUT, 4, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.FAIL_ALL, 0, 0)
                .then(StepKind.CLONE, 7, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .reaches("2 starts, 1 restart, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("A4: a failover behind a rollback does not bring a deleted tag back")
    void deletedTagBehindARollbackOfARunningJob() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 3)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .then(StepKind.DELETE_TAG, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 2, 0)
                .then(StepKind.FAIL_ALL, 0, 0)
                .reaches("2 starts, 2 commits, 2 tags, 1 deleted tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T3: of two snapshots with one identifier the newer one is to be tagged")
    void identifierThatIsUsedAgainBehindAnExpiredRollback() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 3)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.JOB_MANAGER_DIES, 0, 0)
                .reaches("4 starts, 3 commits, 2 tags, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    @Test
    @DisplayName("T10: an empty savepoint may be gone for one job and tagged by its clone")
    void goneWhileACloneCommitsItAgain() throws Exception {
        scenario(Mode.LEGAL, 1)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.DELETE_TAG, 0, 0)
                .then(StepKind.JOB_MANAGER_DIES, 0, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.CLONE, 1, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("4 starts, 2 commits, 2 tags, 1 deleted tag")
                .keepsItsPromises();
    }

    @Test
    @DisplayName(
            "A3, E2: an aborted savepoint that a finished writer left out is no cut of its own")
    void abortedSavepointThatAFinishedWriterLeftOut() throws Exception {
        scenario(Mode.LEGAL, 3)
                .then(StepKind.DRAIN_WITHOUT, 4, 0)
                .then(StepKind.RPC, 4, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.RPC, 1, 0)
                .then(StepKind.RPC, 7, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.FINISH, 1, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.MAIN, 0, 0)
                .then(StepKind.ABORT, 1, 0)
                .then(StepKind.BARRIER, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.NOTIFY, 7, 0)
                .reaches("1 start")
                .keepsItsPromises();
    }

    /** Seed 830201067. */
    @Test
    @DisplayName(
            "A7, known limit: what a clone commits and what expires between two looks is not seen")
    void aCloneCommitsAndItExpiresUnseen() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CLONE, 1, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.CRASH, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("3 starts, 1 commit, 1 tag, 1 fault")
                .keepsItsPromises();
    }

    /** Seed 830193188. */
    @Test
    @DisplayName("R2: behind a rollback of a running job files decide once no own snapshot is left")
    void filesDecideBehindARollbackOfARunningJob() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 1)
                .then(StepKind.DELETE_TAG, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .reaches("5 starts, 1 restart, 3 commits, 2 tags, 1 deleted tag, 1 refusal")
                .keepsItsPromises();
    }

    /** Seed 830242707. */
    @Test
    @DisplayName("R2: the same when the newest snapshot has what the oldest does not")
    void filesOfTheNewestSnapshotDecideAsWell() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.TAG_FAILS, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 1)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.EXPIRE, 5, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 1, 0)
                .reaches("2 starts, 2 commits, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 830260564. */
    @Test
    @DisplayName("A7: a repeated commit looks for foreign ones first")
    void aRepeatedCommitLooksForForeignOnes() throws Exception {
        scenario(Mode.LEGAL, 2)
                .forceSnapshots()
                .then(StepKind.DRAIN_WITHOUT, 5, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CLONE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.JOB_MANAGER_DIES, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 1)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("4 starts, 4 commits, 2 tags, 1 refusal")
                .keepsItsPromises();
    }

    /** Seed 830035410. */
    @Test
    @DisplayName("R2: an own snapshot that expires before the next look is known")
    void anOwnSnapshotExpiresBeforeTheNextLook() throws Exception {
        scenario(Mode.HOSTILE, 1)
                .maxPartBytes(28)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 0)
                .reaches("2 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    /** Seed 840058430. */
    @Test
    @DisplayName("L2: a savepoint that is lost to a clone, and completed by the job before it")
    void savepointCompletedForAClone() throws Exception {
        scenario(Mode.LEGAL, 3)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.TAG_FAILS, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 2, 0)
                .then(StepKind.CLONE, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .reaches("2 starts, 1 commit, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 840066235. */
    @Test
    @DisplayName("A1, L2: half of a tag goes along with a session that has failed")
    void halfATagIsTakenAlong() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.TAG_FAILS, 0, 1)
                .then(StepKind.DRAIN_WITHOUT, 7, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 3, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.ABORT, 0, 0)
                .then(StepKind.NEW_SINK, 0, 0)
                .reaches("2 starts, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 840158483. */
    @Test
    @DisplayName("T4, A4: the tag of an earlier snapshot, which its owner deletes")
    void tagOnAnEarlierSnapshotIsDeletedByItsOwner() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 1, 1)
                .then(StepKind.RESTORE_OLD, 3, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.DELETE_TAG, 0, 0)
                .reaches("2 starts, 2 commits, 1 tag, 1 deleted tag")
                .keepsItsPromises();
    }

    /** Seed 841127016. */
    @Test
    @DisplayName("L2, known limit: a clone takes a pending savepoint for one that never completed")
    void cloneWithdrawsAPendingSavepoint() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 5, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.CLONE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("2 starts, 1 commit, 1 tag, 1 deleted tag")
                .keepsItsPromises();
    }

    /** Seed 841057575. */
    @Test
    @DisplayName("A4, E2: the same for what earlier cuts had left to it")
    void leftToACutThatAFinishedWriterLeftOut() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.FRESH_JOB, 3, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.FINISH, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.WRITE, 6, 0)
                .then(StepKind.FAIL_WRITER, 5, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.ABORT, 0, 0)
                .then(StepKind.NOTIFY, 0, 3)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 1)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("2 starts, 1 commit, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 841002774. */
    @Test
    @DisplayName("L2: a tag whose deletion fails while the job ends is deleted by another attempt")
    void deletionThatFailsWhileTheJobEnds() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.FRESH_JOB, 7, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 6, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 1, 0)
                .then(StepKind.TAG_FAILS, 0, 0)
                .then(StepKind.ABORT, 0, 0)
                .then(StepKind.FRESH_JOB, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 1)
                .reaches("3 starts, 1 commit, 1 tag, 1 deleted tag, 1 fault")
                .keepsItsPromises();
    }

    /** Seed 842147523. */
    @Test
    @DisplayName(
            "L2: a successor that is canceled before the replays arrive withdraws by snapshots")
    void successorInAnotherJobManagerIsCanceled() throws Exception {
        scenario(Mode.LEGAL, 3)
                .then(StepKind.DRAIN_WITHOUT, 4, 0)
                .then(StepKind.RPC, 4, 0)
                .then(StepKind.RPC, 7, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.RPC, 7, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 1, 0)
                .then(StepKind.ABORT, 0, 0)
                .then(StepKind.JOB_MANAGER_DIES, 0, 0)
                .then(StepKind.NEW_SINK, 0, 0)
                .reaches("3 starts, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    /** Seed 842000793. */
    @Test
    @DisplayName("R2: what was committed before the checkpoint is not mixed with what was not")
    void committedBeforeARollbackOfARunningJob() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.MANY_COMMITS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESCALE, 7, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .reaches("3 starts, 1 commit, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 843043074. */
    @Test
    @DisplayName(
            "L2, known limit: a JobManager dies while its job ends, and nobody restores the job")
    void jobManagerDiesWhileTheJobEnds() throws Exception {
        scenario(Mode.LEGAL, 2)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 5, 0)
                .then(StepKind.ABORT, 0, 0)
                .then(StepKind.FRESH_JOB, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .reaches("3 starts, 1 commit, 1 tag")
                .keepsItsPromises();
    }

    /** Seeds 843326957 and 846565867. */
    @Test
    @DisplayName("L2: a session that could not open the table in time is opened for the job's end")
    void deadlineForClosingPasses() throws Exception {
        scenario(Mode.HOSTILE, 3)
                .forceSnapshots()
                .then(StepKind.TAG_FAILS, 0, 3)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 2, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.FRESH_JOB, 0, 0)
                .then(StepKind.DEADLINE, 7, 0)
                .reaches("2 starts, 1 restart, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 847424965. */
    @Test
    @DisplayName("R2: a rollback behind own snapshots that only files tell of is refused")
    void rolledBackBehindAnExpiredSnapshot() throws Exception {
        scenario(Mode.LEGAL, 1)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.FAIL_ALL, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK, 0, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .reaches("3 starts, 1 restart, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    /** Seed 846651415. */
    @Test
    @DisplayName("A7, known limit: what a clone recovers, and what expires then, is seen by nobody")
    void recoveryOfACloneExpiresUnseen() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.CLONE, 5, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .reaches("2 starts, 1 restart, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 850628238. */
    @Test
    @DisplayName(
            "A7: a clone refuses what the other job recovers in the name of a run that it does not know")
    void cloneRefusesWhatTheOtherRecovers() throws Exception {
        scenario(Mode.LEGAL, 1)
                .forceSnapshots()
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.MANY_COMMITS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.FAIL_ALL, 0, 0)
                .then(StepKind.CLONE, 7, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 1)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DELETE_TAG, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SWITCH_JOBS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("3 starts, 1 restart, 2 commits, 2 tags, 1 deleted tag, 1 refusal")
                .keepsItsPromises();
    }

    /** Seed 851592886. */
    @Test
    @DisplayName("A4: a failover behind a rollback recovers in the name of the checkpoint's run")
    void rolledBackInAFailoverKeepsTheRun() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.MANY_COMMITS, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.COMMIT_FAILS, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 3)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 3, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 0)
                .then(StepKind.FAIL_ALL, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 6, 0)
                .then(StepKind.RESTORE_OLD, 1, 0)
                .reaches("3 starts, 1 restart, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 860266589. */
    @Test
    @DisplayName("L2: a tag that the start could not delete is deleted when the job ends then")
    void deletionFailsAtTheStart() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.FRESH_JOB, 4, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 2, 0)
                .then(StepKind.FAIL_WRITER, 0, 0)
                .then(StepKind.RESTART, 0, 0)
                .then(StepKind.TAG_FAILS, 0, 0)
                .then(StepKind.JOB_MANAGER_DIES, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.FRESH_JOB, 0, 0)
                .reaches("4 starts, 1 commit, 1 tag, 1 fault, 1 failure")
                .keepsItsPromises();
    }

    /** Seed 860584726. */
    @Test
    @DisplayName("R2: a rollback behind a savepoint whose snapshot has expired is refused")
    void rolledBackBehindAnExpiredSavepoint() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.STOP, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 0, 0)
                .then(StepKind.ANOTHER_COMMITS, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 0, 3)
                .then(StepKind.DRAIN, 0, 0)
                .reaches("3 starts, 2 commits, 2 tags, 1 refusal")
                .keepsItsPromises();
    }

    /** Seed 861227069. */
    @Test
    @DisplayName("R2: a tag shows that an expired snapshot was older than the one rolled back to")
    void rolledBackToATagBehindAnExpiredSnapshot() throws Exception {
        scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.JOB_MANAGER_FREEZES, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_OLD, 3, 0)
                .then(StepKind.COMPACT, 0, 0)
                .then(StepKind.EXPIRE, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_AFTER_ROLLBACK, 7, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .reaches("5 starts, 2 commits, 1 tag")
                .keepsItsPromises();
    }

    /** Seed 851628834. */
    @Test
    @DisplayName("A4: a rollback between the start and the last replay is seen")
    void rolledBackBeforeTheReplays() throws Exception {
        scenario(Mode.LEGAL, 1)
                .withoutTags()
                .then(StepKind.FRESH_JOB, 4, 0)
                .then(StepKind.DRAIN_WITHOUT, 6, 0)
                .then(StepKind.WRITE, 0, 0)
                .then(StepKind.RPC, 6, 0)
                .then(StepKind.RPC, 1, 0)
                .then(StepKind.RPC, 1, 0)
                .then(StepKind.CHECKPOINT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 0, 1)
                .then(StepKind.WRITE, 3, 0)
                .then(StepKind.MANY_COMMITS, 0, 0)
                .then(StepKind.SAVEPOINT, 0, 0)
                .then(StepKind.DRAIN, 0, 0)
                .then(StepKind.RESTORE_SAVEPOINT, 7, 0)
                .then(StepKind.CLOSED, 3, 0)
                .then(StepKind.LOOP, 0, 0)
                .then(StepKind.ROLL_BACK_BELOW, 0, 3)
                .then(StepKind.DRAIN_WITHOUT, 0, 0)
                .then(StepKind.DRAIN_WITHOUT, 2, 0)
                .then(StepKind.RESTORE_OLD, 0, 0)
                .reaches("4 starts, 3 commits")
                .keepsItsPromises();
    }
}
