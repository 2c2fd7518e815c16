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
import org.apache.paimon.shade.caffeine2.com.github.benmanes.caffeine.cache.Caffeine;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CountingFileIO;
import org.apache.paimon.utils.SnapshotManager;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Searches in tables whose snapshots are real where it matters, and written straight into the
 * snapshot directory where there have to be many.
 */
class OwnSnapshotsTest {

    private static final String ME = "job-me";
    private static final String OTHER = "job-other";

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private SnapshotManager snapshots;
    private OwnSnapshots own;

    /** What synthetic snapshots are copies of. */
    private Snapshot template;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
        snapshots = fixture.snapshotManager();
        own = new OwnSnapshots(snapshots, ME);
    }

    // ------------------------------------------------------------------------
    //  A7: how far has my commit user got?
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: a table without snapshots, and then with those of others, says nothing")
    void latestIdentifierIsEmptyForAUserWithoutCommits() throws Exception {
        assertThat(own.latestIdentifier()).isEmpty();
        assertThat(own.anchor()).isZero();

        fixture.commit(OTHER, 7, 1);

        assertThat(own.latestIdentifier()).isEmpty();
        assertThat(own.anchor()).isEqualTo(1);
    }

    @Test
    @DisplayName("A7: sees what another process commits with my commit user")
    void latestIdentifierSeesTheCommitsOfASuccessor() throws Exception {
        fixture.commit(ME, 3, 1);
        fixture.commit(OTHER, 9, 2);
        assertThat(own.latestIdentifier()).hasValue(3);

        fixture.commit(OTHER, 10, 3);
        assertThat(own.latestIdentifier()).hasValue(3);

        fixture.commit(ME, 4, 4);
        fixture.commit(ME, 5, 5);
        fixture.commit(OTHER, 11, 6);
        assertThat(own.latestIdentifier()).hasValue(5);
    }

    @Test
    @DisplayName("A7: without news the look before a commit reads the hint and no snapshot")
    void latestIdentifierReadsNewSnapshotsOnly() throws Exception {
        for (int i = 1; i <= 20; i++) {
            fixture.commit(i == 3 ? ME : OTHER, i, i);
        }
        assertThat(own.latestIdentifier()).hasValue(3);

        fixture.fileIO().reset();
        assertThat(own.latestIdentifier()).hasValue(3);
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(1);

        fixture.commit(OTHER, 21, 21);
        fixture.commit(OTHER, 22, 22);
        fixture.fileIO().reset();
        assertThat(own.latestIdentifier()).hasValue(3);
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(3);
    }

    @Test
    @DisplayName("A7: after a rollback of the table the removed snapshots do not count")
    void latestIdentifierForgetsWhatWasRolledBack() throws Exception {
        fixture.commit(ME, 3, 1);
        fixture.commit(ME, 4, 2);
        fixture.commit(ME, 5, 3);
        assertThat(own.latestIdentifier()).hasValue(5);

        fixture.table().rollbackTo(1);

        assertThat(own.latestIdentifier()).hasValue(3);
        assertThat(own.anchor()).isEqualTo(1);
    }

    @Test
    @DisplayName("A7: the first look ends where expiration has been")
    void latestIdentifierEndsAtTheEarliestSnapshot() throws Exception {
        fixture.commit(ME, 3, 1);
        for (int i = 4; i < 10; i++) {
            fixture.commit(OTHER, i, i);
        }
        fixture.expireAllBut(2);

        fixture.fileIO().reset();
        assertThat(own.latestIdentifier()).isEmpty();
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isLessThan(10);
    }

    // ------------------------------------------------------------------------
    //  T10: which snapshot is that of savepoint S?
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T10: finds the savepoint snapshot among those of other users")
    void findsAmongOtherUsersCommits() throws Exception {
        fixture.commit(OTHER, 5, 1);
        own.mark();
        assertThat(own.anchor()).isEqualTo(1);
        fixture.commit(OTHER, 6, 2);
        fixture.commit(ME, 4, 3);
        fixture.commit(OTHER, 7, 4);
        Snapshot savepoint = fixture.commit(ME, 5, 5);
        fixture.commit(OTHER, 8, 6);
        fixture.commit(ME, 6, 7);

        assertThat(own.findAfter(own.anchor(), 5)).contains(savepoint);
        assertThat(own.findAfter(0, 5)).contains(savepoint);
        assertThat(own.find(5)).contains(savepoint);
    }

    @Test
    @DisplayName("T10: another user's snapshot with the same identifier is not it")
    void neverFindsAnotherUsersSnapshot() throws Exception {
        fixture.commit(ME, 4, 1);
        fixture.commit(OTHER, 5, 2);
        fixture.commit(ME, 6, 3);

        assertThat(own.findAfter(0, 5)).isEmpty();
        assertThat(own.find(5)).isEmpty();
        assertThat(own.findAfter(0, 7)).isEmpty();
        assertThat(own.find(7)).isEmpty();
        assertThat(own.find(3)).isEmpty();
    }

    @Test
    @DisplayName("T10: a snapshot from before the anchor is not looked for")
    void looksBehindTheAnchorOnly() throws Exception {
        fixture.commit(ME, 5, 1);
        own.mark();
        fixture.commit(OTHER, 5, 2);

        assertThat(own.findAfter(own.anchor(), 5)).isEmpty();
    }

    @Test
    @DisplayName("T10: of several snapshots of one commit, the last one is the savepoint snapshot")
    void findsTheLastSnapshotOfOneIdentifier() throws Exception {
        fixture.commit(ME, 4, 1);
        fixture.commit(ME, 5, 2);
        fixture.commit(OTHER, 5, 3);
        Snapshot compacted = fixture.commit(ME, 5, 4);
        fixture.commit(OTHER, 6, 5);
        fixture.commit(ME, 6, 6);

        assertThat(own.findAfter(1, 5)).contains(compacted);
        assertThat(own.find(5)).contains(compacted);
    }

    @Test
    @DisplayName("T10: stops at the first own snapshot that is too late or too early")
    void stopsWhereIdentifiersSaySo() throws Exception {
        for (int i = 1; i <= 40; i++) {
            fixture.commit(ME, 2L * i, i);
        }

        fixture.fileIO().reset();
        assertThat(own.findAfter(10, 21)).isEmpty();
        assertThat(own.find(79)).isEmpty();
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(2 + 3); // the hint each; 11; 40 and 39
    }

    @Test
    @DisplayName("T10: a savepoint snapshot that has expired is not found, nor is another one")
    void expiredSnapshotIsNotFound() throws Exception {
        fixture.commit(ME, 5, 1);
        fixture.commit(OTHER, 1, 2);
        fixture.commit(OTHER, 2, 3);
        fixture.expireAllBut(1);

        assertThat(own.findAfter(0, 5)).isEmpty();
        assertThat(own.find(5)).isEmpty();
    }

    @Test
    @DisplayName("T10: an anchor that expired long ago leads to the earliest snapshot in one step")
    void skipsTheExpiredRangeWithoutProbing() throws Exception {
        manySnapshots(2_000);
        deleteSnapshots(1, 1_990);
        Snapshot savepoint = fixture.commit(ME, 5, 1);

        fixture.fileIO().reset();
        assertThat(own.findAfter(3, 5)).contains(savepoint);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isLessThan(20);
    }

    @Test
    @DisplayName("T10: survives an expiration under its feet, walking forward")
    void survivesExpirationWalkingForward() throws Exception {
        for (int i = 1; i <= 8; i++) {
            fixture.commit(OTHER, i, i);
        }
        Snapshot savepoint = fixture.commit(ME, 5, 9);
        beforeReading(3, () -> fixture.expireAllBut(2));

        assertThat(own.findAfter(0, 5)).contains(savepoint);
        assertThat(fixture.snapshots()).hasSize(2);
    }

    @Test
    @DisplayName("T10: survives an expiration under its feet, walking backward")
    void survivesExpirationWalkingBackward() throws Exception {
        fixture.commit(ME, 5, 9);
        for (int i = 1; i <= 8; i++) {
            fixture.commit(OTHER, i, i);
        }
        beforeReading(4, () -> fixture.expireAllBut(2));

        assertThat(own.find(5)).isEmpty();
        assertThat(fixture.snapshots()).hasSize(2);
    }

    @Test
    @DisplayName("T10: does not believe a cache that still has the expired snapshot")
    void doesNotBelieveTheCache() throws Exception {
        FileStoreTable cachingTable = fixture.table();
        cachingTable.setSnapshotCache(Caffeine.newBuilder().build());
        SnapshotManager caching = cachingTable.snapshotManager();
        fixture.commit(ME, 5, 1);
        fixture.commit(OTHER, 1, 2);
        caching.snapshot(1);
        deleteSnapshots(1, 1);
        assertThat(caching.tryGetSnapshot(1).commitUser()).as("the cache is stale").isEqualTo(ME);

        OwnSnapshots beforeTheCache = new OwnSnapshots(caching, ME);
        assertThat(beforeTheCache.find(5)).isEmpty();
        assertThat(beforeTheCache.findAfter(0, 5)).isEmpty();
        assertThat(beforeTheCache.latestIdentifier()).isEmpty();
    }

    @Test
    @DisplayName("T10: a hint that runs ahead of the files does not hide them")
    void survivesAHintThatRunsAhead() throws Exception {
        fixture.commit(OTHER, 1, 1);
        Snapshot savepoint = fixture.commit(ME, 5, 2);
        hint("LATEST", 6);

        assertThat(own.find(5)).contains(savepoint);
        assertThat(own.findAfter(0, 5)).contains(savepoint);
        assertThat(own.latestIdentifier()).hasValue(5);
    }

    @Tag("slow")
    @ParameterizedTest(name = "{0} snapshots")
    @ValueSource(ints = {10, 1_000, 10_000})
    @DisplayName("T10: file system calls do not grow with the age of the table")
    void callsDoNotGrowWithTheTable(int age) throws Exception {
        manySnapshots(age);
        own.mark();
        long anchor = own.anchor();
        Snapshot before = fixture.commit(ME, 4, 1);
        Snapshot savepoint = fixture.commit(ME, 5, 2);
        fixture.commit(OTHER, 1, 3);
        assertThat(before.id()).isEqualTo(age + 1);

        fixture.fileIO().reset();
        assertThat(own.findAfter(anchor, 5)).contains(savepoint);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 3);

        fixture.fileIO().reset();
        assertThat(own.find(5)).contains(savepoint);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 2);

        fixture.fileIO().reset();
        assertThat(own.latestIdentifier()).hasValue(5);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 2);

        fixture.fileIO().reset();
        assertThat(own.latestIdentifier()).hasValue(5);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2);
    }

    @Test
    @DisplayName("T10: gives up after a bounded number of reads in a table full of others")
    void readsAreBounded() throws Exception {
        manySnapshots(3_000);
        fixture.commit(ME, 5, 1);
        // far from the anchor, and far from the newest
        fixture.fileIO().reset();
        assertThat(own.findAfter(0, 5)).isEmpty();
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .isEqualTo(1 + OwnSnapshots.MAX_READS);

        OwnSnapshots impatient = new OwnSnapshots(snapshots, ME, 3);
        fixture.commit(OTHER, 1, 2);
        fixture.commit(OTHER, 2, 3);
        assertThat(impatient.find(5)).isPresent();
        fixture.commit(OTHER, 3, 4);
        assertThat(impatient.find(5)).isEmpty();
    }

    @Test
    @DisplayName("T10: what was found stays found when the bound is met afterwards")
    void theBoundDoesNotDiscardWhatWasFound() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 5, 1);
        for (int i = 0; i < 5; i++) {
            fixture.commit(OTHER, i, i);
        }

        assertThat(new OwnSnapshots(snapshots, ME, 3).findAfter(0, 5)).contains(savepoint);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 50})
    @DisplayName("T10: what others have committed since costs nothing once the snapshot is found")
    void othersBehindTheSavepointAreNotRead(int others) throws Exception {
        own.mark();
        Snapshot savepoint = fixture.commit(ME, 5, 1);
        for (int i = 1; i <= others; i++) {
            fixture.commit(OTHER, i, i);
        }

        fixture.fileIO().reset();
        assertThat(own.findAfter(own.anchor(), 5)).contains(savepoint);
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(1 + 1 + OwnSnapshots.MAX_READS_BEHIND); // hint, found, behind
    }

    @Test
    @DisplayName("T10: four snapshots before the anchor are read, whatever lies before them")
    void findsShortlyBeforeTheAnchor() throws Exception {
        fixture.commit(ME, 5, 1);
        for (int i = 2; i <= 5; i++) {
            fixture.commit(OTHER, i, i);
        }

        assertThat(own.findBefore(4, 5)).map(Snapshot::id).contains(1L);
        assertThat(own.findBefore(4, 6)).isEmpty();
        fixture.fileIO().reset();
        assertThat(own.findBefore(5, 5)).isEmpty();
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN)).isEqualTo(4);
    }

    @Test
    @DisplayName("bad input: a snapshot file that cannot be read is named")
    void namesTheUnreadableSnapshot() throws Exception {
        fixture.commit(ME, 5, 1);
        fixture.fileIO().overwriteFileUtf8(snapshots.snapshotPath(1), "{ \"version\" : ");

        assertThatThrownBy(() -> own.find(5))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(snapshots.snapshotPath(1).toString());
    }

    // ------------------------------------------------------------------------

    /** Fills a new table with snapshots of another user, without data. */
    private void manySnapshots(int count) throws Exception {
        template = fixture.commit(OTHER, 1, 1);
        for (int id = 2; id <= count; id++) {
            fixture.fileIO().writeFile(snapshots.snapshotPath(id), json(id), false);
        }
        hint("LATEST", count);
        hint("EARLIEST", 1);
        assertThat(snapshots.latestSnapshotIdFromFileSystem()).isEqualTo(count);
    }

    private String json(long id) {
        return new Snapshot(
                        id,
                        template.schemaId(),
                        template.baseManifestList(),
                        template.baseManifestListSize(),
                        template.deltaManifestList(),
                        template.deltaManifestListSize(),
                        null,
                        null,
                        null,
                        OTHER,
                        id,
                        Snapshot.CommitKind.APPEND,
                        template.timeMillis(),
                        1,
                        1,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null)
                .toJson();
    }

    private void deleteSnapshots(long first, long last) throws Exception {
        for (long id = first; id <= last; id++) {
            assertThat(fixture.fileIO().delete(snapshots.snapshotPath(id), false)).isTrue();
        }
        hint("EARLIEST", last + 1);
    }

    private void hint(String name, long id) throws Exception {
        fixture.fileIO()
                .overwriteFileUtf8(
                        new Path(snapshots.snapshotDirectory(), name), String.valueOf(id));
    }

    private void beforeReading(long id, ThrowingRunnable what) {
        Path path = snapshots.snapshotPath(id);
        fixture.fileIO()
                .hook(
                        (call, called) -> {
                            if (call == CountingFileIO.Call.OPEN && called.equals(path)) {
                                fixture.fileIO().clearHook();
                                try {
                                    what.run();
                                } catch (Exception e) {
                                    throw new IOException(e);
                                }
                            }
                        });
    }

    private interface ThrowingRunnable {

        void run() throws Exception;
    }
}
