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
import org.apache.paimon.flink.sink.testutils.Hook;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;
import org.apache.paimon.tag.CommitProperties;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** The tags of savepoints of a job without failures, on both commit paths. */
class SavepointTagITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T1: an asynchronous savepoint is tagged when the next checkpoint completes")
    void asynchronousSavepointIsTaggedByTheNextCheckpoint(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.assertTags();
        Savepoint checkpoint = job.checkpoint();

        table.awaitTags(savepoint.tag());
        table.awaitCommitted(checkpoint.id());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T1: several savepoints in a row are all tagged, while the sources go on")
    void savepointsInARowAreAllTagged(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(1);

        scenario.flow();
        Savepoint first = job.savepoint();
        scenario.awaitMore();
        Savepoint second = job.savepoint();
        scenario.awaitMore();
        Savepoint third = job.savepoint();
        job.checkpoint();
        table.awaitTags(first.tag(), second.tag(), third.tag());
        scenario.awaitMore();
        Savepoint fourth = job.savepoint();
        scenario.pause();
        scenario.emit(1);
        Savepoint last = job.checkpoint();

        table.awaitTags(first.tag(), second.tag(), third.tag(), fourth.tag());
        table.awaitCommitted(last.id());
        for (Savepoint savepoint : new Savepoint[] {first, second, third, fourth}) {
            table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        }
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T3: nothing later is committed before the tag is there")
    void tagComesBeforeAnyLaterCommit(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        Hook.Gate gate = scenario.beforeTag.holdNext();

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        gate.awaitReached();
        assertThat(table.identifiers()).containsExactly(savepoint.id());
        gate.open();

        table.awaitCommitted(checkpoint.id());
        table.assertTags(savepoint.tag());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("T3: expiration with one retained snapshot does not overtake the tags")
    void expirationDoesNotOvertakeTheTag() throws Exception {
        // The coordinator path needs write-only = true, which leaves the expiration to others.
        AppendTable table =
                table(
                        CommitPath.OPERATOR,
                        "write-only",
                        "false",
                        "snapshot.num-retained.min",
                        "1",
                        "snapshot.num-retained.max",
                        "1",
                        "snapshot.time-retained",
                        "1 ms");
        RunningJob job = start(table);

        scenario.emit(10);
        Savepoint first = job.savepoint();
        scenario.emit(10);
        Savepoint second = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitTags(first.tag(), second.tag());
        table.awaitCommitted(checkpoint.id());
        scenario.emit(10);
        Savepoint last = job.checkpoint();
        table.awaitCommitted(last.id());

        assertThat(table.identifiers()).doesNotContain(first.id(), second.id());
        table.assertTagHolds(first.tag(), scenario.before(first.id()));
        table.assertTagHolds(second.tag(), scenario.before(second.id()));
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T5: a fresh job leaves the tag of an older job alone and takes another name")
    void foreignTagIsLeftAlone(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob oldJob = start(table);
        scenario.emit(10);
        Savepoint oldSavepoint = oldJob.savepoint();
        oldJob.checkpoint();
        table.awaitTags(oldSavepoint.tag());
        oldJob.cancel();
        Snapshot tagged = table.table().tagManager().getOrThrow(oldSavepoint.tag());

        Scenario fresh = scenario(100, 2);
        RunningJob job = start(job().write(fresh, table.table()));
        fresh.emit(10);
        Savepoint savepoint = job.savepoint();
        assertThat(savepoint.id()).isEqualTo(oldSavepoint.id());
        job.checkpoint();

        table.awaitCommittedByAnother(tagged.commitUser(), savepoint.id());
        String user = table.latest().commitUser();
        Snapshot ofSavepoint =
                table.snapshots().stream()
                        .filter(snapshot -> snapshot.commitUser().equals(user))
                        .filter(snapshot -> snapshot.commitIdentifier() == savepoint.id())
                        .findFirst()
                        .get();
        String secondName = savepoint.tag() + "-" + ofSavepoint.id();
        table.awaitTags(savepoint.tag(), secondName);
        assertThat(table.table().tagManager().getOrThrow(savepoint.tag()).commitUser())
                .isEqualTo(tagged.commitUser())
                .isNotEqualTo(user);
        table.assertTagHolds(oldSavepoint.tag(), scenario.before(oldSavepoint.id()));
        Set<Long> both = new TreeSet<>(scenario.everything());
        both.addAll(fresh.before(savepoint.id()));
        table.assertTagHolds(secondName, both);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T6: a tag is kept for tag.default-time-retained and is told to the callbacks")
    void tagIsToldAndKeptForItsTime(CommitPath path) throws Exception {
        AppendTable table = table(path, "tag.default-time-retained", "7 d");
        RunningJob job = start(table);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        job.checkpoint();
        table.awaitTags(savepoint.tag());
        scenario.emit(10);
        Savepoint next = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        assertThat(scenario.tagEvents())
                .containsExactly("created " + savepoint.tag(), "created " + next.tag());
        assertThat(table.table().tagManager().getOrThrow(savepoint.tag()).getTagTimeRetained())
                .isEqualTo(Duration.ofDays(7));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T6, A8: a tag callback that fails is called again after the restart")
    void failedCallbackIsCalledAgain(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.tagCallback.failNext(1);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        job.awaitRestart(1);
        table.awaitCommitted(checkpoint.id());

        assertThat(scenario.tagEvents())
                .containsExactly("created " + savepoint.tag(), "created " + savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertTags(savepoint.tag());
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T7: with auto-tag off there is no tag and no trace of savepoints")
    void withoutAutoTagNothingChanges(CommitPath path) throws Exception {
        AppendTable table = table(path, "sink.savepoint.auto-tag", "false");
        RunningJob job = start(table);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        scenario.emit(10);
        Savepoint stop = job.stop();

        table.awaitCommitted(stop.id());
        assertThat(table.identifiers()).containsExactly(savepoint.id(), checkpoint.id(), stop.id());
        table.assertTags();
        assertThat(scenario.beforeTag.passages()).isZero();
        assertThat(table.snapshots())
                .allSatisfy(
                        snapshot ->
                                assertThat(
                                                snapshot.properties() == null
                                                        || !snapshot.properties()
                                                                .containsKey(
                                                                        CommitProperties
                                                                                .CHECKPOINT_ID))
                                        .isTrue());
        table.assertHolds(scenario.everything());
    }

    /** A writer that has written reports a bucket without files once more; that is something. */
    @ParameterizedTest
    @EnumSource
    @DisplayName("T8: a savepoint for which no writer has anything to commit gets no tag")
    void savepointWithoutDataGetsNoTag(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);

        Savepoint first = job.savepoint();
        Savepoint second = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());

        assertThat(first.id()).isLessThan(second.id());
        table.assertTags();
        assertThat(table.identifiers()).containsExactly(checkpoint.id());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("T8: with commit.force-create-snapshot a savepoint without data gets both")
    void savepointWithoutDataIsTaggedWhenSnapshotsAreForced() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR, "commit.force-create-snapshot", "true");
        RunningJob job = start(table);

        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        Savepoint savepoint = job.savepoint();
        Savepoint checkpoint = job.checkpoint();

        table.awaitTags(savepoint.tag());
        table.awaitCommitted(checkpoint.id());
        table.assertTagHolds(savepoint.tag(), scenario.everything());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A5: a restore from a savepoint commits and tags it")
    void restoreFromASavepointCommitsAndTagsIt(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        job.cancel();
        table.assertTags();

        RunningJob restored = start(job(table).from(savepoint));
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A5, T4: rolled back to its tag, a restore from the savepoint changes neither")
    void restoreFromATaggedSavepointKeepsSnapshotAndTag(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(savepoint.tag());
        job.cancel();
        Snapshot tagged = table.table().tagManager().getOrThrow(savepoint.tag());
        table.table().rollbackTo(savepoint.tag());

        RunningJob restored = start(job(table).from(savepoint));
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());

        table.assertTags(savepoint.tag());
        assertThat(table.table().tagManager().getOrThrow(savepoint.tag()).toJson())
                .isEqualTo(tagged.toJson());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }
}
