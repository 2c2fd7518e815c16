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

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** Issue 13: the list of savepoint tags, and which of them are dropped. */
class SavepointTagsTest {

    @TempDir private Path directory;

    private SavepointTable table;

    @BeforeEach
    void createTable() throws Exception {
        table = SavepointTable.create(directory);
    }

    /** First to third: there, directory gone, directory without metadata. */
    private void threeSavepoints() throws Exception {
        String there = new WrittenSavepoint(1).write(table.directory("there"));
        table.commitAndTag("me", "run", 1, "savepoint-1", there, 1);
        String gone = table.directory("gone").toUri().toString();
        table.commitAndTag("me", "run", 2, "savepoint-2", gone, 2);
        Files.createDirectories(table.directory("empty"));
        String empty = table.directory("empty").toUri().toString();
        table.commitAndTag("me", "run", 3, "savepoint-3", empty, 3);
    }

    private static Map<String, String> byTag(Row[] rows, int field) {
        Map<String, String> byTag = new TreeMap<>();
        for (Row row : rows) {
            byTag.put(String.valueOf(row.getField(0)), String.valueOf(row.getField(field)));
        }
        return byTag;
    }

    // ------------------------------------------------------------------------
    //  sys.savepoint_tags
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("issue 13, L1: a tag is listed with all that is known of its savepoint")
    void tagIsListedWithItsSavepoint() throws Exception {
        String path = new WrittenSavepoint(4).write(table.directory("s"));
        Snapshot snapshot = table.commitAndTag("me", "run", 4, "savepoint-4", path, 1);
        table.table().deleteTag("savepoint-4");
        table.table().createTag("savepoint-4", snapshot.id(), Duration.ofDays(7));

        Row[] rows = new SavepointTagList(table.table()).rows();

        assertThat(rows).hasSize(1);
        LocalDateTime created =
                table.fixture.tagManager().getOrThrow("savepoint-4").getTagCreateTime();
        assertThat(rows[0])
                .isEqualTo(
                        Row.of(
                                "savepoint-4",
                                1L,
                                4L,
                                "me",
                                "job of run",
                                path,
                                "true",
                                created,
                                "PT168H"));
    }

    @Test
    @DisplayName("issue 13, T5: both names of a savepoint's tag are listed, tags of users are not")
    void tagsOfUsersAreLeftOut() throws Exception {
        table.fixture.commit("me", 4, 1);
        table.fixture.commit("other", 4, 2);
        for (String name :
                new String[] {"savepoint-4", "of-a-user", "savepoint-x", "savepoint-7"}) {
            table.table().createTag(name, 1);
        }
        table.table().createTag("savepoint-4-2", 2);
        table.table().createTag("savepoint-4-9", 2);

        assertThat(byTag(new SavepointTagList(table.table()).rows(), 6))
                .containsOnlyKeys("savepoint-4", "savepoint-4-2")
                .containsValue("unknown");
    }

    @Test
    @DisplayName("issue 13: the base keeps no time of creation of a tag that is kept for ever")
    void timeOfCreationIsThatOfTheFile() throws Exception {
        LocalDateTime before = LocalDateTime.now().minusSeconds(10);
        table.fixture.commit("me", 4, 1);
        table.table().createTag("savepoint-4", 1);

        Row row = new SavepointTagList(table.table()).rows()[0];

        assertThat((LocalDateTime) row.getField(7))
                .isBetween(before, LocalDateTime.now().plusSeconds(10));
        assertThat(row.getField(8)).isNull();
    }

    @Test
    @DisplayName("issue 13: metadata is there, gone, or cannot be looked at")
    void presenceOfTheMetadata() throws Exception {
        threeSavepoints();
        table.commitAndTag(
                "me", "run", 4, "savepoint-4", ForbiddenFileSystem.SCHEME + "://host/s", 4);
        table.fixture.commit("me", 5, 5);
        table.table().createTag("savepoint-5", 5);
        table.fixture
                .fileIO()
                .overwriteFileUtf8(table.fixture.tagManager().tagPath("savepoint-6"), "{");

        assertThat(byTag(new SavepointTagList(table.table()).rows(), 6))
                .containsEntry("savepoint-1", "true")
                .containsEntry("savepoint-2", "false")
                .containsEntry("savepoint-3", "false")
                .containsEntry("savepoint-4", "unknown")
                .containsEntry("savepoint-5", "unknown")
                .containsEntry("savepoint-6", "unknown");
    }

    // ------------------------------------------------------------------------
    //  sys.expire_savepoint_tags
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("issue 13: a dry run drops nothing and says what it would drop")
    void dryRunDropsNothing() throws Exception {
        threeSavepoints();

        Row[] rows = SavepointTagExpiration.dryRun(table.table(), null).run();

        assertThat(byTag(rows, 3))
                .containsEntry("savepoint-1", "kept")
                .containsEntry("savepoint-2", "would be dropped")
                .containsEntry("savepoint-3", "kept")
                .containsEntry("null", "notice");
        assertThat(byTag(rows, 4).get("null")).contains("moved looks like one that is gone");
        assertThat(table.fixture.tags())
                .containsExactly("savepoint-1", "savepoint-2", "savepoint-3");
    }

    @Test
    @DisplayName("issue 13, L2: a savepoint that may still be being taken keeps its tag")
    void onlyTheTagOfTheGoneSavepointIsDropped() throws Exception {
        threeSavepoints();

        Row[] rows = SavepointTagExpiration.of(table.table(), null).run();

        assertThat(byTag(rows, 3)).containsEntry("savepoint-2", "dropped");
        assertThat(byTag(rows, 4).get("savepoint-3")).contains("still be being taken");
        assertThat(table.fixture.tags()).containsExactly("savepoint-1", "savepoint-3");
    }

    @Test
    @DisplayName("issue 13: older_than decides for a directory without metadata, too")
    void olderThan() throws Exception {
        threeSavepoints();
        SavepointTagExpiration.of(table.table(), LocalDateTime.now().minusHours(1)).run();
        assertThat(table.fixture.tags())
                .containsExactly("savepoint-1", "savepoint-2", "savepoint-3");

        SavepointTagExpiration.of(table.table(), LocalDateTime.now().plusHours(1)).run();
        assertThat(table.fixture.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("issue 13: without a path, or with one that cannot be looked at, a tag stays")
    void doubtfulTagsStay() throws Exception {
        table.commitAndTag(
                "me", "run", 1, "savepoint-1", ForbiddenFileSystem.SCHEME + "://host/s", 1);
        table.fixture.commit("me", 2, 2);
        table.table().createTag("savepoint-2", 2);
        String elsewhere = table.directory("not-mounted").resolve("s").toUri().toString();
        table.commitAndTag("me", "run", 3, "savepoint-3", elsewhere, 3);
        table.table().createTag("of-a-user", 3);

        Row[] rows =
                SavepointTagExpiration.of(table.table(), LocalDateTime.now().plusHours(1)).run();

        assertThat(byTag(rows, 4).get("savepoint-1")).contains("cannot be looked at");
        assertThat(byTag(rows, 4).get("savepoint-2")).contains("names no path");
        assertThat(byTag(rows, 4).get("savepoint-3")).contains("not there either");
        assertThat(table.fixture.tags())
                .containsExactly("of-a-user", "savepoint-1", "savepoint-2", "savepoint-3");
    }
}
