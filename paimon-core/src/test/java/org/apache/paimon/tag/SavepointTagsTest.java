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
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A4: the tags that are asked when snapshots have expired. */
class SavepointTagsTest {

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private SavepointTags tags;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
        tags = new SavepointTags(fixture.tagManager(), fixture.fileIO());
    }

    @Test
    @DisplayName("A4: a table that never had a tag has no directory for them, and none")
    void noTagDirectory() throws Exception {
        assertThat(fixture.fileIO().exists(fixture.tagManager().tagDirectory())).isFalse();

        assertThat(tags.savepointTags()).isEmpty();
        assertThat(tags.above(0)).isEmpty();
    }

    @Test
    @DisplayName("A4: savepoint tags of all users are read, and all tags above a snapshot")
    void readsTags() throws Exception {
        tag(fixture.commit("me", 1, 1), "savepoint-1");
        tag(fixture.commit("other", 2, 2), "savepoint-2");
        tag(fixture.commit("me", 3, 3), "of-a-user");

        assertThat(ids(tags.savepointTags())).containsExactlyInAnyOrder(1L, 2L);
        assertThat(ids(tags.above(1))).containsExactlyInAnyOrder(2L, 3L);
        assertThat(ids(tags.above(3))).isEmpty();
    }

    @Test
    @DisplayName("A4: a file that is no whole tag is left out, with its name in the log")
    void leavesTornTagsOut() throws Exception {
        tag(fixture.commit("me", 1, 1), "savepoint-1");
        tag(fixture.commit("me", 2, 2), "savepoint-2");
        Path torn = fixture.tagManager().tagPath("savepoint-2");
        String whole = fixture.fileIO().readFileUtf8(torn);
        for (String content : new String[] {"", whole.substring(0, whole.length() / 2)}) {
            fixture.fileIO().overwriteFileUtf8(torn, content);
            try (CapturedLog log = CapturedLog.of(SavepointTags.class)) {
                assertThat(ids(tags.savepointTags())).containsExactly(1L);
                assertThat(log.messages())
                        .singleElement()
                        .asString()
                        .startsWith("WARN")
                        .contains(torn.toString());
            }
            assertThat(ids(tags.above(0))).containsExactly(1L);
        }
        assertThat(fixture.fileIO().exists(torn)).as("nobody's to remove").isTrue();
    }

    @Test
    @DisplayName("A4: a tag that its owner deletes while they are read is left out in silence")
    void deletedMeanwhile() throws Exception {
        tag(fixture.commit("me", 1, 1), "savepoint-1");
        tag(fixture.commit("me", 2, 2), "savepoint-2");
        Path deleted = fixture.tagManager().tagPath("savepoint-2");
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            if (path.equals(deleted)) {
                                fixture.fileIO().clearHook();
                                fixture.fileIO().delete(deleted, false);
                            }
                        });
        try (CapturedLog log = CapturedLog.of(SavepointTags.class)) {
            assertThat(ids(tags.savepointTags())).containsExactly(1L);
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    @DisplayName("A4: a directory that cannot be listed is no empty one, and is named")
    void directoryCannotBeListed() throws Exception {
        tag(fixture.commit("me", 1, 1), "savepoint-1");
        String tagDirectory = fixture.tagManager().tagDirectory().toString();
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            throw new IOException("the store is away");
                        });

        assertThatThrownBy(() -> tags.savepointTags())
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining(tagDirectory)
                .hasMessageContaining("the store is away");
    }

    private void tag(Snapshot snapshot, String name) throws Exception {
        fixture.tagManager().createTag(snapshot, name, null, Collections.emptyList(), false);
    }

    private static List<Long> ids(List<Tag> tags) {
        return tags.stream().map(Tag::id).collect(Collectors.toList());
    }
}
