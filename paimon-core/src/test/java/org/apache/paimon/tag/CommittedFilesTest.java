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

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

/** A4: which snapshots and tags are asked for the files of a commit, and when none holds them. */
class CommittedFilesTest {

    private static final String USER = "job";
    private static final List<CommitMessage> WRITTEN = Collections.emptyList();

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private final Holders holders = new Holders();

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
    }

    @Test
    @DisplayName("A4: the oldest snapshot shows that a commit is in the table")
    void inTheOldest() throws Exception {
        Snapshot oldest = fixture.commit(USER, 1, 1);
        fixture.commit(USER, 2, 2);
        holders.id = oldest.id();

        assertThat(areOrWereInTable(0)).isTrue();
    }

    @Test
    @DisplayName("A4: so does the newest, which a rollback may have brought back")
    void inTheNewest() throws Exception {
        fixture.commit(USER, 1, 1);
        Snapshot newest = fixture.commit(USER, 2, 2);
        holders.id = newest.id();

        assertThat(areOrWereInTable(0)).isTrue();
    }

    @Test
    @DisplayName("A4: a table with one snapshot is asked once, a table without one not at all")
    void asksNoSnapshotTwice() throws Exception {
        assertThat(areOrWereInTable(0)).isFalse();
        assertThat(holders.asked).isEmpty();
        fixture.commit(USER, 1, 1);

        assertThat(areOrWereInTable(0)).isFalse();
        assertThat(holders.asked).containsExactly(1L);
    }

    @Test
    @DisplayName("A4: tags count above the place where the commit can be, of whatever name")
    void inATag() throws Exception {
        Snapshot tagged = fixture.commit(USER, 1, 1);
        fixture.tagManager().createTag(tagged, "of-the-user", null, Collections.emptyList(), false);
        fixture.commit(USER, 2, 2);
        fixture.expireAllBut(1);
        holders.id = tagged.id();

        assertThat(areOrWereInTable(0)).isTrue();
        assertThat(areOrWereInTable(tagged.id())).as("the tag is older").isFalse();
    }

    @Test
    @DisplayName("A4: where neither holds the files, a missing one says that they were committed")
    void missing() throws Exception {
        fixture.commit(USER, 1, 1);
        fixture.commit(USER, 2, 2);
        assertThat(areOrWereInTable(0)).isFalse();
        holders.missing = new Path("data-file");

        assertThat(areOrWereInTable(0)).isTrue();
    }

    private boolean areOrWereInTable(long tagsAbove) throws Exception {
        return new CommittedFiles(
                        new CommitUserSnapshots(fixture.snapshotManager(), USER),
                        new SavepointTags(fixture.tagManager(), fixture.fileIO()),
                        holders)
                .areOrWereInTable(WRITTEN, tagsAbove);
    }

    /** Files that are in one snapshot, or in none, or do not exist. */
    private static final class Holders implements TableFiles {

        private final List<Long> asked = new ArrayList<>();
        private long id = -1;
        private Path missing;

        @Override
        public boolean anyIn(Snapshot snapshot, Collection<CommitMessage> files) {
            asked.add(snapshot.id());
            return snapshot.id() == id;
        }

        @Override
        public boolean anyRemovedBy(Snapshot snapshot, Collection<CommitMessage> files) {
            throw new AssertionError("not asked here");
        }

        @Override
        public boolean anyRemovedBy(Snapshot snapshot, Snapshot earlier) {
            throw new AssertionError("not asked here");
        }

        @Override
        public Optional<Path> missing(Collection<CommitMessage> files) {
            return Optional.ofNullable(missing);
        }
    }
}
