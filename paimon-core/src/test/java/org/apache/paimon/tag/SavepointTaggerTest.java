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

package org.apache.paimon.tag;

import org.apache.paimon.Snapshot;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.metastore.AddPartitionTagCallback;
import org.apache.paimon.partition.PartitionStatistics;
import org.apache.paimon.table.PartitionModification;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.tag.testutils.CountingFileIO;
import org.apache.paimon.tag.testutils.RecordingTagCallback;
import org.apache.paimon.utils.TagManager;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Savepoint tags on real tables. */
class SavepointTaggerTest {

    private static final String ME = "job-0f1e2d3c4b5a";
    private static final String OTHER = "job-998877665544";

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private TagManager tags;
    private final RecordingTagCallback.Factory callbacks = new RecordingTagCallback.Factory();
    private SavepointTagger tagger;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
        tags = fixture.tagManager();
        tagger = tagger(ME, callbacks, null);
    }

    @AfterEach
    void everyCallbackWasClosedOnceAndNotUsedAfterwards() {
        assertThat(callbacks.open()).isZero();
        assertThat(callbacks.journal())
                .noneMatch(
                        line -> line.contains("closed twice") || line.contains("although closed"));
    }

    // ------------------------------------------------------------------------
    //  Creation
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T9: the tag of savepoint S is savepoint-S, on its snapshot")
    void tagsTheSavepointSnapshot() throws Exception {
        fixture.commit(ME, 1, 1, 2);
        Snapshot savepoint = fixture.commit(ME, 2, 3);
        fixture.commit(ME, 3, 4);

        assertThat(tagger.createTag(2, savepoint)).contains("savepoint-2");

        assertThat(fixture.tags()).containsExactly("savepoint-2");
        assertThat(tags.getOrThrow("savepoint-2").trimToSnapshot()).isEqualTo(savepoint);
        assertThat(callbacks.journal()).containsExactly("created savepoint-2@2 #1");
        assertThat(tagger.statistics().created()).isEqualTo(1);
        assertThat(tagger.statistics().lastTagged()).isEqualTo(2);

        fixture.expireAllBut(1);
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2, 3);
        assertThat(fixture.ids()).containsExactly(1, 2, 3, 4);
    }

    @Test
    @DisplayName("T10: never tags a snapshot that is not that of the savepoint")
    void refusesAnotherSnapshot() throws Exception {
        Snapshot mine = fixture.commit(ME, 1, 1);
        Snapshot others = fixture.commit(OTHER, 2, 2);

        assertThatThrownBy(() -> tagger.createTag(2, mine))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Savepoint 2 of commit user job-0f1e2d3c4b5a was not committed as snapshot"
                                + " 1 of commit user job-0f1e2d3c4b5a with identifier 1, committed"
                                + " at %s.",
                        Instant.ofEpochMilli(mine.timeMillis()));
        assertThatThrownBy(() -> tagger.createTag(2, others))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("snapshot 2 of commit user job-998877665544");
        assertThatThrownBy(() -> tagger.deleteTag(2, mine))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Savepoint 2 of commit user job-0f1e2d3c4b5a was not");
        assertThat(fixture.tags()).isEmpty();
        assertThat(callbacks.journal()).isEmpty();
    }

    @Test
    @DisplayName("T4: an owned tag that exists already is left as it is, byte for byte")
    void leavesAnOwnedTagAlone() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger(ME, callbacks, Duration.ofDays(3)).createTag(1, savepoint);
        java.nio.file.Path file = local(tags.tagPath("savepoint-1"));
        byte[] before = Files.readAllBytes(file);
        FileTime modified = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(file, modified);

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");

        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(modified);
        assertThat(tagger.statistics().created()).isZero();
    }

    @Test
    @DisplayName("T4: an owned tag stays, and counts, although its snapshot has expired")
    void keepsAnOwnedTagWhoseSnapshotHasExpired() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        fixture.commit(ME, 2, 2);
        fixture.expireAllBut(1);

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");

        assertThat(tagger.statistics().snapshotsGone()).isZero();
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        // T6: nobody knows whether the callbacks heard of it
        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1@1 #1", "created savepoint-1@1 #2");
    }

    @Test
    @DisplayName("T6: tag.default-time-retained applies, and no retention means for good")
    void retentionApplies() throws Exception {
        tagger(ME, callbacks, Duration.ofDays(3)).createTag(1, fixture.commit(ME, 1, 1));
        tagger.createTag(2, fixture.commit(ME, 2, 2));

        assertThat(tags.getOrThrow("savepoint-1").getTagTimeRetained())
                .isEqualTo(Duration.ofDays(3));
        assertThat(tags.getOrThrow("savepoint-1").getTagCreateTime()).isNotNull();
        assertThat(tags.getOrThrow("savepoint-2").getTagTimeRetained()).isNull();
    }

    // ------------------------------------------------------------------------
    //  Collisions
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T5: a foreign tag of the name is not touched, and the savepoint tagged beside it")
    void goesRoundAForeignTag() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        tagger(OTHER, callbacks, null).createTag(1, others);
        byte[] before = Files.readAllBytes(local(tags.tagPath("savepoint-1")));
        callbacks.forget();
        Snapshot mine = fixture.commit(ME, 1, 2);

        try (CapturedLog log = CapturedLog.of(SavepointTagger.class)) {
            assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
            assertThat(log.messages())
                    .containsExactly(
                            "WARN The name savepoint-1 is taken: it exists on "
                                    + SnapshotIdentity.of(others)
                                    + ". That is left alone; savepoint 1 on "
                                    + SnapshotIdentity.of(mine)
                                    + " needs another name.");
        }

        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-1-2");
        assertThat(Files.readAllBytes(local(tags.tagPath("savepoint-1")))).isEqualTo(before);
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1, 2);
        assertThat(callbacks.journal()).containsExactly("created savepoint-1-2@2 #2");
        assertThat(tagger.statistics().collisions()).isEqualTo(1);
        assertThat(tagger.statistics().created()).isEqualTo(1);
    }

    @Test
    @DisplayName("T5: a tag on a later commit of my own is foreign as well")
    void ownershipNeedsTheIdentifierToo() throws Exception {
        Snapshot one = fixture.commit(ME, 1, 1);
        Snapshot two = fixture.commit(ME, 2, 2);
        tags.createTag(two, "savepoint-1", null, Collections.emptyList(), false);

        assertThat(tagger.deleteTag(1, one)).isFalse();
        assertThat(tagger.createTag(1, one)).contains("savepoint-1-1");
        assertThat(tagger.deleteTag(1, one)).isTrue();
        assertThat(fixture.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("T5, owned: an id used twice, after a restore from an older savepoint, is tagged")
    void idsUsedTwice() throws Exception {
        Snapshot earlier = earlierCourse();
        byte[] before = Files.readAllBytes(local(tags.tagPath("savepoint-4")));
        // the job is restored from savepoint 2, keeps its commit user, and takes another 4
        SavepointTagger restored = tagger(ME, callbacks, null);
        fixture.commit(ME, 3, 30);
        Snapshot later = fixture.commit(ME, 4, 40);

        assertThat(restored.createTag(4, later)).contains("savepoint-4-6");

        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4", "savepoint-4-6");
        assertThat(Files.readAllBytes(local(tags.tagPath("savepoint-4")))).isEqualTo(before);
        assertThat(tags.getOrThrow("savepoint-4").trimToSnapshot()).isEqualTo(earlier);
        assertThat(tags.getOrThrow("savepoint-4-6").trimToSnapshot()).isEqualTo(later);
        assertThat(callbacks.journal()).containsExactly("created savepoint-4-6@6 #3");
        assertThat(restored.statistics().collisions()).isEqualTo(1);
        // T4: tried again, each finds its own
        assertThat(restored.createTag(4, later)).contains("savepoint-4-6");
        assertThat(restored.createTag(4, earlier)).contains("savepoint-4");
        assertThat(restored.statistics().created()).isEqualTo(1);
        assertThat(restored.statistics().collisions()).isEqualTo(1);
    }

    @Test
    @DisplayName("T5, owned: so is one whose earlier course was rolled back, under the same id too")
    void idsUsedTwiceAfterARollback() throws Exception {
        Snapshot earlier = earlierCourse();
        fixture.table().rollbackTo("savepoint-2");
        overwrite("savepoint-4", earlier); // a rollback of the base takes later tags with it
        fixture.commit(ME, 3, 30);
        Snapshot later = fixture.commit(ME, 4, 40);
        assertThat(later.id()).isEqualTo(earlier.id());
        assertThat(later.timeMillis()).isNotEqualTo(earlier.timeMillis());

        assertThat(tagger.createTag(4, later)).contains("savepoint-4-3");

        assertThat(fixture.idsAtTag("savepoint-4-3")).containsExactly(2, 30, 40);
        assertThat(tags.getOrThrow("savepoint-4").timeMillis()).isEqualTo(earlier.timeMillis());
        assertThat(tagger.deleteTag(4, later)).isTrue();
        assertThat(tags.getOrThrow("savepoint-4").timeMillis()).isEqualTo(earlier.timeMillis());
    }

    @Test
    @DisplayName("A1, owned: the abort of the second savepoint 4 leaves the tag of the first alone")
    void abortOfAnIdUsedTwice() throws Exception {
        Snapshot earlier = earlierCourse();
        fixture.commit(ME, 3, 30);
        Snapshot later = fixture.commit(ME, 4, 40);

        try (CapturedLog log = CapturedLog.of(SavepointTagger.class)) {
            assertThat(tagger.deleteTag(4, later)).isFalse();
            assertThat(log.messages())
                    .containsExactly(
                            "INFO savepoint-4 exists on "
                                    + SnapshotIdentity.of(earlier)
                                    + ". It is left alone: the aborted savepoint 4 was committed as "
                                    + SnapshotIdentity.of(later)
                                    + ".");
        }
        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4");
        tagger.createTag(4, later);
        assertThat(tagger.deleteTag(4, later)).isTrue();

        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4");
        assertThat(fixture.idsAtTag("savepoint-4")).containsExactly(2, 3, 4);
        assertThat(callbacks.journal())
                .containsExactly("created savepoint-4-6@6 #3", "deleted savepoint-4-6 #4");
    }

    /** Savepoint 2, checkpoint 3, savepoint 4 and checkpoint 5 of one job, both tagged. */
    private Snapshot earlierCourse() throws Exception {
        tagger.createTag(2, fixture.commit(ME, 2, 2));
        fixture.commit(ME, 3, 3);
        Snapshot savepoint = fixture.commit(ME, 4, 4);
        tagger.createTag(4, savepoint);
        fixture.commit(ME, 5, 5);
        callbacks.forget();
        return savepoint;
    }

    @Test
    @DisplayName("T5, T4: tried again, the tag beside the foreign one is found and left as it is")
    void goingRoundIsIdempotent() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        tagger(OTHER, callbacks, null).createTag(1, others);
        Snapshot mine = fixture.commit(ME, 1, 2);
        tagger.createTag(1, mine);

        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
        assertThat(tagger.statistics().created()).isEqualTo(1);
        assertThat(tagger.statistics().collisions()).isEqualTo(1);

        // also when the foreign one has gone meanwhile
        tagger(OTHER, callbacks, null).deleteTag(1, others);
        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
        assertThat(fixture.tags()).containsExactly("savepoint-1-2");
    }

    @ParameterizedTest(name = "commit user {0}, savepoint path {1}")
    @CsvSource({ME + ", file:/sp-1, 1", ME + ", file:/sp-2, 2", OTHER + ", file:/sp-1, 2"})
    @DisplayName("L1: a tag on a snapshot of the commit user with the savepoint's path is its tag")
    void ownedByItsPath(String commitUser, String path, int tagsAfterwards) throws Exception {
        Snapshot earlier = fixture.commitSavepoint(commitUser, "run-1", 1, path, 1);
        tags.createTag(earlier, "savepoint-1", null, Collections.emptyList(), false);
        Snapshot mine = fixture.commitSavepoint(ME, "run-1", 1, "file:/sp-1", 2);

        assertThat(tagger.createTag(1, mine))
                .contains(tagsAfterwards == 1 ? "savepoint-1" : "savepoint-1-2");

        assertThat(fixture.tags()).hasSize(tagsAfterwards);
        assertThat(fixture.idsAtTag("savepoint-1")).as("it stays as it is").containsExactly(1);
        assertThat(tagger.statistics().created()).isEqualTo(tagsAfterwards - 1);
    }

    @Test
    @DisplayName("T5: when both names are taken the call fails, names both and touches neither")
    void bothNamesTaken() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        for (String name : Arrays.asList("savepoint-1", "savepoint-1-2")) {
            tags.createTag(others, name, null, Collections.emptyList(), false);
        }
        Snapshot mine = fixture.commit(ME, 1, 2);

        assertThatThrownBy(() -> tagger.createTag(1, mine))
                .isInstanceOf(SavepointTagException.class)
                .hasMessage(
                        "Savepoint 1 on %s cannot be tagged: savepoint-1 exists on %s, and"
                                + " savepoint-1-2 exists on %s. Both are left alone. Rename or"
                                + " delete one of them.",
                        SnapshotIdentity.of(mine),
                        SnapshotIdentity.of(others),
                        SnapshotIdentity.of(others));
        assertThat(tagger.statistics().collisions()).isEqualTo(2);
        assertThat(tagger.statistics().failures()).isEqualTo(1);
        assertThat(tagger.statistics().lastTagged()).isEqualTo(-1);

        assertThat(tagger.deleteTag(1, mine)).isFalse();
        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-1-2");
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1);

        tags.deleteTag(
                "savepoint-1-2",
                fixture.table().store().newTagDeletion(),
                fixture.snapshotManager(),
                Collections.emptyList());
        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
    }

    @Test
    @DisplayName("T5: two jobs that create a tag of one name at once both end up tagged")
    void survivesALostRace() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        Snapshot mine = fixture.commit(ME, 1, 2);
        // the other one looked before we wrote, and writes after we did
        after(
                CountingFileIO.Call.CREATE,
                "tag-savepoint-1",
                () -> overwrite("savepoint-1", others));

        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");

        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1, 2);
    }

    // ------------------------------------------------------------------------
    //  Callbacks
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T6: every creation and every deletion has fresh callbacks, all of them closed")
    void callbacksAreFresh() throws Exception {
        for (int i = 1; i <= 3; i++) {
            tagger.createTag(i, fixture.commit(ME, i, i));
        }
        tagger.deleteTag(2, fixture.snapshots().get(1));
        tagger.deleteTag(3, fixture.snapshots().get(2));

        assertThat(callbacks.journal())
                .containsExactly(
                        "created savepoint-1@1 #1",
                        "created savepoint-2@2 #2",
                        "created savepoint-3@3 #3",
                        "deleted savepoint-2 #4",
                        "deleted savepoint-3 #5");
        assertThat(callbacks.open()).isZero();
    }

    @Test
    @DisplayName("T6: a callback that failed is called again, although the tag exists by then")
    void failedCallbackIsCalledAgain() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        callbacks.failNext(1);

        assertThatThrownBy(() -> tagger.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("creation of tag savepoint-1")
                .hasMessageContaining(RecordingTagCallback.class.getName())
                .hasRootCauseInstanceOf(RecordingTagCallback.CallbackFailure.class);
        assertThat(fixture.tags()).containsExactly("savepoint-1");

        // A8: the job is restarted, with a tagger of its own
        assertThat(tagger(ME, callbacks, null).createTag(1, savepoint)).contains("savepoint-1");

        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1@1 #1", "created savepoint-1@1 #2");
    }

    @Test
    @DisplayName("T6: so it is for the tag beside a foreign one")
    void failedCallbackOfASuffixedTagIsCalledAgain() throws Exception {
        tagger(OTHER, Collections::emptyList, null).createTag(1, fixture.commit(OTHER, 1, 1));
        Snapshot mine = fixture.commit(ME, 1, 2);
        callbacks.failNext(1);
        assertThatThrownBy(() -> tagger.createTag(1, mine))
                .hasMessageContaining("tag savepoint-1-2");

        tagger.createTag(1, mine);

        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1-2@2 #1", "created savepoint-1-2@2 #2");
    }

    @Test
    @DisplayName("T6: after a crash between tag file and callback, the callback is called")
    void callbackAfterACrashBehindTheTagFile() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tags.createTag(savepoint, "savepoint-1", null, Collections.emptyList(), false);

        tagger.createTag(1, savepoint);

        assertThat(callbacks.journal()).containsExactly("created savepoint-1@1 #1");
    }

    @Test
    @DisplayName("T6: one failing callback does not keep the others from being notified and closed")
    void failingCallbackDoesNotSilenceTheOthers() throws Exception {
        RecordingTagCallback.Factory second = new RecordingTagCallback.Factory();
        SavepointTagger both =
                tagger(
                        ME,
                        () -> {
                            List<TagCallback> all = new ArrayList<>(callbacks.get());
                            all.addAll(second.get());
                            return all;
                        },
                        null);
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        callbacks.failNext(1);
        second.failNext(1);

        assertThatThrownBy(() -> both.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));

        assertThat(second.journal()).containsExactly("created savepoint-1@1 #1");
        assertThat(second.open()).isZero();
    }

    @Test
    @DisplayName("T6, A7: a callback that is interrupted fails, and the thread stays interrupted")
    void interruptedCallback() throws Exception {
        TagCallback interrupted =
                new TagCallback() {
                    @Override
                    public void notifyCreation(String tag) {}

                    @Override
                    public void notifyDeletion(String tag) {}

                    @Override
                    public void close() throws InterruptedException {
                        throw new InterruptedException("interrupted by a callback");
                    }
                };
        SavepointTagger ending = tagger(ME, () -> Collections.singletonList(interrupted), null);
        Snapshot savepoint = fixture.commit(ME, 1, 1);

        assertThatThrownBy(() -> ending.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("interrupted by a callback");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("T6: no callbacks to be had is an error that names the tag")
    void callbacksThatCannotBeMade() throws Exception {
        SavepointTagger broken =
                tagger(
                        ME,
                        () -> {
                            throw new IllegalStateException("metastore is down");
                        },
                        null);
        Snapshot savepoint = fixture.commit(ME, 1, 1);

        assertThatThrownBy(() -> broken.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("tag savepoint-1")
                .hasMessageContaining("metastore is down");
    }

    @Test
    @DisplayName("T6: metastore.tag-to-partition hears of tags that were created and deleted")
    void tagToPartition() throws Exception {
        List<String> metastore = new ArrayList<>();
        SavepointTagger withMetastore =
                tagger(
                        ME,
                        () ->
                                Collections.singletonList(
                                        new AddPartitionTagCallback(
                                                new RecordedPartitions(metastore), "dt")),
                        null);
        Snapshot first = fixture.commit(ME, 1, 1);
        withMetastore.createTag(1, first);
        withMetastore.createTag(2, fixture.commit(ME, 2, 2));
        withMetastore.deleteTag(1, first);

        assertThat(metastore)
                .containsExactly(
                        "create [{dt=savepoint-1}]",
                        "close",
                        "create [{dt=savepoint-2}]",
                        "close",
                        "drop [{dt=savepoint-1}]",
                        "close");
    }

    // ------------------------------------------------------------------------
    //  Snapshots that go
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T10: a snapshot that is gone stays untagged, counted, and fails nothing")
    void snapshotGoneBefore() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        fixture.commit(ME, 2, 2);
        fixture.expireAllBut(1);

        assertThat(tagger.createTag(1, savepoint)).isEmpty();

        assertThat(fixture.tags()).isEmpty();
        assertThat(callbacks.journal()).isEmpty();
        assertThat(tagger.statistics().snapshotsGone()).isEqualTo(1);
    }

    @Test
    @DisplayName("T10: a snapshot that was not found is counted and logged, and no tag looked for")
    void snapshotNotFound() throws Exception {
        tagger.createTag(1, fixture.commit(ME, 1, 1));
        callbacks.forget();
        fixture.fileIO().reset();

        try (CapturedLog log = CapturedLog.of(SavepointTagger.class)) {
            tagger.snapshotGone(1);
            assertThat(log.messages()).hasSize(1);
            assertThat(log.messages().get(0))
                    .startsWith("WARN Savepoint 1 of commit user " + ME + " stays untagged");
        }

        assertThat(tagger.statistics().snapshotsGone()).isEqualTo(1);
        assertThat(fixture.fileIO().total()).isZero();
        assertThat(callbacks.journal()).isEmpty();
    }

    @Test
    @DisplayName("T10, A8: whether there is a tag is unknown, so the job fails and tries again")
    void tagCannotBeRead() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            if (call == CountingFileIO.Call.OPEN) {
                                throw new IOException("storage is away");
                            }
                        });

        assertThatThrownBy(() -> tagger.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Cannot read tag savepoint-1");
        assertThatThrownBy(() -> tagger.deleteTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Cannot read tag savepoint-1");

        fixture.fileIO().clearHook();
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
    }

    @Test
    @DisplayName("T10: a snapshot that expires while it is tagged stays untagged")
    void snapshotGoneMeanwhile() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        fixture.commit(ME, 2, 2);
        before(CountingFileIO.Call.CREATE, "tag-savepoint-1", () -> fixture.expireAllBut(1));

        assertThat(tagger.createTag(1, savepoint)).isEmpty();

        assertThat(fixture.snapshots()).hasSize(1);
        assertThat(fixture.tags()).isEmpty();
        assertThat(callbacks.journal()).isEmpty();
        assertThat(tagger.statistics().snapshotsGone()).isEqualTo(1);
        assertThat(tagger.statistics().created()).isZero();
        assertThat(fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T10: another snapshot under the same id, after a rollback, is not tagged")
    void snapshotReplacedAfterARollback() throws Exception {
        fixture.commit(OTHER, 1, 1);
        Snapshot savepoint = fixture.commit(ME, 1, 2);
        fixture.table().rollbackTo(1);
        assertThat(fixture.commit(OTHER, 2, 3).id()).isEqualTo(savepoint.id());

        assertThat(tagger.createTag(1, savepoint)).isEmpty();

        assertThat(fixture.tags()).isEmpty();
        assertThat(tagger.statistics().snapshotsGone()).isEqualTo(1);
    }

    // ------------------------------------------------------------------------
    //  Deletion
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A1: deletes the owned tag, and its callbacks hear of it")
    void deletesAnOwnedTag() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        callbacks.forget();

        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(tagger.deleteTag(1, savepoint)).isFalse();

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1);
        assertThat(callbacks.journal()).containsExactly("deleted savepoint-1 #2");
        assertThat(tagger.statistics().deleted()).isEqualTo(1);
    }

    @Test
    @DisplayName("A1: deletes the files of an expired snapshot with its tag, and no others")
    void deletesTheTagOfAnExpiredSnapshot() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        fixture.commit(ME, 2, 2);
        fixture.expireAllBut(1);

        assertThat(tagger.deleteTag(1, savepoint)).isTrue();

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A1, T5: deletes the tag beside a foreign one, not the foreign one")
    void deletesItsOwnTagOnly() throws Exception {
        tagger(OTHER, callbacks, null).createTag(1, fixture.commit(OTHER, 1, 1));
        Snapshot mine = fixture.commit(ME, 1, 2);

        assertThat(tagger.deleteTag(1, mine)).isFalse();
        tagger.createTag(1, mine);
        assertThat(tagger.deleteTag(1, mine)).isTrue();

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("A1: a callback that fails on a deletion fails the call; the tag is gone")
    void deletionCallbackFails() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        callbacks.failNext(1);

        assertThatThrownBy(() -> tagger.deleteTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("deletion of tag savepoint-1");
        assertThat(tagger.statistics().failures()).isEqualTo(1);

        assertThat(fixture.tags()).isEmpty();
        assertThat(tagger.deleteTag(1, savepoint)).isFalse();
    }

    @Test
    @DisplayName("A1: a tag that cannot be deleted is an error, where the base says nothing")
    void deletionFails() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        callbacks.forget();
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            if (call == CountingFileIO.Call.DELETE) {
                                throw new IOException("read-only storage");
                            }
                        });

        assertThatThrownBy(() -> tagger.deleteTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Cannot delete tag savepoint-1")
                .hasMessageContaining(tags.tagPath("savepoint-1").toString());
        assertThat(callbacks.journal()).isEmpty();

        fixture.fileIO().clearHook();
        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(callbacks.journal()).containsExactly("deleted savepoint-1 #2");
    }

    // ------------------------------------------------------------------------
    //  Bad input
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("bad input: a tag directory that cannot be written is named, with the tag")
    void tagDirectoryCannotBeWritten() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        java.nio.file.Path tagDirectory = local(tags.tagDirectory());
        Files.createFile(tagDirectory); // a file where the directory should be

        assertThatThrownBy(() -> tagger.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Cannot create tag savepoint-1 on snapshot 1")
                .hasMessageContaining(tags.tagDirectory().toString())
                .hasRootCauseInstanceOf(IOException.class);

        Files.delete(tagDirectory);
        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
    }

    @Test
    @DisplayName("bad input, A8: a tag that cannot be written now is created when tried again")
    void storageRefusesTheTag() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        before(
                CountingFileIO.Call.CREATE,
                "tag-savepoint-1",
                () -> {
                    throw new IOException("quota exceeded");
                });

        assertThatThrownBy(() -> tagger.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("quota exceeded")
                .hasMessageContaining("savepoint-1");
        assertThat(callbacks.journal()).isEmpty();

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
    }

    @ParameterizedTest(name = "{0} characters behind the commit identifier")
    @ValueSource(ints = {1, 2, 60, Integer.MAX_VALUE})
    @DisplayName("A8: a tag file that is torn behind what only this tag holds is written anew")
    void tornTagIsWrittenAnew(int behind) throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        SavepointTagger retaining = tagger(ME, callbacks, Duration.ofDays(1));
        String whole = tagFile(retaining, savepoint);
        // the last character is the closing brace, which a torn file lacks
        String torn =
                whole.substring(
                        0, (int) Math.min((long) unique(whole) + behind, whole.length() - 2));
        overwrite("savepoint-1", torn);
        callbacks.forget();

        assertThat(retaining.createTag(1, savepoint)).contains("savepoint-1");

        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(retaining.statistics().collisions()).isZero();
        assertThat(callbacks.journal()).containsExactly("created savepoint-1@1 #2");

        // A1: so it is taken away when the savepoint is aborted
        overwrite("savepoint-1", torn);
        assertThat(retaining.deleteTag(1, savepoint)).isFalse();
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A8: a torn tag file that cannot be removed fails the call, with both reasons")
    void tornTagThatCannotBeRemoved() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        String whole = tagFile(tagger, savepoint);
        overwrite("savepoint-1", whole.substring(0, whole.length() - 2));
        before(
                CountingFileIO.Call.DELETE,
                "tag-savepoint-1",
                () -> {
                    throw new IOException("the storage refuses");
                });

        assertThatThrownBy(() -> tagger.createTag(1, savepoint))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Cannot read tag savepoint-1")
                .satisfies(
                        e ->
                                assertThat(e.getSuppressed())
                                        .singleElement()
                                        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                                        .hasMessage("the storage refuses"));
        assertThat(tagger.statistics().failures()).isEqualTo(1);

        assertThat(tagger.createTag(1, savepoint)).as("called again").contains("savepoint-1");
    }

    @ParameterizedTest(name = "{0} characters before the end of the commit identifier")
    @ValueSource(ints = {0, 1, 30, 100, Integer.MAX_VALUE})
    @DisplayName("T5: an empty file, or one that breaks off too early, may be somebody else's")
    void fileThatBreaksOffTooEarlyIsLeftAlone(int before) throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        String whole = tagFile(tagger, savepoint);
        String torn = whole.substring(0, Math.max(0, unique(whole) - before));
        overwrite("savepoint-1", torn);

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1-1");

        assertThat(fixture.fileIO().readFileUtf8(tags.tagPath("savepoint-1"))).isEqualTo(torn);
        assertThat(tagger.statistics().collisions()).isEqualTo(1);
        assertThat(tags.getOrThrow("savepoint-1-1").trimToSnapshot()).isEqualTo(savepoint);
        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(fixture.fileIO().readFileUtf8(tags.tagPath("savepoint-1"))).isEqualTo(torn);
    }

    @Test
    @DisplayName("T5: somebody else who is just writing a tag of that name gets it written")
    void tagThatIsJustBeingWritten() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        Snapshot mine = fixture.commit(ME, 1, 2);
        String theirs = others.toJson();
        Path path = tags.tagPath("savepoint-1");

        Optional<String> created;
        try (PositionOutputStream out = fixture.fileIO().newOutputStream(path, false)) {
            created = tagger.createTag(1, mine); // finds an empty file
            out.write(theirs.getBytes(StandardCharsets.UTF_8));
        }

        assertThat(created).contains("savepoint-1-2");
        assertThat(tags.getOrThrow("savepoint-1").trimToSnapshot()).isEqualTo(others);
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T5: a torn tag of the other savepoint with this commit user and id is not mine")
    void tornTagOfAnIdUsedTwice() throws Exception {
        Snapshot earlier = fixture.commit(ME, 4, 4);
        String whole = tagFile(tagger, earlier);
        String torn = whole.substring(0, whole.length() - 2);
        overwrite("savepoint-4", torn);
        Snapshot later = fixture.commit(ME, 4, 40);

        assertThat(tagger.createTag(4, later)).contains("savepoint-4-2");

        assertThat(fixture.fileIO().readFileUtf8(tags.tagPath("savepoint-4"))).isEqualTo(torn);
    }

    /** Tags a snapshot and returns what the tag's file holds. */
    private String tagFile(SavepointTagger by, Snapshot savepoint) throws Exception {
        String name = by.createTag(savepoint.commitIdentifier(), savepoint).get();
        return fixture.fileIO().readFileUtf8(tags.tagPath(name));
    }

    /** Where the commit identifier ends in a tag's file: what is before is no proof. */
    private static int unique(String tagFile) {
        return tagFile.indexOf(',', tagFile.indexOf("\"commitIdentifier\""));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"no tag at all", "{ \"version\" : 3, \"uuid\" : \"somebody else's"})
    @DisplayName("T5: a file that is no tag is not touched, and its name is taken")
    void fileThatIsNoTag(String content) throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        Path path = tags.tagPath("savepoint-1");
        fixture.fileIO().writeFile(path, content, false);

        Optional<String> created = tagger.createTag(1, savepoint);
        assertThat(created).isPresent();
        assertThat(created.get()).startsWith("savepoint-1-");
        assertThat(tagger.statistics().collisions()).isEqualTo(1);
        assertThat(fixture.idsAtTag(created.get())).containsExactly(1);
        // again, as after a crash
        assertThat(tagger.createTag(1, savepoint)).isEqualTo(created);

        // A1: its owner is unknown, so only the other one is ours
        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(fixture.fileIO().readFileUtf8(path)).isEqualTo(content);

        Files.delete(local(path));
        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
    }

    @Test
    @DisplayName("T10: tagging costs the same number of file system calls in a table of any age")
    void costOfATag() throws Exception {
        for (int i = 1; i <= 30; i++) {
            Snapshot savepoint = fixture.commit(ME, i, i);
            fixture.fileIO().reset();
            tagger.createTag(i, savepoint);
            assertThat(fixture.fileIO().total())
                    .as(fixture.fileIO().log())
                    .isLessThanOrEqualTo(COST_OF_A_TAG);
        }
        assertThatCode(() -> fixture.idsAtTag("savepoint-30")).doesNotThrowAnyException();
    }

    private static final long COST_OF_A_TAG = 11;

    // ------------------------------------------------------------------------

    private SavepointTagger tagger(
            String commitUser, Supplier<List<TagCallback>> callbacks, Duration timeRetained)
            throws Exception {
        return new SavepointTagger(
                commitUser,
                fixture.snapshotManager(),
                fixture.tagManager(),
                fixture.table().store()::newTagDeletion,
                callbacks,
                timeRetained,
                new SavepointTagStatistics());
    }

    private static java.nio.file.Path local(Path path) {
        return new File(path.toUri().getPath()).toPath();
    }

    private void overwrite(String tagName, Snapshot snapshot) throws Exception {
        overwrite(tagName, snapshot.toJson());
    }

    private void overwrite(String tagName, String content) throws Exception {
        Files.write(local(tags.tagPath(tagName)), content.getBytes(StandardCharsets.UTF_8));
    }

    /** Lets something happen right before the first such call. */
    private void before(CountingFileIO.Call wanted, String fileName, ThrowingRunnable what) {
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            if (call == wanted && path.getName().equals(fileName)) {
                                fixture.fileIO().clearHook();
                                run(what);
                            }
                        });
    }

    /** Lets something happen right before whatever comes after the first such call. */
    private void after(CountingFileIO.Call wanted, String fileName, ThrowingRunnable what) {
        before(wanted, fileName, () -> fixture.fileIO().hook((call, path) -> once(what)));
    }

    private void once(ThrowingRunnable what) throws IOException {
        fixture.fileIO().clearHook();
        run(what);
    }

    private static void run(ThrowingRunnable what) throws IOException {
        try {
            what.run();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private interface ThrowingRunnable {

        void run() throws Exception;
    }

    private static final class RecordedPartitions implements PartitionModification {

        private final List<String> calls;

        private RecordedPartitions(List<String> calls) {
            this.calls = calls;
        }

        @Override
        public void createPartitions(List<Map<String, String>> partitions) {
            calls.add("create " + partitions);
        }

        @Override
        public void dropPartitions(List<Map<String, String>> partitions) {
            calls.add("drop " + partitions);
        }

        @Override
        public void alterPartitions(List<PartitionStatistics> partitions) {
            calls.add("alter " + partitions);
        }

        @Override
        public void close() {
            calls.add("close");
        }
    }
}
