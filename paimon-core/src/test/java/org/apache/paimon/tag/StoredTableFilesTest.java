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
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/** A4: files of real tables, with and without partitions. */
class StoredTableFilesTest {

    private static final String USER = "me";

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private TableFiles files;

    private void create(boolean partitioned) throws Exception {
        fixture =
                partitioned
                        ? AppendTableFixture.createPartitioned(directory)
                        : AppendTableFixture.create(directory);
        files = fixture.files();
    }

    @ParameterizedTest(name = "partitioned {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName("A4: files are in the snapshot that added them and in later ones, not before")
    void anyInASnapshot(boolean partitioned) throws Exception {
        create(partitioned);
        List<CommitMessage> written = fixture.write(USER, 2, 3, 4);
        Snapshot before = fixture.commit(USER, 1, 1, 2);
        assertThat(files.anyIn(before, written)).isFalse();
        Snapshot own = fixture.commitAs(USER, "run", 2, written);
        Snapshot after = fixture.commit("other", 1, 5);

        assertThat(files.anyIn(before, written)).isFalse();
        assertThat(files.anyIn(own, written)).isTrue();
        assertThat(files.anyIn(after, written)).isTrue();
        assertThat(files.anyIn(after, written.subList(0, 1))).isTrue();
        assertThat(files.anyIn(after, fixture.write(USER, 3, 6))).isFalse();
        assertThat(files.anyIn(after, Collections.emptyList())).isFalse();
    }

    @ParameterizedTest(name = "partitioned {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "A4: files that a compaction has rewritten are not in its snapshot, but removed by it")
    void compaction(boolean partitioned) throws Exception {
        create(partitioned);
        Snapshot first = fixture.commit(USER, 1, 1);
        List<CommitMessage> written = fixture.write(USER, 2, 1);
        Snapshot own = fixture.commitAs(USER, "run", 2, written);
        List<CommitMessage> never = fixture.write(USER, 3, 1);
        Snapshot compacted = fixture.compact("compactor", 1);

        assertThat(fixture.ids()).containsExactly(1, 1);
        assertThat(files.anyIn(compacted, written)).isFalse();
        assertThat(files.anyRemovedBy(compacted, written)).isTrue();
        assertThat(files.anyRemovedBy(compacted, never)).isFalse();
        assertThat(files.anyRemovedBy(own, written)).isFalse();
        assertThat(files.anyRemovedBy(compacted, own)).isTrue();
        assertThat(files.anyRemovedBy(compacted, first)).isTrue();
        assertThat(files.anyRemovedBy(own, first)).isFalse();
    }

    @ParameterizedTest(name = "partitioned {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName("A4: rollback_to_as_latest removes what was committed after its target")
    void rollbackToAsLatest(boolean partitioned) throws Exception {
        create(partitioned);
        Snapshot kept = fixture.commit(USER, 1, 1);
        fixture.tagManager().createTag(kept, "kept", null, Collections.emptyList(), false);
        List<CommitMessage> written = fixture.write(USER, 2, 2);
        Snapshot undone = fixture.commitAs(USER, "run", 2, written);
        Snapshot rollback = fixture.rollbackToAsLatest("kept");

        assertThat(fixture.ids()).containsExactly(1);
        assertThat(files.anyIn(rollback, written)).isFalse();
        assertThat(files.anyRemovedBy(rollback, written)).isTrue();
        assertThat(files.anyRemovedBy(rollback, undone)).isTrue();
        assertThat(files.anyRemovedBy(rollback, kept)).isFalse();
    }

    @ParameterizedTest(name = "partitioned {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName("A4: a file that does not exist any more is named, while all exist there is none")
    void missingFiles(boolean partitioned) throws Exception {
        create(partitioned);
        fixture.commit(USER, 1, 1, 2);
        List<CommitMessage> written = fixture.write(USER, 2, 1, 2);
        assertThat(files.missing(written)).isEmpty();
        assertThat(files.missing(Collections.emptyList())).isEmpty();
        fixture.commitAs(USER, "run", 2, written);
        fixture.compact("compactor", 1);
        assertThat(files.missing(written)).as("still in an older snapshot").isEmpty();
        fixture.commit("other", 1, 3);
        fixture.expireAllBut(1);

        Optional<Path> missing = files.missing(written);
        assertThat(missing).isPresent();
        assertThat(fixture.fileIO().exists(missing.get())).isFalse();
        assertThat(missing.get().toString()).contains("/bucket-0/data-");
    }
}
