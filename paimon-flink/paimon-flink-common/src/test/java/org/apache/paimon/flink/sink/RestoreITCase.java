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

package org.apache.paimon.flink.sink;

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.CommitProperties;

import org.apache.flink.api.common.JobStatus;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** Restores into changed jobs, changed tables, and a second time. */
class RestoreITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    // ------------------------------------------------------------------------
    //  R1: jobs that change
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    @DisplayName("R1: a coordinator-path sink that is new in the restored job starts afresh")
    void sinkThatIsNewAtARestoreStartsAfresh(CommitPath pathOfTheOther) throws Exception {
        AppendTable first = table(pathOfTheOther, "sink.operator-uid.suffix", "first");
        RunningJob job = start(first);
        scenario.emit(10);
        Savepoint savepoint = job.stop();

        Scenario more = scenario(10, 4);
        AppendTable second = table(CommitPath.COORDINATOR, "sink.operator-uid.suffix", "second");
        RunningJob restored = start(job(first).write(more, second.table()).from(savepoint));
        scenario.emit(10);
        more.emit(10);
        Savepoint both = restored.savepoint();
        scenario.emit(10);
        more.emit(10);
        Savepoint last = restored.checkpoint();
        first.awaitCommitted(last.id());
        second.awaitCommitted(last.id());

        first.assertHolds(scenario.everything());
        second.assertHolds(more.everything());
        second.awaitTags(both.tag());
        second.assertTagHolds(both.tag(), more.before(both.id()));
        assertThat(second.commitUsers()).doesNotContainAnyElementsOf(first.commitUsers());
        assertThat(restored.attempts()).containsOnly(0);
    }

    @Test
    @DisplayName("R1: a new sink that fails before its first checkpoint starts afresh again")
    void newSinkThatFailsBeforeItsFirstCheckpoint() throws Exception {
        AppendTable first = table(CommitPath.COORDINATOR, "sink.operator-uid.suffix", "first");
        RunningJob job = start(first);
        scenario.emit(10);
        Savepoint savepoint = job.stop();

        Scenario more = scenario(10, 4);
        AppendTable second = table(CommitPath.COORDINATOR, "sink.operator-uid.suffix", "second");
        RunningJob restored = start(job(first).write(more, second.table()).from(savepoint));
        more.emit(10);
        more.fail(0);
        restored.awaitGraph(
                "a writer was restarted", graph -> restored.attemptsOf(graph).contains(1));
        restored.awaitRunning();
        // No checkpoint holds the lanes, so they are assigned anew, some time after the start: only
        // records that were not ordered before show that they have been.
        more.emit(10);
        Savepoint checkpoint = restored.checkpoint();
        second.awaitCommitted(checkpoint.id());

        second.assertHolds(more.everything());
    }

    @Test
    @DisplayName("R1: a sink whose uid changed starts with a commit user of its own")
    void sinkWhoseUidChangedStartsAfresh() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job =
                start(job().write(scenario, table.table("sink.operator-uid.suffix", "one")));
        scenario.emit(10);
        Savepoint savepoint = job.stop();

        RunningJob restored =
                start(
                        job().write(scenario, table.table("sink.operator-uid.suffix", "two"))
                                .from(savepoint)
                                .allowNonRestoredState());
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());

        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(2);
    }

    // ------------------------------------------------------------------------
    //  A7: two jobs from one savepoint
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: of two jobs from one savepoint in one process the second fails and says why")
    void secondJobFromOneSavepointFails() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        job.cancel();

        RunningJob first = start(job(table).from(savepoint));
        RunningJob second = submit(job(table).from(savepoint).withoutRestart());

        assertThat(second.failure())
                .contains("two jobs were started from one savepoint")
                .contains("sink.operator-uid.suffix");
        scenario.emit(10);
        table.awaitCommitted(first.checkpoint().id());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A7: a commit of the same user by another process fails the job, also restarted")
    void foreignCommitFailsTheJob() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).restarts(3));
        scenario.emit(10);
        Savepoint first = job.checkpoint();
        table.awaitCommitted(first.id());
        table.commitAs(table.latest().commitUser(), first.id(), 4_000_000_000L);

        scenario.emit(10);
        job.checkpointInVain();
        job.awaitStatus(JobStatus.FAILED);

        assertThat(job.failures())
                .contains("two jobs were started from one savepoint")
                .contains("another JobManager has taken over")
                .contains("sink.operator-uid.suffix")
                .contains("failed at 'open'");
        assertThat(table.identifiers()).containsExactly(first.id(), first.id());

        // The ways out: both jobs are stopped, and one starts from its newest checkpoint.
        RunningJob next = start(job(table).from(first));
        scenario.awaitEmitted();
        Savepoint again = next.checkpoint();
        table.awaitCommitted(again.id());
        Set<Long> expected = new TreeSet<>(scenario.everything());
        expected.add(4_000_000_000L);
        assertThat(new TreeSet<>(table.ids())).isEqualTo(expected);
        assertThat(table.ids()).hasSameSizeAs(expected);
    }

    // ------------------------------------------------------------------------
    //  A4, T10: history
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    @DisplayName("T10: 1,100 commits of others between a savepoint and its restore")
    void manyForeignCommitsBeforeTheRestore(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        job.cancel();
        table.addForeignSnapshots(1_100);

        start(job(table).from(savepoint));

        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: all own snapshots have expired, a compaction's is left, the tag is there")
    void ownSnapshotsHaveExpired(CommitPath path) throws Exception {
        historyGone(path, true);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: all own snapshots have expired, a compaction's is left, no tag is there")
    void ownSnapshotsAndTagsAreGone(CommitPath path) throws Exception {
        historyGone(path, false);
    }

    private void historyGone(CommitPath path, boolean tagged) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.stop();
        table.awaitTags(savepoint.tag());
        table.rewriteAllFiles();
        if (!tagged) {
            table.deleteTag(savepoint.tag());
        }
        table.expireAllButNewest();

        RunningJob restored = start(job(table).from(savepoint));
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());

        table.assertHolds(scenario.everything());
        if (tagged) {
            table.assertTags(savepoint.tag());
            table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        } else {
            table.assertTags();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: all own snapshots have expired, a foreign append is left")
    void ownSnapshotsHaveExpiredBehindAForeignAppend(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.stop();
        table.appendForeignRow(4_000_000_000L);
        table.expireAllButNewest();

        RunningJob restored = start(job(table).from(savepoint));
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());

        Set<Long> expected = new TreeSet<>(scenario.everything());
        expected.add(4_000_000_000L);
        table.assertHolds(expected);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: the snapshot of a retained checkpoint has expired, later ones are there")
    void snapshotOfARetainedCheckpointHasExpired(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint retained = job.checkpoint();
        table.awaitCommitted(retained.id());
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();
        table.expireAllButNewest();

        RunningJob restored = start(job(table).from(retained));
        scenario.awaitEmitted();
        table.awaitCommitted(restored.checkpoint().id());

        // Without a rollback the rows behind the checkpoint are there twice, its own once.
        assertThat(table.ids()).containsOnlyOnceElementsOf(scenario.before(retained.id()));
        assertThat(new TreeSet<>(table.ids())).isEqualTo(scenario.everything());
    }

    // ------------------------------------------------------------------------
    //  T5, A4: checkpoint ids that are used twice
    // ------------------------------------------------------------------------

    /** How the table gets back to a savepoint. */
    enum Rollback {
        NONE,
        ROLLBACK_TO,
        ROLLBACK_TO_AS_LATEST
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T5, A4: ids used twice, table rolled back or not (coordinator path)")
    void idsUsedTwiceOnTheCoordinatorPath(Rollback rollback) throws Exception {
        idsUsedTwice(CommitPath.COORDINATOR, rollback);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T5, A4: ids used twice, table rolled back or not (operator path)")
    void idsUsedTwiceOnTheOperatorPath(Rollback rollback) throws Exception {
        idsUsedTwice(CommitPath.OPERATOR, rollback);
    }

    private void idsUsedTwice(CommitPath path, Rollback rollback) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(5);
        Savepoint second = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(5);
        Savepoint fourth = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(second.tag(), fourth.tag());
        Set<Long> atFourth = scenario.before(fourth.id());
        job.cancel();

        if (rollback == Rollback.ROLLBACK_TO) {
            table.rollBackTo(second.tag());
        } else if (rollback == Rollback.ROLLBACK_TO_AS_LATEST) {
            table.rollBackToAsLatest(second.tag());
        }
        RunningJob restored = start(job(table).from(second));
        scenario.awaitEmitted();
        scenario.emit(5);
        restored.checkpoint();
        scenario.emit(5);
        Savepoint again = restored.savepoint();
        assertThat(again.id()).isEqualTo(fourth.id());
        Set<Long> atAgain = scenario.before(again.id());
        restored.cancel();

        // That savepoint is not in the table yet; snapshots with its id and tags are.
        RunningJob last = start(job(table).from(again));
        table.awaitNewestCommitted(again.id());
        scenario.emit(5);
        table.awaitCommitted(last.checkpoint().id());

        Snapshot snapshot = table.newestWithIdentifier(again.id());
        if (rollback == Rollback.ROLLBACK_TO) {
            table.awaitTags(second.tag(), again.tag());
            table.assertTagHolds(again.tag(), atAgain);
            table.assertHolds(scenario.everything());
        } else {
            String other = fourth.tag() + "-" + snapshot.id();
            table.awaitTags(second.tag(), fourth.tag(), other);
            table.assertTagHolds(fourth.tag(), atFourth);
            assertThat(new TreeSet<>(table.idsAtTag(other))).isEqualTo(atAgain);
            assertThat(new TreeSet<>(table.ids())).isEqualTo(scenario.everything());
            if (rollback == Rollback.ROLLBACK_TO_AS_LATEST) {
                assertThat(table.ids()).hasSameSizeAs(scenario.everything());
                assertThat(table.idsAtTag(other)).hasSameSizeAs(atAgain);
            }
        }
    }

    @Test
    @DisplayName(
            "A4: savepoint 2 restored when the job has gone on, without a rollback, still runs")
    void olderSavepointWithoutARollbackRuns() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        for (int i = 0; i < 5; i++) {
            scenario.emit(5);
            table.awaitCommitted(job.checkpoint().id());
        }
        job.cancel();

        RunningJob restored = start(job(table).from(savepoint).withoutRestart());
        scenario.awaitEmitted();
        for (int i = 0; i < 7; i++) {
            scenario.emit(5);
            Savepoint checkpoint = restored.checkpoint();
            table.awaitNewestCommitted(checkpoint.id());
        }

        assertThat(restored.status()).isEqualTo(JobStatus.RUNNING);
        assertThat(new TreeSet<>(table.ids())).isEqualTo(scenario.everything());
    }

    // ------------------------------------------------------------------------
    //  R2: tables rolled back too far
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("R2: a table rolled back further than the checkpoint is refused")
    void tableRolledBackTooFarIsRefused(boolean asLatest) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint early = job.savepoint();
        for (int i = 0; i < 3; i++) {
            scenario.emit(5);
            table.awaitCommitted(job.checkpoint().id());
        }
        table.awaitTags(early.tag());
        scenario.emit(5);
        Savepoint late = job.savepoint();
        job.cancel();
        if (asLatest) {
            table.rollBackToAsLatest(early.tag());
        } else {
            table.rollBackTo(early.tag());
        }
        long newest = table.latest().id();

        RunningJob refused = submit(job(table).from(late).withoutRestart());

        assertThat(refused.failure())
                .contains("the table was rolled back further than the checkpoint")
                .contains("Restore the savepoint that the table was rolled back to");
        assertThat(table.latest().id()).isEqualTo(newest);
        // The savepoint that it was rolled back to is welcome.
        RunningJob restored = start(job(table).from(early));
        scenario.awaitEmitted();
        table.awaitNewestCommitted(restored.checkpoint().id());
        assertThat(table.ids()).containsExactlyElementsOf(scenario.everything());
    }

    @Test
    @DisplayName("T10: the operator path copes with an anchor that is newer than the table")
    void operatorPathCopesWithAnAnchorNewerThanTheTable() throws Exception {
        AppendTable table = table(CommitPath.OPERATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint early = job.savepoint();
        for (int i = 0; i < 3; i++) {
            scenario.emit(5);
            table.awaitCommitted(job.checkpoint().id());
        }
        table.awaitTags(early.tag());
        scenario.emit(5);
        Savepoint late = job.savepoint();
        job.cancel();
        table.rollBackTo(early.tag());

        start(job(table).from(late));

        table.awaitTags(early.tag(), late.tag());
    }

    // ------------------------------------------------------------------------
    //  A3, A4: tags
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: a tag that its owner deleted does not come back after a failover")
    void deletedTagDoesNotComeBack(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(savepoint.tag());
        if (path == CommitPath.OPERATOR) {
            // There the state of the checkpoint that tagged it still asks for the tag.
            scenario.emit(5);
            table.awaitCommitted(job.checkpoint().id());
        }
        table.deleteTag(savepoint.tag());

        failJob(job);
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        table.assertTags();
        job.cancel();
        table.assertHolds(scenario.everything());
    }

    /** On the coordinator path a commit that fails takes the whole job down. */
    private void failJob(RunningJob job) throws Exception {
        scenario.beforeSnapshot.failNext(1);
        scenario.emit(5);
        job.checkpointInVain();
        job.awaitRestart(1);
        scenario.awaitEmitted();
    }

    @Test
    @DisplayName("A3: a savepoint that lost a writer is restored with all of its rows")
    void savepointThatLostAWriterIsRestoredWhole() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint first = job.checkpoint();
        table.awaitCommitted(first.id());
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.fail(0);
        job.awaitAttempts(1, 0);
        scenario.awaitEmitted();
        scenario.emit(5);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());

        // No snapshot has the savepoint's identifier without its content, and no tag.
        assertThat(table.identifiers()).containsExactly(first.id(), checkpoint.id());
        table.assertTags();
        table.assertHolds(scenario.everything());
        job.cancel();
        table.table().rollbackTo(table.newestWithIdentifier(first.id()).id());

        RunningJob restored = start(job(table).from(savepoint));
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.awaitEmitted();
        table.awaitCommitted(restored.checkpoint().id());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("L1: each snapshot names job and run; that of a savepoint its id and path")
    void snapshotsNameJobRunAndSavepoint() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());

        assertThat(table.snapshots())
                .allSatisfy(
                        snapshot -> {
                            assertThat(CommitProperties.jobId(snapshot))
                                    .isEqualTo(job.jobId().toHexString());
                            assertThat(CommitProperties.runId(snapshot)).isNotEmpty();
                        });
        assertThat(table.newestWithIdentifier(savepoint.id()).properties())
                .containsEntry(CommitProperties.CHECKPOINT_ID, String.valueOf(savepoint.id()))
                .containsEntry(CommitProperties.SAVEPOINT_PATH, savepoint.location());
        assertThat(table.latest().properties())
                .doesNotContainKeys(
                        CommitProperties.CHECKPOINT_ID, CommitProperties.SAVEPOINT_PATH);
        assertThat(table.table().tagManager().getOrThrow(savepoint.tag()).properties())
                .containsEntry(CommitProperties.JOB_ID, job.jobId().toHexString())
                .containsEntry(CommitProperties.SAVEPOINT_PATH, savepoint.location());
    }

    @Test
    @DisplayName("L1: the operator path names a savepoint's path as well")
    void operatorPathNamesTheSavepoint() throws Exception {
        AppendTable table = table(CommitPath.OPERATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());

        assertThat(table.table().tagManager().getOrThrow(savepoint.tag()).properties())
                .containsEntry(CommitProperties.SAVEPOINT_PATH, savepoint.location());
    }

    // ------------------------------------------------------------------------
    //  Tables that are gone
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A8: a table that was dropped is named as such")
    void droppedTableIsNamed() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).withoutRestart());
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        table.drop();
        scenario.emit(5);
        job.checkpointInVain();

        assertThat(job.failure()).contains("does not exist any more");
    }

    @Test
    @DisplayName("R2: a table that was dropped and created again is refused, by a restore as well")
    void tableThatWasCreatedAgainIsRefused() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        FileStoreTable before = table.table();
        RunningJob job = start(job(table).withoutRestart());
        scenario.emit(5);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        scenario.emit(5);
        Savepoint retained = job.checkpoint();
        table.awaitCommitted(retained.id());
        table.drop();
        table.createAgain(before);
        scenario.emit(5);
        job.checkpointInVain();

        assertThat(job.failure()).contains("dropped and created again");
        assertThat(table.snapshots()).isEmpty();
        RunningJob restored = submit(job(table).from(retained).withoutRestart());
        assertThat(restored.failure()).contains("dropped and created again");
        assertThat(table.snapshots()).isEmpty();
    }
}
