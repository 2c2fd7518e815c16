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

import org.apache.paimon.flink.sink.coordinator.commit.UnconfirmedSavepoints;
import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.SavepointWitness;
import org.apache.paimon.flink.sink.testutils.TestCluster;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * L2: savepoints that never complete, and savepoints that completed and are moved, claimed or
 * deleted.
 *
 * <p>With one concurrent checkpoint, Flink starts no checkpoint while a savepoint is pending, and a
 * stop aborts it. So the job never tags a savepoint that is pending. Tests that need such a tag
 * hide the metadata of a completed savepoint, before the checkpoint that tags it is taken.
 */
class UnfinishedSavepointITCase extends JobITCase {

    private static final Duration DEADLINE = Duration.ofSeconds(60);

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster().withLeadershipControl();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    // ------------------------------------------------------------------------
    //  Pending when the job ends
    // ------------------------------------------------------------------------

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("L2: a savepoint that is pending when its job is cancelled gets no tag, ever")
    void cancelledWhilePending(boolean restoreLaterSavepoint) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        try (SavepointWitness.Control witness = SavepointWitness.Control.open()) {
            RunningJob job = start(job(table).with(witness));
            scenario.emit(10);
            Savepoint checkpoint = job.checkpoint();
            table.awaitCommitted(checkpoint.id());
            scenario.emit(10);
            CompletableFuture<String> pending = job.savepointFuture();
            long pendingId = witness.awaitSavepoint(0);
            scenario.emit(10);
            CompletableFuture<String> second = job.savepointFuture();
            witness.acknowledge(witness.awaitSavepoint(pendingId));
            Savepoint completed =
                    Savepoint.at(second.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
            assertThat(pending).isNotDone();
            Path unfinished = job.unfinishedSavepoint();

            job.cancel();
            RunningJob.awaitNoCommitter();
            assertThatThrownBy(() -> pending.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS))
                    .isInstanceOf(ExecutionException.class);
            table.assertTags();
            assertThat(table.identifiers()).containsExactly(checkpoint.id());

            if (restoreLaterSavepoint) {
                // A JobManager that is cancelled deletes the directory; one that dies leaves it.
                Awaitility.await("Flink has deleted the directory of the savepoint")
                        .atMost(DEADLINE)
                        .until(() -> !Files.exists(unfinished));
                Files.createDirectory(unfinished);
                RunningJob restored = start(job(table).from(completed));
                table.awaitTags(completed.tag());
                table.assertTagHolds(completed.tag(), scenario.before(completed.id()));
                goesOn(restored, table);
                assertThat(table.identifiers()).contains(pendingId);
                table.assertTags(completed.tag());
            } else {
                goesOn(start(job(table).from(checkpoint)), table);
                table.assertTags();
            }
            assertThat(scenario.tagEvents()).noneMatch(e -> e.endsWith("savepoint-" + pendingId));
        }
    }

    // ------------------------------------------------------------------------
    //  Tagged, and not known to be complete
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("L2: a cancelled job deletes the tag of a savepoint without metadata")
    void cancelledBeforeItCompleted() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint complete = job.savepoint();
        isTaggedByACheckpoint(complete, job, table);
        scenario.emit(10);
        Savepoint unfinished = job.savepoint();
        unfinished.hideMetadata();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(complete.tag(), unfinished.tag());
        job.cancel();
        RunningJob.awaitNoCommitter();

        table.assertTags(complete.tag());
        table.assertTagHolds(complete.tag(), scenario.before(complete.id()));
        assertThat(scenario.tagEvents()).endsWith("deleted " + unfinished.tag());
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("L2: the checkpoint that tagged it is restored: the writers' state knows the path")
    void taggingCheckpointIsRestored(boolean moved) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        Savepoint checkpoint = isTaggedByACheckpoint(savepoint, job, table);

        keepsItsTagOnlyIfMoved(moved, savepoint, job, checkpoint, table);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("L2: a later checkpoint is restored: the coordinator's state knows the path")
    void laterCheckpointIsRestored(boolean moved) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        savepoint.hideMetadata();
        isTaggedByACheckpoint(savepoint, job, table);
        scenario.emit(10);
        Savepoint later = job.checkpoint();
        table.awaitCommitted(later.id());
        savepoint.putMetadataBack();

        keepsItsTagOnlyIfMoved(moved, savepoint, job, later, table);
    }

    private void keepsItsTagOnlyIfMoved(
            boolean moved,
            Savepoint savepoint,
            RunningJob job,
            Savepoint checkpoint,
            AppendTable table)
            throws Exception {
        job.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags(savepoint.tag());
        if (moved) {
            savepoint.move();
        } else {
            savepoint.hideMetadata();
        }
        try (CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class)) {
            RunningJob restored = start(job(table).from(checkpoint));
            goesOn(restored, table);
            restored.cancel();
            RunningJob.awaitNoCommitter();

            assertThat(log.messages())
                    .anyMatch(
                            line ->
                                    line.contains(
                                            moved
                                                    ? "it is taken to have been moved"
                                                    : "withdrawn, as it never completed"));
        }
        if (moved) {
            table.assertTags(savepoint.tag());
            table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        } else {
            table.assertTags();
        }
    }

    // ------------------------------------------------------------------------
    //  Moved, claimed, deleted
    // ------------------------------------------------------------------------

    @ParameterizedTest(name = "tagged before: {0}, its directory is left: {1}")
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    @DisplayName("L2: a savepoint that was moved is restored from its new place with its tag")
    void restoredFromItsNewPlace(boolean taggedBefore, boolean directoryLeft) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint;
        if (taggedBefore) {
            savepoint = job.stop();
        } else {
            savepoint = job.savepoint();
            job.cancel();
        }
        RunningJob.awaitNoCommitter();
        table.assertTags(taggedBefore ? new String[] {savepoint.tag()} : new String[0]);

        Savepoint moved = savepoint.move();
        if (directoryLeft) {
            savepoint.createDirectory();
        }
        RunningJob restored = start(job(table).from(moved));
        Savepoint checkpoint = goesOn(restored, table);
        restored.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags(savepoint.tag());
        RunningJob again = start(job(table).from(checkpoint));
        goesOn(again, table);

        table.assertTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        assertThat(scenario.tagEvents()).doesNotContain("deleted " + savepoint.tag());
    }

    @Test
    @DisplayName("L2: a savepoint that was moved before a later one is restored gets its tag")
    void movedBeforeALaterSavepointIsRestored() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint moved = job.savepoint();
        moved.move();
        scenario.emit(10);
        Savepoint later = job.savepoint();
        job.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags();

        try (CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class)) {
            RunningJob restored = start(job(table).from(later));
            table.awaitTags(moved.tag(), later.tag());
            assertThat(log.messages())
                    .anyMatch(
                            line ->
                                    line.startsWith("WARN Savepoint " + moved.id() + " is not at")
                                            && line.contains("taken to have been moved"));
            goesOn(restored, table);
            restored.cancel();
            RunningJob.awaitNoCommitter();
        }
        table.assertTags(moved.tag(), later.tag());
        table.assertTagHolds(moved.tag(), scenario.before(moved.id()));
        table.assertTagHolds(later.tag(), scenario.before(later.id()));
    }

    @Test
    @DisplayName("L2: a savepoint that was claimed, and then deleted by Flink, keeps its tag")
    void claimedAndDeleted() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint tagged = job.savepoint();
        isTaggedByACheckpoint(tagged, job, table);
        scenario.emit(10);
        Savepoint claimed = job.savepoint();
        job.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags(tagged.tag());

        RunningJob restored = start(job(table).from(claimed).claim());
        table.awaitTags(tagged.tag(), claimed.tag());
        Savepoint last = claimed;
        for (int i = 0; i < TestCluster.RETAINED_CHECKPOINTS; i++) {
            last = goesOn(restored, table);
        }
        Awaitility.await("Flink has deleted the savepoint that checkpoints have subsumed")
                .atMost(DEADLINE)
                .until(() -> !claimed.exists());
        last = goesOn(restored, table);
        restored.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags(tagged.tag(), claimed.tag());
        goesOn(start(job(table).from(last)), table);

        table.assertTags(tagged.tag(), claimed.tag());
        table.assertTagHolds(tagged.tag(), scenario.before(tagged.id()));
        table.assertTagHolds(claimed.tag(), scenario.before(claimed.id()));
        assertThat(scenario.tagEvents())
                .doesNotContain("deleted " + tagged.tag(), "deleted " + claimed.tag());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("L2: a savepoint that is deleted after it was confirmed keeps its tag")
    void deletedAfterItWasConfirmed(boolean onlyItsMetadata) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        isTaggedByACheckpoint(savepoint, job, table);
        // The coordinator answers a checkpoint behind its look at the savepoint.
        goesOn(job, table);
        if (onlyItsMetadata) {
            savepoint.hideMetadata();
        } else {
            savepoint.delete();
        }
        goesOn(job, table);
        job.changeJobMaster();
        scenario.awaitEmitted();
        Savepoint last = goesOn(job, table);
        job.cancel();
        RunningJob.awaitNoCommitter();
        table.assertTags(savepoint.tag());
        RunningJob restored = start(job(table).from(last));
        goesOn(restored, table);
        restored.cancel();
        RunningJob.awaitNoCommitter();

        table.assertTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        assertThat(scenario.tagEvents()).doesNotContain("deleted " + savepoint.tag());
    }

    // ------------------------------------------------------------------------

    private Savepoint isTaggedByACheckpoint(Savepoint savepoint, RunningJob job, AppendTable table)
            throws Exception {
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        return checkpoint;
    }

    /** The job commits one more checkpoint, and every record is in the table once. */
    private Savepoint goesOn(RunningJob job, AppendTable table) throws Exception {
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        table.assertHolds(scenario.everything());
        return checkpoint;
    }
}
