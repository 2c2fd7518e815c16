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
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.OwnSnapshots;
import org.apache.paimon.tag.SavepointTagException;
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CountingFileIO.Call;
import org.apache.paimon.tag.testutils.RecordingTagCallback;

import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

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
    private SavepointTagger tagger;
    private SavepointTaggingCommitter committer;

    private void start() throws Exception {
        fixture = AppendTableFixture.create(directory, options);
        open(SavepointTaggingCommitter.RestoredTags.ANY);
    }

    private void restart(SavepointTaggingCommitter.RestoredTags restoredTags) throws Exception {
        hooks.clear();
        committer.close();
        stateStore = new MemoryBackendStateStore(stateStore.getSerializedStates());
        open(restoredTags);
    }

    private void open(SavepointTaggingCommitter.RestoredTags restoredTags) throws Exception {
        FileStoreTable table = fixture.table();
        tagger =
                new SavepointTagger(
                        USER,
                        table.snapshotManager(),
                        table.tagManager(),
                        () -> table.store().newTagDeletion(),
                        callbacks,
                        null);
        committer =
                new SavepointTaggingCommitter(
                        new HookedCommitter(storeCommitter(table), hooks),
                        new OwnSnapshots(table.snapshotManager(), USER),
                        tagger,
                        restoredTags,
                        stateStore);
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
        OwnSnapshots own = new OwnSnapshots(fixture.snapshotManager(), USER);
        try (StoreCommitter plain = storeCommitter(fixture.table())) {
            plain.commit(Arrays.asList(committable(1, 1, 2), committable(2, 3)));
        }

        assertThat(own.find(1)).isEmpty();
        assertThat(own.findAfter(0, 1)).isEmpty();
        assertThat(own.find(2)).isPresent();
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
        committer.snapshotState();
        callbacks.failNext(1);
        committer.savepoint(1);
        ManifestCommittable savepoint = committable(1, 1);
        assertThatThrownBy(() -> committer.commit(Collections.singletonList(savepoint)))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("savepoint-1");
        assertThat(fixture.tags()).containsExactly("savepoint-1");

        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1@1 #1", "created savepoint-1@1 #2");
        assertThat(callbacks.open()).isZero();
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
    @DisplayName("T8: a savepoint without a committable is settled without a tag")
    void settlesEmptySavepoints() throws Exception {
        start();
        committer.savepoint(1);
        committer.savepoint(3);
        committer.commit(Collections.singletonList(committable(2, 2)));
        committer.settle(2);

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
    @DisplayName(
            "T10: a restored committer does not read what others committed after the savepoint")
    void looksForwardFromTheRestoredAnchor() throws Exception {
        start();
        committer.snapshotState();
        committer.commit(Arrays.asList(committable(1, 1_000), committable(2, 1_001)));
        for (int i = 0; i < 60; i++) {
            fixture.commit("another-job", i, i);
        }
        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        fixture.fileIO().reset();
        committer.tagCommitted();

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.fileIO().count(Call.OPEN)).isLessThan(20);
    }

    @Test
    @DisplayName("T10: a restored savepoint whose snapshot is gone stays untagged, and is counted")
    void restoredSnapshotGone() throws Exception {
        start();
        ManifestCommittable savepoint = committable(1, 1);
        committer.commit(Arrays.asList(savepoint, committable(2, 2)));
        fixture.expireAllBut(1);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).isEmpty();
        assertThat(tagger.statistics().snapshotsGone()).isEqualTo(1);
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("T8: what was committed elsewhere is tagged, what was not stays pending")
    void tagsCommittedOnly() throws Exception {
        start();
        committer.commit(Collections.singletonList(committable(1, 1)));
        committer.savepoint(1);
        committer.savepoint(2);
        committer.tagCommitted();

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(committer.pendingSavepoints()).containsExactly(2L);
        assertThat(tagger.statistics().snapshotsGone()).isZero();
    }

    @Test
    @DisplayName("A4: a commit without its tag gets it after the restore, any number of times")
    void tagsWhatWasCommitted() throws Exception {
        start();
        committer.snapshotState();
        ManifestCommittable savepoint = committable(1, 1);
        ManifestCommittable next = committable(2, 2);
        hooks.after(
                identifier -> {
                    throw new IOException("crash");
                });
        committer.savepoint(1);
        assertThatThrownBy(() -> committer.commit(Arrays.asList(savepoint, next)))
                .hasMessage("crash");
        assertThat(fixture.tags()).isEmpty();

        for (int i = 0; i < 2; i++) {
            restart(SavepointTaggingCommitter.RestoredTags.MARKED);
            committer.savepoint(1);
            committer.filterAndCommit(Arrays.asList(savepoint, next), true, false);

            assertThat(identifiers()).containsExactly(1L, 2L);
            assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        }
        assertThat(tagger.statistics().created()).isZero();
    }

    @Test
    @DisplayName("A3: on the coordinator path a snapshot without the property gets no tag")
    void doesNotTagUnmarkedSnapshots() throws Exception {
        start();
        committer.snapshotState();
        ManifestCommittable broken = committable(1, 1);
        committer.commit(Collections.singletonList(broken));

        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(broken), true, false);
        assertThat(fixture.tags()).isEmpty();
        assertThat(committer.pendingSavepoints()).isEmpty();

        // One committer operator reports for all: there a cut is always complete.
        restart(SavepointTaggingCommitter.RestoredTags.ANY);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(broken), true, false);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("T4: a savepoint that was tagged before the restored checkpoint keeps its tag")
    void replayOfATaggedSavepoint() throws Exception {
        start();
        ManifestCommittable savepoint = committable(1, 1);
        committer.savepoint(1);
        committer.commit(Arrays.asList(savepoint, committable(2, 2)));
        committer.snapshotState();
        fixture.expireAllBut(1);

        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(committer.pendingSavepoints()).isEmpty();
    }

    @Test
    @DisplayName("T1: a savepoint without its tag is found also before the restored anchor")
    void untaggedBeforeTheAnchor() throws Exception {
        start();
        ManifestCommittable savepoint = committable(1, 1);
        hooks.after(
                identifier -> {
                    throw new IOException("crash");
                });
        committer.savepoint(1);
        assertThatThrownBy(() -> committer.commit(Collections.singletonList(savepoint)))
                .hasMessage("crash");
        committer.snapshotState();

        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(savepoint), true, false);

        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("T10: the restored anchor spares the search: reads do not grow with the table")
    void looksBehindTheAnchor() throws Exception {
        start();
        for (int i = 0; i < 60; i++) {
            fixture.commit("another-job", i, i);
        }
        committer.snapshotState();
        ManifestCommittable savepoint = committable(1, 1_000);
        committer.savepoint(1);
        committer.commit(Collections.singletonList(savepoint));
        committer.abort(1);

        restart(SavepointTaggingCommitter.RestoredTags.MARKED);
        committer.savepoint(1);
        committer.filterAndCommit(Collections.singletonList(committable(1)), true, false);
        assertThat(fixture.tags()).containsExactly("savepoint-1");

        // Once more: what one look-up of a tagged savepoint reads.
        fixture.fileIO().reset();
        committer.savepoint(1);
        committer.tagCommitted();
        assertThat(fixture.fileIO().count(Call.OPEN)).isLessThan(10);
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
