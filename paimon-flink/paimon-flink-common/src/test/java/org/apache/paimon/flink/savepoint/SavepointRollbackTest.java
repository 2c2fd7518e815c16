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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.Snapshot;

import org.apache.flink.types.Row;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Issue 13: how the snapshot of a savepoint is found, and what is refused. */
class SavepointRollbackTest {

    @TempDir private Path directory;

    private SavepointTable table;

    @BeforeEach
    void createTable() throws Exception {
        table = SavepointTable.create(directory);
    }

    private static List<String> details(Row[] rows, String item) {
        return SavepointTable.details(rows, item);
    }

    // ------------------------------------------------------------------------
    //  Finding
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("L1: of two tags for one id, the one that names the path is taken")
    void tagThatNamesThePathIsTaken() throws Exception {
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("right"));
        table.commitAndTag("me", "run 1", 4, "savepoint-4", "file:/elsewhere/savepoint", 1);
        table.commitAndTag("me", "run 2", 4, "savepoint-4-2", path, 2);
        table.fixture.commit("me", 5, 3);

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "snapshot_id")).containsExactly("2");
        assertThat(details(rows, "tag")).containsExactly("savepoint-4-2");
        assertThat(details(rows, "reason").get(0)).contains("names the path");
        assertThat(table.fixture.ids()).containsExactly(1, 2);
        assertThat(table.fixture.tags()).containsExactlyInAnyOrder("savepoint-4", "savepoint-4-2");
    }

    @Test
    @DisplayName("L1: slash, _metadata and a missing scheme make no other path")
    void pathIsTheSameHoweverItIsWritten() throws Exception {
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));
        table.commitAndTag("me", "run", 4, "savepoint-4", path, 1);
        String plain = table.directory("s").toString();
        for (String written :
                new String[] {plain, plain + "/", plain + "/_metadata", "file:" + plain, path}) {
            Row[] rows = table.rollback(written).dryRun().run();

            assertThat(details(rows, "reason").get(0)).as(written).contains("names the path");
        }
    }

    @Test
    @DisplayName("issue 13: a moved savepoint is found by its commit user and id")
    void movedSavepointIsFoundByItsId() throws Exception {
        Snapshot before = table.fixture.commitAs("me", "run", 3, 1);
        table.commitAndTag("me", "run", 4, "savepoint-4", "file:/old/place", 2);
        table.fixture.commitAs("me", "run", 5, 3);
        String path =
                new WrittenSavepoint(4)
                        .sink("me", table.progress(4, "run", 3, before, before))
                        .write(table.directory("moved"));

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "tag")).containsExactly("savepoint-4");
        assertThat(details(rows, "reason").get(0)).contains("for savepoint 4");
        assertThat(table.fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T5: of two courses with the same ids, the savepoint's own is taken")
    void snapshotOfTheCourseIsTaken() throws Exception {
        table.fixture.commitAs("me", "run 1", 1, 1);
        Snapshot shared = table.fixture.commitAs("me", "run 1", 2, 2);
        table.fixture.commitAs("me", "run 1", 3, 3);
        Snapshot last = table.fixture.commitAs("me", "run 1", 4, 4);
        table.fixture.commitAs("me", "run 2", 3, 5);
        table.fixture.commitAs("me", "run 2", 4, 6);
        table.fixture.commitAs("me", "run 2", 5, 7);
        String ofFirst =
                new WrittenSavepoint(4)
                        .sink("me", table.progress(4, "run 1", 2, shared, shared))
                        .write(table.directory("first"));
        String ofSecond =
                new WrittenSavepoint(4)
                        .sink("me", table.progress(4, "run 2", 2, last, shared))
                        .write(table.directory("second"));

        assertThat(details(table.rollback(ofFirst).dryRun().run(), "snapshot_id"))
                .containsExactly("4");
        assertThat(details(table.rollback(ofSecond).dryRun().run(), "snapshot_id"))
                .containsExactly("6");
    }

    @Test
    @DisplayName("issue 13: without a word on the course, two courses are not guessed at")
    void coursesAreNotGuessedAt() throws Exception {
        table.fixture.commit("me", 2, 1);
        table.fixture.commit("me", 4, 2);
        table.fixture.commit("me", 3, 3);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));

        assertThatThrownBy(() -> table.rollback(path).run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("snapshot 2 (identifier 4) and snapshot 3 (identifier 3)")
                .hasMessageContaining("sys.rollback_to");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L, 3L);

        String shared = new WrittenSavepoint(2).sink("me", null).write(table.directory("two"));
        assertThat(details(table.rollback(shared).dryRun().run(), "snapshot_id"))
                .containsExactly("1");
    }

    @Test
    @DisplayName("issue 13: a savepoint without data goes to the newest snapshot before it")
    void emptySavepointGoesToTheSnapshotBeforeIt() throws Exception {
        Snapshot own = table.fixture.commitAs("me", "run", 3, 1);
        table.fixture.commitAs("me", "run", 6, 2);
        String path =
                new WrittenSavepoint(5)
                        .sink("me", table.progress(5, "run", 4, own, own))
                        .write(table.directory("s"));

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "reason").get(0)).contains("its identifier is 3");
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("issue 13: a commit with a snapshot of its compaction is one course")
    void commitWithACompactionIsOneCourse() throws Exception {
        table.fixture.commit("me", 2, 1);
        table.fixture.commit("me", 3, 2);
        table.fixture.compact("me", 4);
        assertThat(table.fixture.snapshots())
                .extracting(Snapshot::commitIdentifier)
                .containsExactly(2L, 3L, 4L, 4L);
        table.fixture.commit("me", 5, 3);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));
        assertThat(details(table.rollback(path).dryRun().run(), "snapshot_id"))
                .containsExactly("4");
        table.table().createTag("savepoint-4", 3);

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "tag")).containsExactly("savepoint-4");
        assertThat(table.fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("issue 13: of two sinks the earliest snapshot, the rest is replayed")
    void earliestOfTwoSinks() throws Exception {
        Snapshot first = table.fixture.commitAs("one", "run", 3, 1);
        Snapshot second = table.fixture.commitAs("two", "run", 3, 2);
        table.fixture.commitAs("one", "run", 4, 3);
        table.fixture.commitAs("one", "run", 5, 4);
        table.fixture.commitAs("two", "run", 4, 5);
        String path =
                new WrittenSavepoint(4)
                        .sink("two", table.progress(4, "run", 3, second, second))
                        .sink("one", table.progress(4, "run", 3, second, first))
                        .write(table.directory("s"));

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "snapshot_id")).containsExactly("3");
        assertThat(details(rows, "passed_over").get(0)).contains("snapshot 5").contains("earliest");
        assertThat(table.fixture.ids()).containsExactly(1, 2, 3);
    }

    /** R2 would refuse the restore: what the busy sink had committed is not in the savepoint. */
    @Test
    @DisplayName("R2: the old snapshot of an idle sink is not too early for a busy one")
    void idleSinkDoesNotLeadBehindTheBusyOne() throws Exception {
        Snapshot idle = table.fixture.commitAs("idle", "run", 1, 1);
        Snapshot busy = table.fixture.commitAs("busy", "run", 3, 2);
        table.fixture.commitAs("busy", "run", 4, 3);
        table.fixture.commitAs("busy", "run", 5, 4);
        String path =
                new WrittenSavepoint(4)
                        .sink("idle", table.progress(4, "run", 3, busy, idle))
                        .sink("busy", table.progress(4, "run", 3, busy, busy))
                        .write(table.directory("s"));

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "snapshot_id")).containsExactly("3");
        assertThat(details(rows, "passed_over").get(0)).contains("snapshot 1").contains("behind");
        assertThat(table.fixture.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("issue 13: an expired snapshot comes back from its tag")
    void expiredSnapshotComesBackFromItsTag() throws Exception {
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));
        table.commitAndTag("me", "run", 4, "savepoint-4", path, 1);
        table.fixture.commit("me", 5, 2);
        table.fixture.commit("me", 6, 3);
        table.fixture.expireAllBut(1);
        assertThat(table.snapshotIds()).containsExactly(3L);

        table.rollback(path).run();

        assertThat(table.fixture.ids()).containsExactly(1);
        assertThat(table.snapshotIds()).containsExactly(1L);
    }

    @Test
    @DisplayName("issue 13: a table that is there already is left as it is")
    void tableThatIsThereAlreadyIsLeft() throws Exception {
        table.fixture.commit("me", 4, 1);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));

        Row[] rows = table.rollback(path).run();

        assertThat(details(rows, "result").get(0)).contains("there already");
        assertThat(details(rows, "notice").get(0)).contains("does not say which run");
        assertThat(table.snapshotIds()).containsExactly(1L);
    }

    // ------------------------------------------------------------------------
    //  Refusing
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("issue 13: a savepoint of another table names both, and changes nothing")
    void savepointOfAnotherTableIsRefused() throws Exception {
        table.fixture.commit("me", 4, 1);
        table.fixture.commit("me", 5, 2);
        String path = new WrittenSavepoint(4).sink("stranger", null).write(table.directory("s"));

        assertThatThrownBy(() -> table.rollback(path).force().run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("No sink of savepoint 4 at file:")
                .hasMessageContaining("db.t")
                .hasMessageContaining("stranger");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L);
    }

    @Test
    @DisplayName("issue 13: a table that was dropped and created again is another table")
    void tableThatWasCreatedAgainIsAnother() throws Exception {
        Snapshot old = table.fixture.commitAs("me", "run", 3, 1);
        String path =
                new WrittenSavepoint(4)
                        .sink("me", table.progress(4, "run", 3, old, old))
                        .write(table.directory("s"));
        table.fixture.dropTable();
        table.fixture.createTableAgain();
        table.fixture.commitAs("me", "run", 4, 2);
        table.fixture.commitAs("me", "run", 5, 3);

        assertThatThrownBy(() -> table.rollback(path).run())
                .hasMessageContaining("No sink of savepoint 4")
                .hasMessageContaining("of a table created at");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L);
    }

    @Test
    @DisplayName("issue 13: a snapshot with the savepoint's id that holds more than it is refused")
    void snapshotBehindOneThatHoldsMoreIsRefused() throws Exception {
        Snapshot before = table.fixture.commitAs("one", "run", 3, 1);
        table.fixture.commitAs("one", "run", 5, 2);
        table.fixture.commitAs("two", "run", 4, 3);
        Snapshot two = table.fixture.snapshots().get(2);
        String path =
                new WrittenSavepoint(4)
                        .sink("one", table.progress(4, "run", 3, before, before))
                        .sink("two", table.progress(4, "run", 3, before, two))
                        .write(table.directory("s"));

        assertThatThrownBy(() -> table.rollback(path).run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("holds more")
                .hasMessageContaining("snapshot 2 of commit user one");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L, 3L);
    }

    @Test
    @DisplayName("R2: what a committer operator had committed before is missing after a rollback")
    void rolledBackBehindTheAnchor() throws Exception {
        Snapshot first = table.fixture.commitAs("me", "run 1", 1, 1);
        Snapshot anchor = table.fixture.commitAs("me", "run 1", 2, 2);
        String path =
                new WrittenSavepoint(3)
                        .sink("me", table.progress(3, "run 1", -1, anchor, null))
                        .write(table.directory("s"));
        assertThat(details(table.rollback(path).dryRun().run(), "snapshot_id"))
                .containsExactly(String.valueOf(anchor.id()));
        table.table().rollbackTo(first.id());
        assertThatThrownBy(() -> table.rollback(path).force().run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is gone from table");
        table.fixture.commitAs("me", "run 2", 2, 3);
        table.fixture.commitAs("me", "run 2", 3, 4);

        assertThatThrownBy(() -> table.rollback(path).force().run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is gone from table");
        assertThat(table.fixture.ids()).containsExactly(1, 3, 4);
    }

    @Test
    @DisplayName("issue 13: snapshot and tag gone")
    void snapshotAndTagAreGone() throws Exception {
        Snapshot own = table.fixture.commitAs("me", "run", 4, 1);
        table.fixture.commitAs("me", "run", 5, 2);
        table.fixture.commitAs("me", "run", 6, 3);
        String path =
                new WrittenSavepoint(4)
                        .sink("me", table.progress(4, "run", 3, null, own))
                        .write(table.directory("s"));
        table.fixture.expireAllBut(1);

        assertThatThrownBy(() -> table.rollback(path).force().run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is gone from table")
                .hasMessageContaining("sys.savepoint_tags");
        assertThat(table.snapshotIds()).containsExactly(3L);
    }

    @Test
    @DisplayName("issue 13: an older tag is not taken for the snapshot that expired, but by force")
    void olderTagIsNotTakenForTheExpiredSnapshot() throws Exception {
        table.fixture.commit("me", 3, 1);
        table.table().createTag("savepoint-3", 1);
        table.fixture.commit("me", 4, 2);
        table.fixture.commit("me", 5, 3);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));
        table.fixture.expireAllBut(1);

        assertThatThrownBy(() -> table.rollback(path).run())
                .hasMessageContaining("directly above snapshot 1 have expired")
                .hasMessageContaining("force => true");
        assertThat(table.snapshotIds()).containsExactly(3L);
        table.rollback(path).force().run();
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("issue 13: commits of other users go by force only")
    void commitsOfOthersGoByForceOnly() throws Exception {
        table.fixture.commit("me", 4, 1);
        table.fixture.commit("other", 1, 2);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));

        assertThatThrownBy(() -> table.rollback(path).run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("snapshot 2 of other commit user other")
                .hasMessageContaining("force => true");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L);
        assertThat(details(table.rollback(path).dryRun().run(), "needs_force")).hasSize(1);
        assertThat(table.snapshotIds()).containsExactly(1L, 2L);

        Row[] rows = table.rollback(path).force().run();
        assertThat(details(rows, "result")).containsExactly("rolled back");
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("issue 13: tags of users go by force only, those of the job's savepoints without")
    void userTagsGoByForceOnly() throws Exception {
        table.fixture.commit("me", 4, 1);
        table.fixture.commit("me", 5, 2);
        table.table().createTag("savepoint-5", 2);
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));
        assertThat(details(table.rollback(path).dryRun().run(), "needs_force")).isEmpty();
        table.table().createTag("of-a-user", 2);

        assertThatThrownBy(() -> table.rollback(path).run())
                .hasMessageContaining("of-a-user on snapshot 2")
                .hasMessageContaining("force => true");
        assertThat(table.fixture.tags()).containsExactly("of-a-user", "savepoint-5");

        Row[] rows = table.rollback(path).force().run();
        assertThat(details(rows, "tag_going"))
                .containsExactly("of-a-user on snapshot 2", "savepoint-5 on snapshot 2");
        assertThat(table.fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("issue 13: a tag that cannot be read stops it, and is named")
    void unreadableTagIsNamed() throws Exception {
        table.fixture.commit("me", 4, 1);
        table.fixture.commit("me", 5, 2);
        table.fixture
                .fileIO()
                .overwriteFileUtf8(table.fixture.tagManager().tagPath("torn"), "{ \"version\"");
        String path = new WrittenSavepoint(4).sink("me", null).write(table.directory("s"));

        assertThatThrownBy(() -> table.rollback(path).run())
                .hasMessageContaining("[torn]")
                .hasMessageContaining("remove their files");
        assertThat(table.snapshotIds()).containsExactly(1L, 2L);
    }
}
