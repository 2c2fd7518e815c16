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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.StoreCommitter;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.flink.sink.testutils.CapturedLog;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.tag.SavepointTagException;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CountingFileIO;

import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
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
    private boolean cancelled;

    /** A job that starts. */
    private void start() throws Exception {
        options.putIfAbsent("sink.savepoint.auto-tag", "true");
        fixture = AppendTableFixture.create(directory, options);
        open(false);
        committer.startAfresh();
    }

    /** A job that is restored from what {@link #checkpoint} has kept. */
    private void restart() throws Exception {
        hooks.clear();
        fixture.fileIO().clearHook();
        committer.close();
        stateStore = new MemoryBackendStateStore(stateStore.getSerializedStates());
        open(true);
    }

    private void open(boolean restored) throws Exception {
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
                                        restored,
                                        stateStore,
                                        1,
                                        0),
                                () -> cancelled);
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
    @DisplayName("A3: the snapshot of a complete savepoint says so, no other one does")
    void marksCompleteCuts() throws Exception {
        start();
        committer.commit(2, Arrays.asList(savepoint(1, 1), checkpoint(2, 3)));

        assertThat(fixture.snapshots().get(0).properties())
                .containsEntry(SavepointTaggingCommitter.SAVEPOINT_PROPERTY, "true");
        Map<String, String> others = fixture.snapshots().get(1).properties();
        assertThat(others == null ? Collections.emptyMap() : others)
                .doesNotContainKey(SavepointTaggingCommitter.SAVEPOINT_PROPERTY);
    }

    @Test
    @DisplayName("T5: a tag of another job is left alone, the savepoint gets the longer name")
    void foreignTag() throws Exception {
        start();
        Snapshot foreign = fixture.commit(OTHER, 1, 100);
        fixture.tagManager()
                .createTag(foreign, "savepoint-1", null, Collections.emptyList(), false);
        committer.startAfresh();
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
        committer.snapshotState();

        assertThat(fixture.fileIO().log()).contains("/snapshot/").doesNotContain("/tag");
        assertThat(fixture.snapshots())
                .allMatch(s -> s.properties() == null || s.properties().isEmpty());
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
        CommitBatch.Entry entry = checkpoint(1, 1).poll();
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
    @DisplayName("A7: what another hand has committed meanwhile is skipped with a warning")
    void committedByAnotherHand() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        List<CommitBatch> frozen = Arrays.asList(savepoint(2, 2), checkpoint(3, 3));
        // Its successor commits the same while this one is frozen.
        fixture.commit(USER, 2, 2);
        fixture.commit(USER, 3, 3);

        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            committer.commit(3, frozen);
            assertThat(log.messages())
                    .filteredOn(message -> message.startsWith("WARN"))
                    .hasSize(2)
                    .allMatch(message -> message.contains("identifier 3 meanwhile"));
        }

        assertThat(identifiers()).containsExactly(1L, 2L, 3L);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("T3, A7: a savepoint that another hand committed is tagged before the next commit")
    void savepointCommittedByAnotherHand() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        List<CommitBatch> frozen = Arrays.asList(savepoint(2, 2), checkpoint(3, 3));
        ManifestCommittable byAnother = new ManifestCommittable(2, null, fixture.write(USER, 2, 2));
        byAnother.addProperty(SavepointTaggingCommitter.SAVEPOINT_PROPERTY, "true");
        try (TableCommitImpl commit = fixture.table().newCommit(USER)) {
            commit.commit(byAnother);
        }
        hooks.before(identifier -> assertThat(fixture.tags()).containsExactly("savepoint-2"));

        committer.commit(3, frozen);

        assertThat(identifiers()).containsExactly(1L, 2L, 3L);
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A7: an older identifier of the same user hinders nothing")
    void olderCommitsDoNotHinder() throws Exception {
        start();
        fixture.commit(USER, 1, 1);
        committer.commit(2, Collections.singletonList(checkpoint(2, 2)));

        assertThat(identifiers()).containsExactly(1L, 2L);
    }

    @Test
    @DisplayName("A7: a fresh job with ids from 1 is not stopped by what is in the table")
    void freshJobStartsAgain() throws Exception {
        start();
        fixture.commit(USER, 9, 1);
        committer.startAfresh();
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
        committer.snapshotState();
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
        committer.snapshotState();
        committer.commit(2, savepointAndNext());
        recoverTwice();
    }

    /** Fails the commit of savepoint 1, right before or right after it reached the table. */
    private void failOnce(boolean before) throws Exception {
        start();
        committer.snapshotState();
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
            reportOfSavepoint = savepoint(1, 1, 2).poll().report();
            reportOfCheckpoint = checkpoint(2, 3).poll().report();
        }
        return Arrays.asList(
                batch(1, true, reportOfSavepoint), batch(2, false, reportOfCheckpoint));
    }

    private void recoverTwice() throws Exception {
        for (int i = 0; i < 2; i++) {
            restart();
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
    @DisplayName(
            "A3: what was committed as a broken cut is not tagged by a replay that looks whole")
    void recoveryOfABrokenCut() throws Exception {
        start();
        committer.snapshotState();
        savepointAndNext();
        committer.commit(1, Collections.singletonList(batch(1, false, reportOfSavepoint)));
        restart();
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
        committer.snapshotState();
        for (int i = 0; i < 2; i++) {
            restart();
            committer.recover(1, Collections.singletonList(savepoint(1)));
            assertThat(identifiers()).containsExactly(1L);
            assertThat(fixture.tags()).containsExactly("savepoint-1");
        }
    }

    @Test
    @DisplayName("A5: a table that is ahead of the restored checkpoint is told in the log")
    void tableAheadOfTheRestore() throws Exception {
        start();
        committer.commit(3, Arrays.asList(savepoint(1, 1), checkpoint(3, 3)));
        restart();
        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            committer.recover(1, Collections.singletonList(savepoint(1, 1)));
            assertThat(log.messages())
                    .anyMatch(
                            message ->
                                    message.startsWith("WARN")
                                            && message.contains("up to checkpoint 3")
                                            && message.contains("restored checkpoint 1"));
        }
        // It goes on all the same: these are its own commits.
        committer.commit(2, Collections.singletonList(checkpoint(2, 4)));
        assertThat(fixture.ids()).containsExactly(1, 3, 4);
    }

    @Test
    @DisplayName("A5: a table that is as far as the restored checkpoint is nothing to tell")
    void tableAsFarAsTheRestore() throws Exception {
        start();
        committer.commit(1, Collections.singletonList(checkpoint(1, 1)));
        restart();
        try (CapturedLog log = CapturedLog.of(SnapshotCommitter.class)) {
            committer.recover(1, Collections.singletonList(checkpoint(1, 1)));
            assertThat(log.messages()).noneMatch(message -> message.startsWith("WARN"));
        }
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("W3: a report that cannot be decoded names subtask, attempt and checkpoint")
    void undecodableReport() throws Exception {
        start();
        byte[] bytes = Reports.of(7).files("a").encoded().serialized().clone();
        bytes[bytes.length - 1] ^= 1;
        CommitBatch batch =
                new CommitBatch(
                        7,
                        Long.MIN_VALUE,
                        false,
                        new ArrayDeque<>(
                                Collections.singleton(
                                        new CommitBatch.Entry(4, 2, EncodedReport.of(2, bytes)))));

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

    private static CommitBatch batch(long id, boolean savepoint, EncodedReport report) {
        return new CommitBatch(
                id,
                Long.MIN_VALUE,
                savepoint,
                new ArrayDeque<>(Collections.singleton(new CommitBatch.Entry(0, 0, report))));
    }
}
