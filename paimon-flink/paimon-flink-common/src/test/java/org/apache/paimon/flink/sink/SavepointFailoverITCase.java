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

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.Hook;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.SavepointWitness;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Savepoints that abort, and jobs that fail between a savepoint, its commit and its tag. */
class SavepointFailoverITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    private SavepointWitness.Control witness;

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @BeforeEach
    void openWitness() {
        witness = SavepointWitness.Control.open();
    }

    @AfterEach
    void closeWitness() {
        witness.close();
    }

    // ------------------------------------------------------------------------
    //  A1, A2: aborts
    // ------------------------------------------------------------------------

    /**
     * Only the operator path may have more than one checkpoint at a time, and with one nothing
     * completes while a savepoint is pending but other savepoints.
     */
    @Test
    @DisplayName("A1: a savepoint that aborts after it was tagged loses its tag, not its files")
    void abortAfterALaterCheckpointDeletesTheTag() throws Exception {
        AppendTable table = table(CommitPath.OPERATOR);
        RunningJob job =
                start(
                        job(table)
                                .with(witness)
                                .set("execution.checkpointing.max-concurrent-checkpoints", "2"));

        scenario.emit(10);
        CompletableFuture<String> savepoint = job.savepointFuture();
        long savepointId = witness.awaitSavepoint(0);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags("savepoint-" + savepointId);
        assertThat(savepoint).isNotDone();
        witness.decline(savepointId);

        table.awaitTags();
        assertThatThrownBy(() -> savepoint.get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("planned decline");
        assertThat(scenario.tagEvents())
                .containsExactly(
                        "created savepoint-" + savepointId, "deleted savepoint-" + savepointId);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertTags();
        table.assertHolds(scenario.everything());
        assertThat(job.attempts()).containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "A1: a pending savepoint that a stop aborts is not tagged, its files are committed")
    void savepointAbortedByAStopIsNotTagged(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).with(witness));

        scenario.emit(10);
        CompletableFuture<String> savepoint = job.savepointFuture();
        long savepointId = witness.awaitSavepoint(0);
        scenario.emit(10);
        CompletableFuture<String> stop = job.stopFuture(false);
        long stopId = witness.awaitSavepoint(savepointId);
        witness.acknowledge(stopId);
        assertThat(Savepoint.at(stop.get(60, TimeUnit.SECONDS)).id()).isEqualTo(stopId);

        assertThatThrownBy(() -> savepoint.get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("suspending");
        table.assertTags("savepoint-" + stopId);
        table.assertTagHolds("savepoint-" + stopId, scenario.everything());
        assertThat(scenario.tagEvents()).containsExactly("created savepoint-" + stopId);
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A1: a savepoint that aborts before the next checkpoint is never tagged")
    void abortBeforeTheNextCheckpointLeavesNoTag(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).with(witness));

        scenario.emit(10);
        CompletableFuture<String> aborted = job.savepointFuture();
        long abortedId = witness.awaitSavepoint(0);
        scenario.emit(10);
        witness.decline(abortedId);
        assertThatThrownBy(() -> aborted.get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("planned decline");
        CompletableFuture<String> completed = job.savepointFuture();
        long completedId = witness.awaitSavepoint(abortedId);
        witness.acknowledge(completedId);
        completed.get(60, TimeUnit.SECONDS);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        table.awaitTags("savepoint-" + completedId);
        table.assertTagHolds("savepoint-" + completedId, scenario.before(completedId));
        assertThat(scenario.tagEvents()).containsExactly("created savepoint-" + completedId);
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A1, A4: an aborted savepoint stays untagged when its commit is made up for")
    void abortedSavepointStaysUntaggedAfterAFailover(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).with(witness));

        scenario.emit(10);
        CompletableFuture<String> aborted = job.savepointFuture();
        long abortedId = witness.awaitSavepoint(0);
        witness.decline(abortedId);
        assertThatThrownBy(() -> aborted.get(60, TimeUnit.SECONDS))
                .hasStackTraceContaining("planned decline");
        scenario.emit(10);
        scenario.beforeSnapshot.failNext(2);
        Savepoint checkpoint = job.checkpoint();
        job.awaitRestart(2);
        table.awaitCommitted(checkpoint.id());

        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertTags();
        assertThat(scenario.tagEvents()).isEmpty();
        table.assertHolds(scenario.everything());
    }

    // ------------------------------------------------------------------------
    //  A3: region failover
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    @DisplayName("A3: a savepoint whose writer fails before the next checkpoint is not tagged")
    void savepointOfAFailedRegionIsNotTagged(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        scenario.fail(0);
        if (path == CommitPath.COORDINATOR) {
            job.awaitAttempts(1, 0);
        } else {
            job.awaitAttempts(1, 1);
        }
        scenario.awaitEmitted();
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        table.assertTags();
        table.assertHolds(scenario.everything());

        scenario.emit(10);
        Savepoint next = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(next.tag());
        table.assertTagHolds(next.tag(), scenario.before(next.id()));
        assertThat(next.id()).isGreaterThan(savepoint.id());
        table.assertHolds(scenario.everything());
        if (path == CommitPath.COORDINATOR) {
            assertThat(job.attempts()).as("only that region").containsExactly(1, 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("A3: ... nor after a global failover replays what the other writers reported")
    void brokenSavepointStaysUntaggedAfterAGlobalFailover(boolean committedBefore)
            throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        scenario.fail(1);
        job.awaitAttempts(0, 1);
        scenario.awaitEmitted();
        (committedBefore ? scenario.afterSnapshot : scenario.beforeSnapshot).failNext(1);
        Savepoint checkpoint = job.checkpoint();
        job.awaitRestart(1);
        table.awaitCommitted(checkpoint.id());

        // The surviving writer's files are committed under the checkpoint's identifier.
        assertThat(table.identifiers()).doesNotContain(savepoint.id());
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertTags();
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A3: a savepoint after the region has restarted is tagged")
    void savepointRightAfterTheRestartIsTagged() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        scenario.emit(10);
        scenario.fail(0);
        job.awaitAttempts(1, 0);
        scenario.awaitEmitted();
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A3: regions fail one after the other while the sources go on")
    void regionsFailOneAfterTheOther() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(1);
        scenario.flow();
        for (int round = 1; round <= 3; round++) {
            Savepoint tagged = job.savepoint();
            job.checkpoint();
            scenario.awaitMore();
            Savepoint broken = job.savepoint();
            scenario.fail(0);
            job.awaitAttempts(round, round - 1);
            Savepoint checkpoint = job.checkpoint();
            scenario.fail(1);
            job.awaitAttempts(round, round);
            table.awaitCommitted(checkpoint.id());
            assertThat(table.identifiers()).doesNotContain(broken.id());
            table.assertTagHolds(tagged.tag(), scenario.before(tagged.id()));
            assertThat(table.tags()).hasSize(round).doesNotContain(broken.tag());
        }
        scenario.pause();
        table.awaitCommitted(job.checkpoint().id());
        table.assertHolds(scenario.everything());
    }

    // ------------------------------------------------------------------------
    //  A4, A7, A8: failures around the commit
    // ------------------------------------------------------------------------

    private enum Failure {
        BEFORE_THE_SNAPSHOT,
        AFTER_THE_SNAPSHOT,
        BEFORE_THE_TAG
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "A4, A8: a commit or tag that fails is made up for after the restart (coordinator)")
    void failureIsMadeUpForOnTheCoordinatorPath(Failure failure) throws Exception {
        failureIsMadeUpFor(CommitPath.COORDINATOR, failure);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4, A8: a commit or tag that fails is made up for after the restart (operator)")
    void failureIsMadeUpForOnTheOperatorPath(Failure failure) throws Exception {
        failureIsMadeUpFor(CommitPath.OPERATOR, failure);
    }

    private void failureIsMadeUpFor(CommitPath path, Failure failure) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        hook(failure).failNext(1);
        Savepoint checkpoint = job.checkpoint();
        job.awaitRestart(1);

        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.emit(10);
        Savepoint next = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(savepoint.tag(), next.tag());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    private Hook hook(Failure failure) {
        switch (failure) {
            case BEFORE_THE_SNAPSHOT:
                return scenario.beforeSnapshot;
            case AFTER_THE_SNAPSHOT:
                return scenario.afterSnapshot;
            default:
                return scenario.beforeTag;
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A8: a commit that fails again and again is made up for in the end")
    void manyFailuresInARow(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        scenario.beforeSnapshot.failNext(2);
        scenario.afterSnapshot.failNext(2);
        scenario.beforeTag.failNext(2);
        Savepoint checkpoint = job.checkpoint();

        table.awaitCommitted(checkpoint.id());
        job.awaitRunning();
        table.assertTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A7: no second committer while a commit hangs through a global failover")
    void hangingCommitHasNoSecondCommitterBesideIt() throws Exception {
        AppendTable table =
                table(CommitPath.COORDINATOR, "sink.coordinator-commit.close-timeout", "1 s");
        Scenario other = scenario(100, 2);
        AppendTable otherTable =
                AppendTable.create(directory, other, CommitPath.COORDINATOR.options());
        RunningJob job = start(job(table).write(other, otherTable.table()));
        scenario.emit(10);
        other.emit(10);
        Savepoint first = job.checkpoint();
        table.awaitCommitted(first.id());
        otherTable.awaitCommitted(first.id());

        // The commit of one table hangs, that of the other fails and restarts the job.
        scenario.emit(10);
        other.emit(10);
        Hook.Gate hanging = scenario.beforeSnapshot.hangNext();
        Hook.Gate failing = other.beforeSnapshot.holdNext();
        other.afterSnapshot.failNext(1);
        Savepoint second = job.checkpoint();
        hanging.awaitReached();
        failing.awaitReached();
        failing.open();
        job.awaitRestart(1);
        otherTable.awaitCommitted(second.id());
        assertThat(table.identifiers()).containsExactly(first.id());
        assertThat(scenario.beforeSnapshot.passages()).as("commits begun").isEqualTo(2);
        hanging.open();

        table.awaitCommitted(second.id());
        scenario.emit(10);
        other.emit(10);
        Savepoint third = job.checkpoint();
        table.awaitCommitted(third.id());
        otherTable.awaitCommitted(third.id());
        assertThat(table.identifiers()).containsExactly(first.id(), second.id(), third.id());
        table.assertHolds(scenario.everything());
        otherTable.assertHolds(other.everything());
        assertThat(Collections.max(job.attempts())).isEqualTo(1);
    }
}
