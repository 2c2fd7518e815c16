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

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.StoreCommitter;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.SavepointTagException;
import org.apache.paimon.tag.SavepointTagStatistics;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.tag.testutils.CountingFileIO.Call;
import org.apache.paimon.tag.testutils.RecordingTagCallback;

import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The committer of both paths, with whole batches as the operator path hands them over. */
@SuppressWarnings("try") // the base's close() may be interrupted
class SavepointTaggingCommitterTest {

    private static final String USER = "job-with-uuid-12345678";

    @TempDir private File directory;

    private final HookedCommitter.Hooks hooks = new HookedCommitter.Hooks();
    private final RecordingTagCallback.Factory callbacks = new RecordingTagCallback.Factory();
    private final Map<String, String> options = new HashMap<>();
    private MemoryBackendStateStore stateStore = new MemoryBackendStateStore();
    private AppendTableFixture fixture;

    /** What the last checkpoint holds of the committer; null before the first. */
    private Map<String, byte[]> checkpoint;

    private SavepointTaggingCommitter committer;

    /** Identifies this process until {@link #restartElsewhere}. */
    private CommitRun run = CommitRun.begin("job-1");

    private TaggedSavepoints tagged = new TaggedSavepoints();

    private void start() throws Exception {
        fixture = AppendTableFixture.create(directory, options);
        open(SavepointTaggingCommitterFactory.NO_CHECKPOINT);
    }

    /** Takes a checkpoint, before which everything up to an identifier was committed. */
    private void checkpoint(long checkpointId, long committedUpTo) throws Exception {
        committer.updateProgress(checkpointId, committedUpTo);
        committer.snapshotState();
        checkpoint = stateStore.getSerializedStates();
    }

    /** A failover within one process, from the last checkpoint. */
    private void restart(long checkpointId) throws Exception {
        hooks.clear();
        committer.close();
        stateStore =
                checkpoint == null
                        ? new MemoryBackendStateStore()
                        : new MemoryBackendStateStore(checkpoint);
        open(checkpointId);
    }

    /** A restore in another process, from the last checkpoint. */
    private void restartElsewhere(long checkpointId) throws Exception {
        run = CommitRun.begin("job-2");
        tagged = new TaggedSavepoints();
        restart(checkpointId);
    }

    private void open(long restoredCheckpointId) throws Exception {
        FileStoreTable table = fixture.table();
        committer =
                new SavepointTaggingCommitterFactory(
                                table::snapshotManager,
                                table::tagManager,
                                () -> table.store().newTagDeletion(),
                                callbacks::get,
                                null,
                                true)
                        .over(
                                new HookedCommitter(storeCommitter(table), hooks),
                                USER,
                                stateStore,
                                restoredCheckpointId,
                                run,
                                tagged,
                                new SavepointTagStatistics(),
                                SavepointTaggingCommitter.BeforeCommit.mark());
    }

    private StoreCommitter storeCommitter(FileStoreTable table) {
        return new StoreCommitter(
                table,
                table.newCommit(USER).ignoreEmptyCommit(false),
                Committer.createContext(
                        USER, new UnregisteredMetricsGroup(), true, false, stateStore, 1, 0));
    }

    @AfterEach
    void close() throws Exception {
        if (committer != null) {
            committer.close();
        }
    }

    // ------------------------------------------------------------------------
    //  T3
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T3: of a batch with a savepoint and a checkpoint, the tag survives expiration")
    void tagSurvivesExpirationOfTheBatch() throws Exception {
        retainOneSnapshot();
        start();
        committer.savepoint(1);
        committer.commit(Arrays.asList(committable(1, 1, 2), committable(2, 3)));

        assertThat(identifiers()).containsExactly(2L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("T3: (the naive way) tagging after the whole batch finds the snapshot expired")
    void taggingAfterTheBatchLosesTheTag() throws Exception {
        retainOneSnapshot();
        start();
        try (StoreCommitter plain = storeCommitter(fixture.table())) {
            plain.commit(Arrays.asList(committable(1, 1, 2), committable(2, 3)));
        }

        assertThat(identifiers()).containsExactly(2L);
    }

    @Test
    @DisplayName("T3: each piece ends with a savepoint, and its tag is there before the next piece")
    void commitsInPieces() throws Exception {
        start();
        hooks.before(
                identifier ->
                        assertThat(fixture.tags().contains("savepoint-2"))
                                .isEqualTo(identifier > 2));
        committer.savepoint(2);
        committer.savepoint(4);
        committer.commit(
                Arrays.asList(
                        committable(1, 1),
                        committable(2, 2),
                        committable(3, 3),
                        committable(4, 4),
                        committable(5, 5)));

        assertThat(identifiers()).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4");
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
        assertThat(fixture.idsAtTag("savepoint-4")).containsExactly(1, 2, 3, 4);
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("T7: without a savepoint a batch is committed at once, and no tag is looked at")
    void withoutSavepoints() throws Exception {
        start();
        fixture.fileIO().reset();
        committer.commit(Arrays.asList(committable(1, 1), committable(2, 2)));

        assertThat(hooks.asked()).containsExactly(1L, 2L);
        assertThat(fixture.fileIO().log()).doesNotContain("/tag");
    }

    // ------------------------------------------------------------------------
    //  T6, T8, A1
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T6: a callback that failed is told again by the restored committer, a fresh one")
    void failedCallbackIsToldAgain() throws Exception {
        start();
        checkpoint(0, -1);
        callbacks.failNext(1);
        committer.savepoint(1);
        ManifestCommittable savepoint = committable(1, 1);
        assertThatThrownBy(() -> committer.commit(Collections.singletonList(savepoint)))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("savepoint-1");
        assertThat(fixture.tags()).containsExactly("savepoint-1");

        restart(0);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1@1 #1", "created savepoint-1@1 #2");
        assertThat(callbacks.open()).isZero();
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("A1: a tag whose callback failed goes when its savepoint is aborted meanwhile")
    void abortAfterAFailedCallback() throws Exception {
        start();
        checkpoint(0, -1);
        callbacks.failNext(1);
        committer.savepoint(1);
        ManifestCommittable savepoint = committable(1, 1);
        assertThatThrownBy(() -> committer.commit(Collections.singletonList(savepoint)))
                .isInstanceOf(SavepointTagException.class);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        restart(0);
        committer.abort(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("T6: each creation and each deletion gets a fresh callback, which is closed")
    void freshCallbacks() throws Exception {
        start();
        committer.savepoint(1);
        committer.savepoint(2);
        committer.commit(Arrays.asList(committable(1, 1), committable(2, 2)));
        committer.abort(1);

        assertThat(callbacks.journal())
                .containsExactly(
                        "created savepoint-1@1 #1",
                        "created savepoint-2@2 #2",
                        "deleted savepoint-1 #3");
        assertThat(callbacks.open()).isZero();
        assertThat(fixture.tags()).containsExactly("savepoint-2");
    }

    @Test
    @DisplayName("T8: a savepoint without a committable is given up without a tag")
    void givesEmptySavepointsUp() throws Exception {
        start();
        committer.savepoint(1);
        committer.savepoint(3);
        committer.commit(Collections.singletonList(committable(2, 2)));
        committer.dropSavepointsWithoutData(2);

        assertThat(committer.pendingSavepoints()).containsExactly(3L);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A1: an aborted savepoint is committed without a tag")
    void abortBeforeTheCommit() throws Exception {
        start();
        committer.savepoint(1);
        committer.abort(1);
        committer.commit(Arrays.asList(committable(1, 1), committable(2, 2)));

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.tags()).isEmpty();
        assertThat(callbacks.journal()).isEmpty();
    }

    @Test
    @DisplayName("L2, T5: a withdrawn savepoint loses its tag, one at another path keeps it")
    void withdrawsTheSavepointAtThePath() throws Exception {
        start();
        checkpoint(1, -1);
        committer.savepoint(1, "s3://bucket/savepoint-a");
        committer.commit(Collections.singletonList(committable(1, 1)));
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        restartElsewhere(1);

        committer.withdraw(1, "s3://bucket/savepoint-b");
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        committer.withdraw(1, "s3://bucket/savepoint-a");
        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("L2: a withdrawn savepoint is pending no longer")
    void withdrawnIsNotPending() throws Exception {
        start();
        committer.savepoint(1);
        committer.commit(Collections.singletonList(committable(1, 1)));
        committer.savepoint(1);
        committer.withdraw(1, fixture.snapshots().get(0));

        assertThat(committer.pendingSavepoints()).isEmpty();
        assertThat(committer.snapshotWithTag(1)).isEmpty();
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("L1: a savepoint that is told again without its path keeps the path")
    void keepsTheKnownPath() throws Exception {
        start();
        committer.savepoint(1, "s3://bucket/savepoint-a");
        committer.savepoint(1);
        committer.savepoint(2);
        committer.savepoint(2, "s3://bucket/savepoint-b");
        committer.commit(Arrays.asList(committable(1, 1), committable(2, 2)));

        assertThat(fixture.snapshots().get(0).properties())
                .containsEntry("flink.savepoint.path", "s3://bucket/savepoint-a");
        assertThat(fixture.snapshots().get(1).properties())
                .containsEntry("flink.savepoint.path", "s3://bucket/savepoint-b");
    }

    @Test
    @DisplayName("A1: an aborted savepoint that had a tag is known no longer")
    void forgetsTheTagOfAnAbortedSavepoint() throws Exception {
        start();
        committer.savepoint(1);
        committer.commit(Collections.singletonList(committable(1, 1)));
        assertThat(committer.snapshotWithTag(1)).contains(fixture.snapshots().get(0));
        committer.abort(1);

        assertThat(committer.snapshotWithTag(1)).isEmpty();
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("T9: what does not concern savepoints is the wrapped committer's business")
    void passesEverythingElseOn() throws Exception {
        options.put("commit.force-create-snapshot", "true");
        start();
        ManifestCommittable given = committable(4, 4);
        Committable file = new Committable(5, fixture.write(USER, 5, 5).get(0));

        assertThat(committer.forceCreatingSnapshot()).isTrue();
        assertThat(committer.combine(4, 6, given, Collections.singletonList(file))).isSameAs(given);
        assertThat(given.fileCommittables()).hasSize(2);
        assertThat(committer.combine(5, 6, Collections.singletonList(file)).identifier())
                .isEqualTo(5);
        assertThat(committer.groupByCheckpoint(Collections.singletonList(file)))
                .containsOnlyKeys(5L);
        committer.snapshotState();
        assertThat(hooks.stateSnapshots()).isEqualTo(1);
        committer.close();
        assertThat(hooks.closed()).isEqualTo(1);
    }

    @Test
    @DisplayName("T9: without the option of the table no snapshot is forced")
    void forcesNoSnapshot() throws Exception {
        start();

        assertThat(committer.forceCreatingSnapshot()).isFalse();
    }

    // ------------------------------------------------------------------------
    //  Recovery
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A5: a restored batch in pieces tells how many were not committed before")
    void countsWhatItCommits() throws Exception {
        start();
        committer.savepoint(1);
        List<ManifestCommittable> batch =
                Arrays.asList(committable(1, 1), committable(2, 2), committable(3, 3));

        assertThat(committer.filterAndCommit(batch, true, false)).isEqualTo(3);
        restart(SavepointTaggingCommitterFactory.NO_CHECKPOINT);
        assertThat(committer.filterAndCommit(batch, true, false)).isZero();
        assertThat(identifiers()).containsExactly(1L, 2L, 3L);
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("T10: what others committed before a savepoint is not read to find its snapshot")
    void anchorsRightBeforeTheCommit() throws Exception {
        start();
        for (int i = 0; i < 60; i++) {
            fixture.commit("another-job", i, i);
        }
        ManifestCommittable savepoint = committable(1, 1_000);
        committer.savepoint(1);
        fixture.fileIO().reset();
        committer.commit(Collections.singletonList(savepoint));

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.fileIO().count(Call.OPEN)).isLessThan(50);
    }

    @Test
    @DisplayName("T10: 1,100 commits of others before the restore do not hide what it commits")
    void manyForeignCommitsBeforeTheRestore() throws Exception {
        start();
        fixture.commit("another-job", 1, 100);
        checkpoint(1, -1);
        ManifestCommittable savepoint = committable(1, 1);
        fixture.manySnapshots("another-job", 1_100);
        restartElsewhere(1);
        committer.savepoint(1);

        assertThat(committer.filterAndCommit(Collections.singletonList(savepoint), true, false))
                .isEqualTo(1);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.tagManager().getOrThrow("savepoint-1").id()).isEqualTo(1_102);
    }

    @Test
    @DisplayName("T10: 1,100 commits of others between commit and tag do not hide the savepoint")
    void manyForeignCommitsBeforeTheTag() throws Exception {
        start();
        hooks.after(identifier -> fixture.manySnapshots("another-job", 1_100));
        committer.savepoint(1);
        committer.commit(Collections.singletonList(committable(1, 1)));

        assertThat(fixture.tagManager().getOrThrow("savepoint-1").id()).isEqualTo(1);
    }

    @Test
    @DisplayName("T10: 1,100 commits of others after an untagged savepoint do not hide it either")
    void manyForeignCommitsAfterACrash() throws Exception {
        start();
        checkpoint(1, -1);
        ManifestCommittable savepoint = committable(1, 1);
        crashAfterTheCommitOf(savepoint);
        fixture.manySnapshots("another-job", 1_100);
        restartElsewhere(1);
        committer.savepoint(1);

        assertThat(committer.filterAndCommit(Collections.singletonList(savepoint), true, false))
                .isZero();
        assertThat(fixture.tagManager().getOrThrow("savepoint-1").id()).isEqualTo(1);
    }

    @Test
    @DisplayName("T10, A4: a restore reads each snapshot above the anchor once more than the base")
    void readsOfARestore() throws Exception {
        start();
        checkpoint(1, -1);
        ManifestCommittable savepoint = committable(1, 1);
        crashAfterTheCommitOf(savepoint);
        fixture.manySnapshots("another-job", 300);
        fixture.fileIO().reset();
        restartElsewhere(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        // The base walks back to the newest own snapshot; so do we, in the other direction.
        assertThat(fixture.fileIO().count(Call.OPEN)).isBetween(600L, 650L);
    }

    @Test
    @DisplayName("T10: a restored savepoint whose snapshot is gone stays untagged, with a warning")
    void restoredSnapshotGone() throws Exception {
        start();
        ManifestCommittable savepoint = committable(1, 1);
        committer.commit(Arrays.asList(savepoint, committable(2, 2)));
        fixture.expireAllBut(1);
        restart(SavepointTaggingCommitterFactory.NO_CHECKPOINT);
        committer.savepoint(1);
        try (CapturedLog log = CapturedLog.of(SavepointTagger.class)) {
            committer.filterAndCommit(Collections.singletonList(savepoint), true, false);
            assertThat(log.messages()).anyMatch(message -> message.startsWith("WARN"));
        }

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1, 2);
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("T8: what was committed elsewhere is tagged, what was not stays pending")
    void tagsCommittedOnly() throws Exception {
        start();
        fixture.commit(USER, 1, 1);
        committer.savepoint(1);
        committer.savepoint(2);
        committer.tagCommittedSavepoints();

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(committer.pendingSavepoints()).containsExactly(2L);
    }

    @Test
    @DisplayName("A4: a commit without its tag gets it after the restore, any number of times")
    void tagsWhatWasCommitted() throws Exception {
        start();
        checkpoint(2, -1);
        ManifestCommittable savepoint = committable(1, 1);
        ManifestCommittable next = committable(2, 2);
        crashAfterTheCommitOf(savepoint);
        assertThat(fixture.tags()).isEmpty();

        for (int i = 0; i < 2; i++) {
            restartElsewhere(2);
            committer.savepoint(1);
            committer.filterAndCommit(Arrays.asList(savepoint, next), true, false);

            assertThat(identifiers()).containsExactly(1L, 2L);
            assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        }
    }

    @Test
    @DisplayName("A5: a snapshot of a run that is not marked as a complete cut gets no tag")
    void doesNotTagUnmarkedSnapshots() throws Exception {
        start();
        checkpoint(1, -1);
        ManifestCommittable broken = committable(1, 1);
        committer.commit(Collections.singletonList(broken));
        assertThat(CommitProperties.holdsCompleteCut(fixture.snapshots().get(0))).isFalse();

        restartElsewhere(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(broken), true, false);
        assertThat(fixture.tags()).isEmpty();
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("A5: a snapshot of the stock release, which names no run, gets its tag")
    void tagsSnapshotsOfTheStockRelease() throws Exception {
        start();
        ManifestCommittable savepoint = committable(1, 1);
        try (StoreCommitter stock = storeCommitter(fixture.table())) {
            stock.commit(Collections.singletonList(savepoint));
        }
        restartElsewhere(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("A4: a failover does not bring back a tag that its owner has deleted")
    void failoverLeavesADeletedTagAlone() throws Exception {
        ManifestCommittable savepoint = commitSavepointAndDeleteItsTag();
        restart(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).isEmpty();
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("A5: a restore of the savepoint itself in another process tags it again")
    void restoreOfTheSavepointTagsItAgain() throws Exception {
        ManifestCommittable savepoint = commitSavepointAndDeleteItsTag();
        restartElsewhere(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(fixture.ids()).containsExactly(1);
    }

    private ManifestCommittable commitSavepointAndDeleteItsTag() throws Exception {
        start();
        checkpoint(1, -1);
        ManifestCommittable savepoint = committable(1, 1);
        committer.savepoint(1);
        committer.commit(Collections.singletonList(savepoint));
        fixture.table().deleteTag("savepoint-1");
        return savepoint;
    }

    // ------------------------------------------------------------------------
    //  A4: runs
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("L1: each snapshot names job and run, that of a savepoint also the savepoint")
    void stampsEachSnapshot() throws Exception {
        start();
        committer.savepoint(1);
        committer.commit(Arrays.asList(committable(1, 1), committable(2, 2), committable(3, 3)));

        for (Snapshot snapshot : fixture.snapshots()) {
            assertThat(CommitProperties.jobId(snapshot)).isEqualTo("job-1");
            assertThat(CommitProperties.runId(snapshot)).isEqualTo(run.runId());
            assertThat(snapshot.properties().get(CommitProperties.CHECKPOINT_ID))
                    .isEqualTo(snapshot.commitIdentifier() == 1 ? "1" : null);
        }
        assertThat(fixture.tagManager().getOrThrow("savepoint-1").properties())
                .containsEntry(CommitProperties.RUN_ID, run.runId())
                .containsEntry(CommitProperties.CHECKPOINT_ID, "1");
    }

    @Test
    @DisplayName("A4: what a checkpoint holds is committed in the name of its run, by each restore")
    void recoversInTheNameOfTheRestoredRun() throws Exception {
        start();
        String checkpointedRun = run.runId();
        checkpoint(1, -1);
        List<ManifestCommittable> held = Collections.singletonList(committable(1, 1));
        restartElsewhere(1);
        assertThat(committer.filterAndCommit(held, true, false)).isEqualTo(1);
        committer.recovered();
        committer.commit(Collections.singletonList(committable(2, 2)));

        assertThat(fixture.snapshots())
                .extracting(CommitProperties::runId)
                .containsExactly(checkpointedRun, run.runId());
        assertThat(fixture.snapshots())
                .extracting(CommitProperties::jobId)
                .containsExactly("job-2", "job-2");

        restartElsewhere(1);
        assertThat(committer.filterAndCommit(held, true, false)).isZero();
        assertThat(fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A4, T5: identifiers that an earlier course of the job has used are used again")
    void identifiersUsedTwice() throws Exception {
        ManifestCommittable second = secondCourse();
        committer.savepoint(2);

        assertThat(committer.filterAndCommit(Collections.singletonList(second), true, false))
                .as("the base leaves it out")
                .isEqualTo(1);
        assertThat(fixture.ids()).containsExactly(1, 2, 3, 20);
        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-2-4");
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
        assertThat(fixture.idsAtTag("savepoint-2-4")).containsExactly(1, 2, 3, 20);

        // An abort takes its own tag and not that of the earlier course.
        committer.abort(2);
        assertThat(fixture.tags()).containsExactly("savepoint-2");

        restartElsewhere(2);
        assertThat(committer.filterAndCommit(Collections.singletonList(second), true, false))
                .isZero();
        assertThat(fixture.ids()).containsExactly(1, 2, 3, 20);
    }

    @Test
    @DisplayName("A4: files of such a commit that are gone are named, and nothing is committed")
    void identifiersUsedTwiceWithoutFiles() throws Exception {
        ManifestCommittable second = secondCourse();
        Path file;
        try (Stream<Path> files = Files.walk(directory.toPath())) {
            file =
                    files.filter(path -> path.getFileName().toString().startsWith("data-"))
                            .max(Comparator.comparing(path -> path.toFile().lastModified()))
                            .get();
        }
        assertThat(file.toFile().delete()).isTrue();

        assertThatThrownBy(
                        () ->
                                committer.filterAndCommit(
                                        Collections.singletonList(second), true, false))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("identifier 2")
                .hasMessageContaining(file.getFileName().toString());
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    /**
     * Course A commits 1, savepoint 2 and 3; course B, restored from checkpoint 1, has taken
     * another savepoint 2 and is restored from that.
     */
    private ManifestCommittable secondCourse() throws Exception {
        start();
        checkpoint(1, -1);
        ManifestCommittable first = committable(1, 1);
        committer.savepoint(2);
        committer.commit(Arrays.asList(first, committable(2, 2), committable(3, 3)));
        restartElsewhere(1);
        committer.filterAndCommit(Collections.singletonList(first), true, false);
        committer.recovered();
        checkpoint(2, 1);
        ManifestCommittable second = committable(2, 20);
        restartElsewhere(2);
        return second;
    }

    @Test
    @DisplayName("S4: progress that another build has carried along from earlier is ignored")
    void staleProgressIsIgnored() throws Exception {
        start();
        fixture.commit("another-job", 1, 100);
        checkpoint(7, -1);
        ManifestCommittable stock = committable(9, 9);
        try (StoreCommitter plain = storeCommitter(fixture.table())) {
            plain.commit(Collections.singletonList(stock));
        }
        // By the state of checkpoint 7 its snapshot would be one of another run.
        restartElsewhere(9);

        assertThat(committer.restored().progress()).isEmpty();
        assertThat(committer.filterAndCommit(Collections.singletonList(stock), true, false))
                .isZero();
        assertThat(fixture.ids()).containsExactly(9, 100);
    }

    @Test
    @DisplayName("S2: progress that cannot be read fails, and says what it is")
    void brokenProgress() throws Exception {
        start();
        checkpoint(7, -1);
        for (byte[] state : checkpoint.values()) {
            state[state.length - 1] ^= 1;
            state[state.length - 2] ^= 1;
        }
        committer.close();
        stateStore = new MemoryBackendStateStore(checkpoint);

        assertThat(checkpoint).containsKey("savepoint_commit_progress_state");
        assertThatThrownBy(() -> open(7))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("What the checkpoint knows of earlier commits");
    }

    @Test
    @DisplayName("A4: a table that was dropped and created again is refused at the restore")
    void anotherTable() throws Exception {
        start();
        checkpoint(1, -1);
        committer.close();
        fixture.dropTable();
        fixture.createTableAgain();
        stateStore = new MemoryBackendStateStore(checkpoint);

        assertThatThrownBy(() -> open(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("dropped and created again");
    }

    private void crashAfterTheCommitOf(ManifestCommittable savepoint) {
        hooks.after(
                identifier -> {
                    throw new IOException("crash");
                });
        committer.savepoint(savepoint.identifier());
        assertThatThrownBy(() -> committer.commit(Collections.singletonList(savepoint)))
                .hasMessage("crash");
    }

    // ------------------------------------------------------------------------

    private void retainOneSnapshot() {
        options.put("write-only", "false");
        options.put("snapshot.num-retained.min", "1");
        options.put("snapshot.num-retained.max", "1");
    }

    private ManifestCommittable committable(long identifier, int... rows) throws Exception {
        return new ManifestCommittable(
                identifier,
                null,
                rows.length == 0 ? Collections.emptyList() : fixture.write(USER, identifier, rows));
    }

    private List<Long> identifiers() throws Exception {
        return fixture.snapshots().stream()
                .filter(snapshot -> snapshot.commitUser().equals(USER))
                .map(Snapshot::commitIdentifier)
                .collect(Collectors.toList());
    }
}
