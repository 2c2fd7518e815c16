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
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.StoreCommitter;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.ReportProtocolException;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.OwnSnapshot;
import org.apache.paimon.tag.SavepointTagException;
import org.apache.paimon.tag.SnapshotPosition;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.tag.testutils.CountingFileIO;

import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

/** What the coordinator does to a real table, with failures right before and after a commit. */
class SnapshotCommitterTest {

    private static final String USER = "job-with-uuid-12345678";
    private static final String OTHER = "another-job";

    @TempDir private File directory;

    private final HookedCommitter.Hooks hooks = new HookedCommitter.Hooks();
    private final Map<String, String> options = new HashMap<>();
    private MemoryBackendStateStore stateStore = new MemoryBackendStateStore();
    private AppendTableFixture fixture;
    private SnapshotCommitter committer;
    private CommitRun run = CommitRun.begin("job-1");
    private JobMasterMemory memory;
    private boolean cancelled;

    /** What the last checkpoint holds of the committer; null before the first. */
    private Map<String, byte[]> checkpoint;

    /** A job that starts. */
    private void start() throws Exception {
        options.putIfAbsent("sink.savepoint.auto-tag", "true");
        fixture = AppendTableFixture.create(directory, options);
        memory = new JobMasterMemory("the table");
        open(-1);
    }

    /** Takes a checkpoint, before which everything up to an identifier was committed. */
    private void takeCheckpoint(long checkpointId, long committedUpTo) throws Exception {
        committer.snapshotState(checkpointId, committedUpTo);
        checkpoint = stateStore.getSerializedStates();
    }

    /** A failover within one JobMaster, from the last checkpoint. */
    private void restart(long checkpointId) throws Exception {
        hooks.clear();
        fixture.fileIO().clearHook();
        committer.close();
        stateStore =
                checkpoint == null
                        ? new MemoryBackendStateStore()
                        : new MemoryBackendStateStore(checkpoint);
        open(checkpointId);
    }

    /** A restore in a new JobMaster, from the last checkpoint. */
    private void restore(long checkpointId) throws Exception {
        run = CommitRun.begin("job-2");
        memory = new JobMasterMemory("the table");
        restart(checkpointId);
    }

    private void open(long restoredCheckpointId) throws Exception {
        FileStoreTable table = fixture.table();
        committer =
                new TableCommitterOpener(
                                table,
                                context ->
                                        new HookedCommitter(
                                                new StoreCommitter(
                                                        table,
                                                        table.newCommit(context.commitUser())
                                                                .ignoreEmptyCommit(false),
                                                        context),
                                                hooks))
                        .open(
                                Committer.createContext(
                                        USER,
                                        new UnregisteredMetricsGroup(),
                                        true,
                                        restoredCheckpointId >= 0,
                                        stateStore,
                                        1,
                                        0),
                                run,
                                memory,
                                restoredCheckpointId,
                                () -> cancelled);
        committer.start(restoredCheckpointId);
    }

    @AfterEach
    void close() throws Exception {
        if (committer != null) {
            committer.close();
        }
    }

    // ------------------------------------------------------------------------
    //  Commits and tags
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T1: a savepoint and the checkpoint after it get a snapshot each, and one tag")
    void savepointAndCheckpoint() throws Exception {
        start();
        committer.commit(2, Arrays.asList(savepoint(1, 1, 2), checkpoint(2, 3)));

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("T3: the tag is there before the next commit begins")
    void tagsBeforeTheNextCommit() throws Exception {
        start();
        hooks.before(
                identifier ->
                        assertThat(fixture.tags())
                                .containsExactlyElementsOf(
                                        Arrays.asList("savepoint-1", "savepoint-2")
                                                .subList(0, (int) identifier - 1)));
        committer.commit(3, Arrays.asList(savepoint(1, 1), savepoint(2, 2), checkpoint(3, 3)));

        assertThat(hooks.asked()).containsExactly(1L, 2L, 3L);
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T3: with one retained snapshot the savepoint's survives in its tag")
    void tagSurvivesExpiration() throws Exception {
        expireAllButOne();
        start();
        committer.commit(2, Arrays.asList(savepoint(1, 1, 2), checkpoint(2, 3)));
        committer.commit(3, Collections.singletonList(checkpoint(3, 4)));

        assertThat(identifiers()).containsExactly(3L);
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("L1: the snapshot of a complete savepoint names it, each one names job and run")
    void marksCompleteCuts() throws Exception {
        start();
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 3)));

        assertThat(fixture.snapshots().get(0).properties())
                .containsOnly(
                        entry("flink.job-id", "job-1"),
                        entry("flink.run-id", run.runId()),
                        entry("flink.checkpoint-id", "1"));
        assertThat(fixture.snapshots().get(1).properties())
                .containsOnly(entry("flink.job-id", "job-1"), entry("flink.run-id", run.runId()));
    }

    @Test
    @DisplayName("T5: a tag of another job is left alone, the savepoint gets the longer name")
    void foreignTag() throws Exception {
        start();
        Snapshot foreign = fixture.commit(OTHER, 1, 100);
        fixture.tagManager()
                .createTag(foreign, "savepoint-1", null, Collections.emptyList(), false);
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 2)));
        committer.abort(1);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(100);
        committer.commit(3, Collections.singletonList(savepoint(3, 3)));
        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-3");
    }

    @Test
    @DisplayName("T5: the longer name ends in the id of the snapshot")
    void foreignTagLeavesALongerName() throws Exception {
        start();
        Snapshot foreign = fixture.commit(OTHER, 1, 100);
        fixture.tagManager()
                .createTag(foreign, "savepoint-1", null, Collections.emptyList(), false);
        committer.commit(1, Collections.singletonList(savepoint(1, 1)));

        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-1-2");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(100);
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1, 100);
    }

    @Test
    @DisplayName("T6: tag.default-time-retained applies")
    void tagsExpire() throws Exception {
        options.put("tag.default-time-retained", "3 d");
        start();
        committer.commit(1, Collections.singletonList(savepoint(1, 1)));

        assertThat(fixture.tagManager().getOrThrow("savepoint-1").getTagTimeRetained())
                .isEqualTo(Duration.ofDays(3));
    }

    @Test
    @DisplayName("T7: without auto-tag no tag is made, looked for or deleted")
    void withoutAutoTag() throws Exception {
        options.put("sink.savepoint.auto-tag", "false");
        start();
        fixture.fileIO().reset();
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 2)));
        committer.abort(1);
        committer.snapshotState(3, 2);

        assertThat(fixture.fileIO().log()).contains("/snapshot/").doesNotContain("/tag");
    }

    @Test
    @DisplayName("T8: a savepoint without files makes neither snapshot nor tag")
    void emptySavepoint() throws Exception {
        start();
        committer.commit(2, Arrays.asList(savepoint(1), checkpoint(2, 2)));
        committer.commit(4, Arrays.asList(savepoint(3), checkpoint(4)));

        assertThat(identifiers()).containsExactly(2L);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("T8: with commit.force-create-snapshot it makes both, and each checkpoint one")
    void forcedEmptySavepoint() throws Exception {
        options.put("commit.force-create-snapshot", "true");
        start();
        committer.commit(3, Arrays.asList(savepoint(1), aborted(2), checkpoint(3)));

        assertThat(identifiers()).containsExactly(1L, 3L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).isEmpty();
    }

    @Test
    @DisplayName("T10: a snapshot that expires before it is tagged leaves no tag and no failure")
    void snapshotGone() throws Exception {
        start();
        hooks.after(
                identifier -> {
                    hooks.clear();
                    fixture.commit(OTHER, 1, 100);
                    fixture.expireAllBut(1);
                });
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 2)));

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1, 2, 100);
    }

    @Test
    @DisplayName("T10: commits of other users between commit and tag do not hide the savepoint")
    void otherCommitsInBetween() throws Exception {
        start();
        hooks.after(
                identifier -> {
                    hooks.clear();
                    for (int i = 0; i < 5; i++) {
                        fixture.commit(OTHER, i, 100 + i);
                    }
                });
        committer.commit(1, Collections.singletonList(savepoint(1, 1)));

        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("A1: an abort deletes the tag that exists and leaves the rows")
    void abortDeletesTheTag() throws Exception {
        start();
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 2)));
        committer.abort(1);
        committer.abort(1);

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A6: the watermark of the batch is the snapshot's")
    void watermark() throws Exception {
        start();
        CommitBatch.Entry entry = checkpoint(1, 1).releaseNext();
        committer.commit(
                1,
                Collections.singletonList(
                        new CommitBatch(
                                1, 1_234, false, new ArrayDeque<>(Collections.singleton(entry)))));

        assertThat(fixture.snapshots().get(0).watermark()).isEqualTo(1_234L);
    }

    // ------------------------------------------------------------------------
    //  A7
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: after a foreign commit nothing is committed any more, and nothing is skipped")
    void foreignCommit() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        List<CommitBatch> frozen = Arrays.asList(savepoint(2, 2), checkpoint(3, 3));
        fixture.commitAs(USER, "another run", 2, 20);

        assertThatThrownBy(() -> committer.commit(3, frozen))
                .isInstanceOf(ForeignCommitException.class)
                .hasMessageContaining("Snapshot 2")
                .hasMessageContaining("another run")
                .hasMessageContaining(run.runId());
        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.ids()).containsExactly(1, 20);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A7: a foreign commit in the middle of a batch stops the rest of it")
    void foreignCommitWithinABatch() throws Exception {
        start();
        hooks.after(identifier -> fixture.commitAs(USER, "another run", 1, 20));

        assertThatThrownBy(
                        () ->
                                committer.commit(
                                        2, Arrays.asList(checkpoint(1, 1), checkpoint(2, 2))))
                .isInstanceOf(ForeignCommitException.class);
        assertThat(fixture.ids()).containsExactly(1, 20);
    }

    @Test
    @DisplayName("A7: a foreign commit is noticed by a checkpoint, too, and by the recovery")
    void foreignCommitAtACheckpoint() throws Exception {
        start();
        takeCheckpoint(1, -1);
        List<CommitBatch> replayed = Collections.singletonList(checkpoint(1, 1));
        fixture.commitAs(USER, "another run", 1, 20);
        assertThatThrownBy(() -> committer.snapshotState(2, -1))
                .isInstanceOf(ForeignCommitException.class);

        restore(1); // history for a new JobMaster
        fixture.commitAs(USER, "another run", 2, 21);
        assertThatThrownBy(() -> committer.recover(1, replayed))
                .isInstanceOf(ForeignCommitException.class);
        assertThat(fixture.ids()).containsExactly(20, 21);
    }

    @Test
    @DisplayName("T10: the start of a fresh job does not read the history of the table")
    void freshJobReadsNoHistory() throws Exception {
        start();
        fixture.commit("somebody else", 0, 1);
        fixture.manySnapshots("somebody else", 500);
        fixture.fileIO().reset();
        restore(-1);

        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN)).isLessThan(20);
    }

    @Test
    @DisplayName(
            "A7, fault 14: reports are decoded before the look, which comes right before the commit")
    void decodesBeforeTheLook() throws Exception {
        start();
        CommitBatch.Entry undecodable = undecodable(7);
        fixture.commitAs(USER, "another run", 7, 20);
        fixture.fileIO().reset();

        // Both would fail: what comes first is seen.
        assertThatThrownBy(
                        () ->
                                committer.commit(
                                        7, Collections.singletonList(batchOf(7, undecodable))))
                .isInstanceOf(ReportProtocolException.class);
        assertThat(fixture.fileIO().log()).isEmpty();
        assertThatThrownBy(
                        () ->
                                committer.recover(
                                        7, Collections.singletonList(batchOf(7, undecodable))))
                .isInstanceOf(ReportProtocolException.class);
    }

    @Test
    @DisplayName("A7: a fresh job with ids from 1 is not stopped by what is in the table")
    void freshJobStartsAgain() throws Exception {
        start();
        fixture.commit(USER, 9, 1);
        restore(-1);
        committer.commit(1, Collections.singletonList(checkpoint(1, 2)));

        assertThat(identifiers()).containsExactly(9L, 1L);
    }

    @Test
    @DisplayName("A7: a closed coordinator starts no further commit in the middle of a batch")
    void cancelledWithinABatch() throws Exception {
        start();
        hooks.after(identifier -> cancelled = true);

        assertThatThrownBy(
                        () ->
                                committer.commit(
                                        2, Arrays.asList(checkpoint(1, 1), checkpoint(2, 2))))
                .isInstanceOf(CancellationException.class)
                .hasMessageContaining("checkpoint 2");
        assertThat(identifiers()).containsExactly(1L);
        assertThatThrownBy(() -> committer.recover(2, Collections.singletonList(checkpoint(2, 2))))
                .isInstanceOf(CancellationException.class);
        assertThat(identifiers()).containsExactly(1L);
    }

    @Test
    @DisplayName("A7: a closed coordinator decodes nothing that it would recover")
    void cancelledBeforeTheRecovery() throws Exception {
        start();
        CommitBatch batch = batchOf(7, undecodable(7));
        cancelled = true;

        assertThatThrownBy(() -> committer.recover(7, Collections.singletonList(batch)))
                .isInstanceOf(CancellationException.class)
                .hasMessageContaining("its successor commits")
                .hasMessageContaining("checkpoint 7");
    }

    // ------------------------------------------------------------------------
    //  Recovery
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A5: a failure before the commit leaves everything to the recovery")
    void failureBeforeTheCommit() throws Exception {
        failOnce(true);
        recoverTwice();
    }

    @Test
    @DisplayName("A4: a failure between commit and tag leaves the tag to the recovery")
    void failureBetweenCommitAndTag() throws Exception {
        failOnce(false);
        assertThat(identifiers()).containsExactly(1L);
        assertThat(fixture.tags()).isEmpty();
        recoverTwice();
    }

    @Test
    @DisplayName("A8: a tag that cannot be written fails, and the recovery makes up for it")
    void failureOfTheTag() throws Exception {
        start();
        takeCheckpoint(2, -1);
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            if (call == CountingFileIO.Call.CREATE
                                    && path.toString().contains("/tag")) {
                                throw new IOException("the disk is full");
                            }
                        });
        assertThatThrownBy(() -> committer.commit(2, savepointAndNext()))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("savepoint-1")
                .hasMessageContaining("the disk is full");
        recoverTwice();
    }

    @Test
    @DisplayName("A5: what was committed and tagged before is neither committed nor tagged again")
    void recoveryAfterEverything() throws Exception {
        start();
        takeCheckpoint(2, -1);
        committer.commit(2, savepointAndNext());
        recoverTwice();
    }

    /** Fails the commit of savepoint 1, right before or right after it reached the table. */
    private void failOnce(boolean before) throws Exception {
        start();
        takeCheckpoint(2, -1);
        HookedCommitter.Hook failure =
                identifier -> {
                    throw new IOException("crash at " + identifier);
                };
        if (before) {
            hooks.before(failure);
        } else {
            hooks.after(failure);
        }
        assertThatThrownBy(() -> committer.commit(2, savepointAndNext()))
                .hasMessageContaining("crash at 1");
    }

    /** What the writers hold in their state: the reports of savepoint 1 and checkpoint 2. */
    private EncodedReport reportOfSavepoint;

    private EncodedReport reportOfCheckpoint;

    private List<CommitBatch> savepointAndNext() throws Exception {
        if (reportOfSavepoint == null) {
            reportOfSavepoint = savepoint(1, 1, 2).releaseNext().report();
            reportOfCheckpoint = checkpoint(2, 3).releaseNext().report();
        }
        return Arrays.asList(
                batch(1, true, reportOfSavepoint), batch(2, false, reportOfCheckpoint));
    }

    private void recoverTwice() throws Exception {
        for (int i = 0; i < 4; i++) {
            if (i % 2 == 0) {
                restart(2);
            } else {
                restore(2);
            }
            committer.recover(2, savepointAndNext());

            assertThat(identifiers()).containsExactly(1L, 2L);
            assertThat(fixture.ids()).containsExactly(1, 2, 3);
            assertThat(fixture.tags()).containsExactly("savepoint-1");
            assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
        }
        committer.commit(3, Collections.singletonList(savepoint(3, 4)));
        assertThat(fixture.idsAtTag("savepoint-3")).containsExactly(1, 2, 3, 4);
    }

    @Test
    @DisplayName("A3, A5: a snapshot that is no complete cut is not tagged by a replay of one")
    void recoveryOfABrokenCut() throws Exception {
        start();
        takeCheckpoint(2, -1);
        savepointAndNext();
        committer.commit(1, Collections.singletonList(batch(1, false, reportOfSavepoint)));
        restart(2);
        committer.recover(2, savepointAndNext());

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A3: a cut that is not complete is committed without a tag")
    void recoveryOfAnIncompleteCut() throws Exception {
        start();
        committer.recover(2, Arrays.asList(checkpoint(1, 1), checkpoint(2, 2)));

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("T8: an empty restored savepoint is forced into a snapshot and a tag, once")
    void forcedEmptyRestoredSavepoint() throws Exception {
        options.put("commit.force-create-snapshot", "true");
        start();
        takeCheckpoint(1, -1);
        for (int i = 0; i < 2; i++) {
            restart(1);
            committer.recover(1, Collections.singletonList(savepoint(1)));
            assertThat(identifiers()).containsExactly(1L);
            assertThat(fixture.tags()).containsExactly("savepoint-1");
        }
    }

    @Test
    @DisplayName(
            "A7: a restore of an older checkpoint runs, and names the later commits in the log")
    void tableAheadOfTheRestore() throws Exception {
        start();
        takeCheckpoint(1, -1);
        CommitBatch.Entry first = savepoint(1, 1).releaseNext();
        committer.commit(3, Arrays.asList(batchOf(1, first), checkpoint(3, 3)));
        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            restore(1);
            assertThat(log.messages())
                    .anyMatch(
                            message ->
                                    message.startsWith("WARN")
                                            && message.contains("up to checkpoint 3 in snapshot 2")
                                            && message.contains("restored checkpoint 1"));
        }
        committer.recover(1, Collections.singletonList(batchOf(1, first)));
        committer.commit(2, Collections.singletonList(checkpoint(2, 4)));
        assertThat(fixture.ids()).containsExactly(1, 3, 4);
    }

    @Test
    @DisplayName("A7: a table that is as far as the restored checkpoint is no news")
    void tableAsFarAsTheRestore() throws Exception {
        start();
        takeCheckpoint(1, -1);
        CommitBatch.Entry first = checkpoint(1, 1).releaseNext();
        committer.commit(1, Collections.singletonList(batchOf(1, first)));
        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            restore(1);
            committer.recover(1, Collections.singletonList(batchOf(1, first)));
            assertThat(log.messages()).noneMatch(message -> message.startsWith("WARN"));
        }
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName(
            "A4: what is committed up to the checkpoint is in its state, with anchor and own snapshot")
    void progressOfACheckpoint() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        Snapshot own = fixture.snapshots().get(0);
        Snapshot anchor = fixture.commit(OTHER, 1, 100);
        takeCheckpoint(2, 1);
        CommitProgress progress = progress();

        assertThat(progress.checkpointId()).isEqualTo(2);
        assertThat(progress.runId()).isEqualTo(run.runId());
        assertThat(progress.committedUpTo()).isEqualTo(1);
        assertThat(progress.anchor()).isEqualTo(SnapshotPosition.of(anchor));
        assertThat(progress.newestOwn()).isEqualTo(OwnSnapshot.of(own));
        restart(2);
        assertThat(committer.committedUpTo()).isEqualTo(1);
        restart(5);
        assertThat(committer.committedUpTo()).as("of another checkpoint").isEqualTo(-1);
    }

    private CommitProgress progress() throws Exception {
        return CommitProgress.fromBytes(
                new MemoryBackendStateStore(checkpoint)
                        .getListState(
                                new ListStateDescriptor<>(
                                        "savepoint_commit_progress_state",
                                        BytePrimitiveArraySerializer.INSTANCE))
                        .get()
                        .iterator()
                        .next());
    }

    @Test
    @DisplayName(
            "A4: the restore says of each checkpoint whether it was committed before, and counts")
    void tellsWhatIsCommittedNow() throws Exception {
        start();
        takeCheckpoint(2, -1);
        CommitStatistics statistics = memory.metrics().commits();
        savepointAndNext();
        committer.commit(1, Collections.singletonList(batch(1, true, reportOfSavepoint)));
        assertThat(statistics.commits()).isEqualTo(1);
        restart(2);
        assertThat(committer.hasSnapshot(1)).isTrue();
        assertThat(committer.hasSnapshot(2)).isFalse();
        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            committer.recover(2, savepointAndNext());
            assertThat(log.messages())
                    .anyMatch(message -> message.contains("was committed before for checkpoint 1"))
                    .anyMatch(message -> message.contains("committed now for checkpoint 2"));
        }
        assertThat(statistics.commits()).isEqualTo(2);
    }

    @Test
    @DisplayName("A4: a checkpoint before the recovery knows what the restored one knew")
    void progressOfACheckpointBeforeTheRecovery() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        takeCheckpoint(2, 1);
        CommitProgress known = progress();
        restart(2);
        committer.snapshotRestoredState(3);
        checkpoint = stateStore.getSerializedStates();

        assertThat(progress().checkpointId()).isEqualTo(3);
        assertThat(progress().runId()).isEqualTo(known.runId());
        assertThat(progress().anchor()).isEqualTo(known.anchor());
        assertThat(progress().newestOwn()).isEqualTo(known.newestOwn());
        restart(3);
        assertThat(committer.committedUpTo()).isEqualTo(1);
    }

    @Test
    @DisplayName("T9: each checkpoint asks the base's committer for its state, once")
    void stateOfTheBase() throws Exception {
        start();
        committer.snapshotState(1, -1);
        assertThat(hooks.stateSnapshots()).isEqualTo(1);
        committer.snapshotRestoredState(2);
        assertThat(hooks.stateSnapshots()).isEqualTo(2);
    }

    @Test
    @DisplayName("L2: a failover withdraws the tag of an overtaken savepoint that never completed")
    void recoveryOfASavepointThatNeverCompleted() throws Exception {
        File place = new File(directory, "savepoint-1");
        assertThat(place.mkdir()).isTrue();
        String path = place.toURI().toString();
        start();
        takeCheckpoint(2, -1);
        savepointAndNext();
        committer.commit(2, atPath(path));
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        restart(2);
        committer.recover(2, atPath(path));

        assertThat(fixture.tags()).isEmpty();
        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    /** Savepoint 1 and checkpoint 2. */
    private List<CommitBatch> atPath(String path) {
        return Arrays.asList(
                new CommitBatch(
                        1,
                        Long.MIN_VALUE,
                        true,
                        path,
                        new ArrayDeque<>(
                                Collections.singleton(
                                        new CommitBatch.Entry(0, 0, reportOfSavepoint)))),
                batch(2, false, reportOfCheckpoint));
    }

    // ------------------------------------------------------------------------
    //  R2
    // ------------------------------------------------------------------------

    @Test
    @DisplayName(
            "R2: a table rolled back further than the checkpoint is refused at the first start")
    void rolledBackTooFar() throws Exception {
        checkpointBehindARollback();

        assertThatThrownBy(() -> restore(3))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Checkpoint 3 knows snapshot 2")
                .hasMessageContaining("the newest snapshot of the table is snapshot 1")
                .hasMessageContaining("rolled back further than the checkpoint")
                .hasMessageContaining("sink.operator-uid.suffix");
        assertThat(fixture.ids()).containsExactly(1);
        committer = null;
    }

    @Test
    @DisplayName(
            "R2: in a failover of a running job it is only warned of, and the base's rule holds")
    void rolledBackDuringTheJob() throws Exception {
        checkpointBehindARollback();

        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            restart(3);
            assertThat(log.messages())
                    .anyMatch(
                            message ->
                                    message.startsWith("WARN")
                                            && message.contains("rolled back while the job")
                                            && message.contains("Checkpoint 3 knows snapshot 2"));
        }
        committer.recover(3, Collections.singletonList(savepoint(3, 3)));
        assertThat(fixture.ids()).containsExactly(1, 3);
        assertThat(fixture.idsAtTag("savepoint-3")).containsExactly(1, 3);
    }

    private void checkpointBehindARollback() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        committer.commit(2, Collections.singletonList(checkpoint(2, 2)));
        takeCheckpoint(3, 2);
        fixture.table().rollbackTo(1);
    }

    @Test
    @DisplayName("R2: own snapshots that have merely expired are nothing to refuse")
    void expiredHistory() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        takeCheckpoint(2, 1);
        CommitBatch.Entry held = checkpoint(2, 2).releaseNext();
        fixture.commit(OTHER, 1, 100);
        fixture.expireAllBut(1);
        restore(2);
        committer.recover(2, Collections.singletonList(batchOf(2, held)));

        assertThat(fixture.ids()).containsExactly(1, 2, 100);
    }

    @Test
    @DisplayName("T10: 1,100 foreign snapshots between savepoint and restore hide nothing")
    void manyForeignSnapshots() throws Exception {
        start();
        fixture.commit(OTHER, 1, 100);
        takeCheckpoint(1, -1);
        CommitBatch.Entry held = savepoint(1, 1).releaseNext();
        fixture.manySnapshots(OTHER, 1_100);
        restore(1);
        committer.recover(1, Collections.singletonList(batch(1, true, held.report())));

        assertThat(fixture.tagManager().getOrThrow("savepoint-1").id()).isEqualTo(1_102);
    }

    @Test
    @DisplayName("A7: a late commit of the predecessor during the recovery is not made again")
    void lateCommitOfThePredecessor() throws Exception {
        start();
        String predecessor = run.runId();
        takeCheckpoint(2, -1);
        List<CommitMessage> files = fixture.write(USER, 2, 2);
        EncodedReport report = Reports.of(2).messages(files).encoded();
        restore(2);
        // It appears when the recovery has read the table and not committed yet.
        fixture.commitAs(USER, predecessor, 2, files);
        committer.recover(2, Collections.singletonList(batch(2, false, report)));

        assertThat(identifiers()).containsExactly(2L);
        assertThat(fixture.ids()).containsExactly(2);
    }

    @Test
    @DisplayName("W3: a report that cannot be decoded names subtask, attempt and checkpoint")
    void undecodableReport() throws Exception {
        start();
        CommitBatch batch = batchOf(7, undecodable(7));

        assertThatThrownBy(() -> committer.commit(7, Collections.singletonList(batch)))
                .isInstanceOf(ReportProtocolException.class)
                .hasMessageContaining("subtask 4 (attempt 2), checkpoint 7")
                .hasMessageContaining("cannot be decoded");
        assertThat(fixture.snapshots()).isEmpty();
    }

    // ------------------------------------------------------------------------

    private void expireAllButOne() {
        options.put("write-only", "false");
        options.put("snapshot.num-retained.min", "1");
        options.put("snapshot.num-retained.max", "1");
    }

    private List<Long> identifiers() throws Exception {
        return fixture.snapshots().stream()
                .filter(snapshot -> snapshot.commitUser().equals(USER))
                .map(Snapshot::commitIdentifier)
                .collect(Collectors.toList());
    }

    private CommitBatch checkpoint(long id, int... rows) throws Exception {
        return batch(id, false, rows);
    }

    private CommitBatch aborted(long id) throws Exception {
        return batch(id, false);
    }

    private CommitBatch savepoint(long id, int... rows) throws Exception {
        return batch(id, true, rows);
    }

    private CommitBatch batch(long id, boolean savepoint, int... rows) throws Exception {
        return rows.length == 0
                ? new CommitBatch(id, Long.MIN_VALUE, savepoint, new ArrayDeque<>())
                : batch(
                        id,
                        savepoint,
                        Reports.of(id).messages(fixture.write(USER, id, rows)).encoded());
    }

    /** Of subtask 4, attempt 2. */
    private static CommitBatch.Entry undecodable(long id) throws Exception {
        EncodedReport report = Reports.of(id).files("a").encoded();
        byte[] bytes = report.serialized().clone();
        // The version of the committables, behind checkpoint id, watermark and idle bit.
        ByteBuffer.wrap(bytes).putInt(2 * Long.BYTES + 1, 77);
        return new CommitBatch.Entry(4, 2, EncodedReport.of(report.version(), bytes));
    }

    private static CommitBatch batchOf(long id, CommitBatch.Entry entry) {
        return new CommitBatch(
                id,
                Long.MIN_VALUE,
                entry.report().savepoint(),
                new ArrayDeque<>(Collections.singleton(entry)));
    }

    private static CommitBatch batch(long id, boolean savepoint, EncodedReport report) {
        return new CommitBatch(
                id,
                Long.MIN_VALUE,
                savepoint,
                new ArrayDeque<>(Collections.singleton(new CommitBatch.Entry(0, 0, report))));
    }
}
