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
import org.apache.paimon.tag.testutils.CapturedLog;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Looks at tables whose snapshots are real where it matters, and written straight into the snapshot
 * directory where there have to be many.
 */
class CommitUserSnapshotsTest {

    private static final String ME = "job-me";
    private static final String OTHER = "job-other";
    private static final String RUN = "run-1";

    @TempDir private File directory;

    private AppendTableFixture fixture;
    private SnapshotManager snapshots;
    private CommitUserSnapshots own;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
        snapshots = fixture.snapshotManager();
        own = new CommitUserSnapshots(snapshots, ME);
    }

    // ------------------------------------------------------------------------
    //  A7: what has appeared since the last look?
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: a table without snapshots shows nothing, and is not rolled back")
    void nothingAppearsInAnEmptyTable() {
        assertThat(own.look()).isEmpty();

        assertThat(own.rolledBack()).isFalse();
        assertThat(own.seen()).isEqualTo(SnapshotPosition.START);
        assertThat(own.newestOwn()).isNull();
        assertThat(own.head()).isEqualTo(SnapshotPosition.START);
        assertThat(own.oldest()).isEmpty();
        assertThat(own.newestOwnIdentifier()).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    @DisplayName("A7: a look shows what all users have committed since, each snapshot once")
    void lookShowsEachSnapshotOnce() throws Exception {
        Snapshot first = fixture.commit(OTHER, 9, 1);
        Snapshot mine = fixture.commitAs(ME, RUN, 3, 2);
        assertThat(own.look()).containsExactly(first, mine);
        assertThat(own.look()).isEmpty();

        Snapshot next = fixture.commit(OTHER, 10, 3);
        assertThat(own.look()).containsExactly(next);
        assertThat(own.missed()).as("none has expired").isFalse();
        assertThat(own.seen()).isEqualTo(SnapshotPosition.of(next));
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(mine));
        assertThat(own.newestOwn().runId()).isEqualTo(RUN);
    }

    @Test
    @DisplayName("R2: the newest own snapshot is the last one, whatever run and identifier")
    void newestOwnIsTheLastOne() throws Exception {
        fixture.commitAs(ME, RUN, 5, 1);
        Snapshot last = fixture.commit(ME, 2, 2);
        own.look();

        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(last));
        assertThat(own.newestOwn().runId()).isNull();
        assertThat(own.newestOwnIdentifier()).isEqualTo(2);
        assertThat(own.newestOwnOfAll()).contains(last);
    }

    @Test
    @DisplayName("A7: a look begins where the caller says, with the own snapshot known so far")
    void looksFromAPosition() throws Exception {
        Snapshot mine = fixture.commitAs(ME, RUN, 3, 1);
        Snapshot second = fixture.commit(OTHER, 1, 2);
        Snapshot third = fixture.commit(OTHER, 2, 3);
        fixture.fileIO().reset();
        own.lookFrom(SnapshotPosition.of(second), OwnSnapshot.of(mine));
        assertThat(fixture.fileIO().total()).isZero();

        assertThat(own.look()).containsExactly(third);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(mine));
    }

    @Test
    @DisplayName("T10: skipping to the head reads nothing of what lies in between")
    void skipsToTheHead() throws Exception {
        fixture.commit(OTHER, 1, 1);
        own.look();
        for (int i = 2; i <= 20; i++) {
            fixture.commit(OTHER, i, i);
        }
        fixture.fileIO().reset();
        own.skipToHead();

        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(2); // the hint and the head
        assertThat(own.seen().id()).isEqualTo(20);
        assertThat(own.look()).isEmpty();
    }

    @Test
    @DisplayName("A7: a look without news reads the hint and one snapshot, with news those besides")
    void looksReadNewSnapshotsOnly() throws Exception {
        for (int i = 1; i <= 20; i++) {
            fixture.commit(i == 3 ? ME : OTHER, i, i);
        }
        own.look();

        fixture.fileIO().reset();
        own.look();
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(2);

        fixture.commit(OTHER, 21, 21);
        fixture.commit(OTHER, 22, 22);
        fixture.fileIO().reset();
        assertThat(own.look()).hasSize(2);
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(4);
    }

    @Test
    @DisplayName("A7: a look goes on where expiration has been, in one step")
    void lookStepsOverWhatHasExpired() throws Exception {
        fixture.commit(OTHER, 1, 1);
        own.look();
        fixture.manySnapshots(OTHER, 2_000);
        deleteSnapshots(1, 1_990);
        Snapshot mine = fixture.commitAs(ME, RUN, 5, 1);

        fixture.fileIO().reset();
        List<Snapshot> appeared = own.look();
        assertThat(appeared).hasSize(12).endsWith(mine);
        assertThat(own.rolledBack()).isFalse();
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isLessThan(30);
    }

    // ------------------------------------------------------------------------
    //  Rollbacks
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: a table that was rolled back shows nothing and says so, also in the log")
    void rolledBackBehindTheLastLook() throws Exception {
        fixture.commitAs(ME, RUN, 3, 1);
        fixture.commitAs(ME, RUN, 4, 2);
        own.look();
        fixture.table().rollbackTo(1);

        try (CapturedLog log = CapturedLog.of(CommitUserSnapshots.class)) {
            assertThat(own.look()).isEmpty();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("snapshot 2", ME, "newest snapshot is 1 now");
        }
        assertThat(own.rolledBack()).isTrue();
        assertThat(own.seen().id()).isEqualTo(1);
        assertThat(own.newestOwn()).as("what is left").isNotNull();
        assertThat(own.newestOwn().identifier()).isEqualTo(3);
    }

    @Test
    @DisplayName("A7: what was committed behind a rollback since the last look is shown")
    void committedBehindARollback() throws Exception {
        fixture.commitAs(ME, RUN, 3, 1);
        fixture.commitAs(ME, RUN, 4, 2);
        own.look();
        fixture.table().rollbackTo(1);
        Snapshot later = fixture.commit(OTHER, 1, 3);

        assertThat(own.look()).containsExactly(later);
        assertThat(own.rolledBack()).isTrue();
        assertThat(own.look()).isEmpty();
    }

    @Test
    @DisplayName("A7: after a rollback the next look shows what is committed from there on")
    void looksAgainAfterARollback() throws Exception {
        fixture.commit(OTHER, 3, 1);
        fixture.commit(OTHER, 4, 2);
        own.look();
        fixture.table().rollbackTo(1);
        own.look();
        Snapshot mine = fixture.commitAs(ME, RUN, 4, 3);

        assertThat(own.look()).containsExactly(mine);
        assertThat(own.rolledBack()).isFalse();
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(mine));
    }

    @Test
    @DisplayName("anchor: a rollback is noticed when others have committed the same ids again")
    void noticesARollbackBehindNewCommits() throws Exception {
        fixture.commit(OTHER, 3, 1);
        fixture.commitAs(ME, RUN, 4, 2);
        own.look();
        SnapshotPosition before = own.seen();
        fixture.table().rollbackTo(1);
        Snapshot second = fixture.commit(OTHER, 5, 3);
        Snapshot third = fixture.commit(OTHER, 6, 4);

        assertThat(own.isReplaced(before)).isTrue();
        assertThat(own.look()).containsExactly(second, third);
        assertThat(own.rolledBack()).isTrue();
        assertThat(own.seen().id()).isEqualTo(3);
    }

    @Test
    @DisplayName("R2: an own snapshot whose id others use again is not the newest own one any more")
    void newestOwnIsReplaced() throws Exception {
        Snapshot first = fixture.commitAs(ME, RUN, 3, 1);
        fixture.commitAs(ME, RUN, 4, 2);
        own.look();
        fixture.table().rollbackTo(first.id());
        fixture.commit(OTHER, 1, 3);
        fixture.commit(OTHER, 2, 4);

        assertThat(own.look()).hasSize(2);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(first));
    }

    @Test
    @DisplayName("A7: in a table that was created again all is new, from its first snapshot on")
    void createdAgain() throws Exception {
        fixture.commit(OTHER, 1, 1);
        own.look();
        SnapshotPosition before = own.seen();
        fixture.dropTable();
        fixture.createTableAgain();
        Snapshot first = fixture.commit(OTHER, 1, 1);

        assertThat(own.isReplaced(before)).isTrue();
        assertThat(own.isThere(before)).isFalse();
        assertThat(own.isThere(SnapshotPosition.of(first))).isTrue();
        assertThat(own.look()).containsExactly(first);
        assertThat(own.rolledBack()).isTrue();
    }

    @Test
    @DisplayName("A7: behind a rollback, what has the commit time of the last look is not new")
    void sameCommitTime() throws Exception {
        fixture.commit(OTHER, 1, 1);
        fixture.manySnapshots(OTHER, 1);
        assertThat(own.look()).hasSize(2);
        assertThat(fixture.fileIO().delete(snapshots.snapshotPath(2), false)).isTrue();
        fixture.hint("LATEST", 1);

        assertThat(own.look()).isEmpty();
        assertThat(own.rolledBack()).isTrue();
    }

    @Test
    @DisplayName("anchor: a snapshot that has expired is not replaced, nor is the empty table")
    void expiredIsNotReplaced() throws Exception {
        SnapshotPosition expired = SnapshotPosition.of(fixture.commit(OTHER, 3, 1));
        fixture.commit(OTHER, 4, 2);
        own.look();
        fixture.commit(OTHER, 5, 3);
        fixture.expireAllBut(1);

        assertThat(own.isReplaced(expired)).isFalse();
        assertThat(own.isReplaced(SnapshotPosition.START)).isFalse();
        assertThat(own.look()).hasSize(1);
        assertThat(own.rolledBack()).isFalse();
    }

    @Test
    @DisplayName("R2: behind rollback_to_as_latest its snapshot is the newest that holds own rows")
    void rollbackAsLatestIsTheNewestOwn() throws Exception {
        Snapshot tagged = fixture.commit(OTHER, 1, 1);
        fixture.tagManager().createTag(tagged, "kept", null, Collections.emptyList(), false);
        fixture.commitAs(ME, RUN, 3, 2);
        own.look();
        assertThat(own.newestOwn()).isNotNull();
        Snapshot rollback = fixture.rollbackToAsLatest("kept");

        assertThat(own.look()).containsExactly(rollback);
        assertThat(own.rolledBack()).isFalse();
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(rollback));
        assertThat(CommitUserSnapshots.isRollbackToAsLatest(rollback)).isTrue();
        assertThat(CommitUserSnapshots.isRollbackToAsLatest(tagged)).isFalse();
    }

    // ------------------------------------------------------------------------
    //  T10: which snapshot have I just committed?
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T10: what was just committed is found under 1,100 snapshots of others")
    void findsWhatItHasJustCommitted() throws Exception {
        fixture.commit(OTHER, 1, 1);
        own.look();
        fixture.manySnapshots(OTHER, 1_100);
        Snapshot savepoint = fixture.commitAs(ME, RUN, 5, 2);
        fixture.manySnapshots(OTHER, 1_100);

        assertThat(own.findSinceLook(5, RUN)).contains(savepoint);
    }

    @Test
    @DisplayName("T10: neither another user's, nor another run's, nor an earlier snapshot is it")
    void findsNoOtherSnapshot() throws Exception {
        fixture.commitAs(ME, RUN, 5, 1);
        own.look();
        fixture.commitAs(OTHER, RUN, 5, 2);
        fixture.commitAs(ME, "run-2", 5, 3);
        fixture.commit(ME, 5, 4);
        fixture.commitAs(ME, RUN, 6, 5);

        assertThat(own.findSinceLook(5, RUN)).isEmpty();
    }

    @Test
    @DisplayName("T10: of several snapshots of one commit, the last one is the savepoint snapshot")
    void findsTheLastSnapshotOfOneCommit() throws Exception {
        own.look();
        fixture.commitAs(ME, RUN, 5, 1);
        fixture.commit(OTHER, 5, 2);
        Snapshot compacted = fixture.commitAs(ME, RUN, 5, 3);
        fixture.commit(OTHER, 6, 4);

        assertThat(own.findSinceLook(5, RUN)).contains(compacted);
    }

    @Test
    @DisplayName("T10: a snapshot that has expired since is not found, nor is another one")
    void doesNotFindWhatHasExpired() throws Exception {
        own.look();
        fixture.commitAs(ME, RUN, 5, 1);
        fixture.commit(OTHER, 5, 2);
        fixture.expireAllBut(1);

        assertThat(own.findSinceLook(5, RUN)).isEmpty();
    }

    @Test
    @DisplayName(
            "R2: what was found since the last look is the newest own one, also when it expires")
    void remembersWhatItHasFound() throws Exception {
        own.look();
        Snapshot savepoint = fixture.commitAs(ME, RUN, 5, 1);
        own.findSinceLook(5, RUN);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(savepoint));

        fixture.commit(OTHER, 5, 2);
        fixture.expireAllBut(1);
        own.look();
        assertThat(own.missed()).isTrue();
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(savepoint));
    }

    @Test
    @DisplayName("R2: who skips what lies in between does not know the newest own snapshot")
    void knowsNothingOfWhatItSkips() throws Exception {
        own.look();
        fixture.commitAs(ME, RUN, 5, 1);
        own.findSinceLook(5, RUN);
        fixture.commitAs(ME, RUN, 6, 2);
        own.skipToHead();

        assertThat(own.newestOwn()).isNull();
    }

    @Test
    @DisplayName("R2: when the table is rolled back behind what was found, it is forgotten again")
    void forgetsWhatWasRolledBack() throws Exception {
        Snapshot first = fixture.commitAs(ME, RUN, 4, 1);
        own.look();
        fixture.commitAs(ME, RUN, 5, 2);
        own.findSinceLook(5, RUN);

        fixture.table().rollbackTo(first.id());
        own.look();
        assertThat(own.rolledBack()).isTrue();
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(first));
    }

    @Test
    @DisplayName("R2: a commit that only files show was at the latest before the oldest snapshot")
    void ownSnapshotHasExpired() throws Exception {
        own.rememberExpired(5, RUN, Long.MAX_VALUE);
        assertThat(own.newestOwn()).as("a table without snapshots says nothing").isNull();

        for (int i = 1; i <= 5; i++) {
            fixture.commit(OTHER, i, i);
        }
        fixture.expireAllBut(2);
        own.rememberExpired(5, RUN, Long.MAX_VALUE);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.expired(3, 5, RUN));
        own.rememberExpired(6, RUN, Long.MAX_VALUE);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.expired(3, 6, RUN));
        own.rememberExpired(7, RUN, 2);
        assertThat(own.newestOwn())
                .as("what was committed before it is not newer either")
                .isEqualTo(OwnSnapshot.expired(2, 7, RUN));
    }

    @Test
    @DisplayName("R2: one that has expired takes the place of an older own snapshot, not a newer")
    void expiredIsNewerOrOlder() throws Exception {
        Snapshot first = fixture.commitAs(ME, RUN, 1, 1);
        own.look();
        fixture.commit(OTHER, 1, 2);
        fixture.commit(OTHER, 2, 3);
        fixture.expireAllBut(1);
        own.rememberExpired(2, RUN, Long.MAX_VALUE);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.expired(first.id() + 1, 2, RUN));

        Snapshot fourth = fixture.commitAs(ME, RUN, 3, 4);
        own.look();
        own.rememberExpired(2, RUN, Long.MAX_VALUE);
        assertThat(own.newestOwn()).isEqualTo(OwnSnapshot.of(fourth));
    }

    @Tag("slow")
    @ParameterizedTest(name = "{0} snapshots")
    @ValueSource(ints = {10, 1_000, 10_000})
    @DisplayName("T10: file system calls do not grow with the age of the table")
    void callsDoNotGrowWithTheTable(int age) throws Exception {
        fixture.commit(OTHER, 1, 1);
        fixture.manySnapshots(OTHER, age - 1);
        fixture.hint("EARLIEST", 1);

        fixture.fileIO().reset();
        own.skipToHead();
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 1);

        Snapshot savepoint = fixture.commitAs(ME, RUN, 5, 2);
        fixture.commit(OTHER, 1, 3);
        fixture.fileIO().reset();
        assertThat(own.findSinceLook(5, RUN)).contains(savepoint);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 2);

        fixture.fileIO().reset();
        assertThat(own.look()).hasSize(2);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 1 + 2);

        fixture.fileIO().reset();
        assertThat(own.head().id()).isEqualTo(age + 2);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isEqualTo(2 + 1);

        fixture.fileIO().reset();
        assertThat(own.oldest()).map(Snapshot::id).contains(1L);
        assertThat(fixture.fileIO().total()).as(fixture.fileIO().log()).isLessThanOrEqualTo(3);
    }

    // ------------------------------------------------------------------------
    //  A4: the past
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: reads all snapshots above an id, oldest first, and says that none is gone")
    void readsWhatLiesAbove() throws Exception {
        for (int i = 1; i <= 5; i++) {
            fixture.commit(OTHER, i, i);
        }
        List<Long> ids = new ArrayList<>();

        assertThat(own.forEachAfter(2, snapshot -> ids.add(snapshot.id()))).isFalse();
        assertThat(ids).containsExactly(3L, 4L, 5L);
        assertThat(own.forEachAfter(5, snapshot -> ids.add(snapshot.id()))).isFalse();
        assertThat(own.forEachAfter(9, snapshot -> ids.add(snapshot.id()))).isFalse();
        assertThat(ids).hasSize(3);
    }

    @Test
    @DisplayName("A4: says that snapshots directly above are gone, and reads what is left")
    void saysThatSnapshotsAreGone() throws Exception {
        for (int i = 1; i <= 5; i++) {
            fixture.commit(OTHER, i, i);
        }
        fixture.expireAllBut(2);
        List<Long> ids = new ArrayList<>();

        assertThat(own.forEachAfter(3, snapshot -> ids.add(snapshot.id()))).isFalse();
        assertThat(ids).containsExactly(4L, 5L);
        assertThat(own.forEachAfter(2, snapshot -> ids.add(snapshot.id()))).isTrue();
        assertThat(ids).containsExactly(4L, 5L, 4L, 5L);
        assertThat(own.oldest()).map(Snapshot::id).contains(4L);
        assertThat(own.head().id()).isEqualTo(5);
    }

    @Test
    @DisplayName("T10: an expiration under its feet hides nothing that is left")
    void survivesAnExpirationUnderItsFeet() throws Exception {
        for (int i = 1; i <= 8; i++) {
            fixture.commit(OTHER, i, i);
        }
        fixture.commitAs(ME, RUN, 5, 9);
        beforeReading(3, () -> fixture.expireAllBut(2));
        List<Long> ids = new ArrayList<>();

        assertThat(own.forEachAfter(0, snapshot -> ids.add(snapshot.id()))).isTrue();
        assertThat(ids).containsExactly(1L, 2L, 8L, 9L);
    }

    @Test
    @DisplayName("T10: the oldest snapshot that is left is found while others expire")
    void findsTheOldestDuringExpiration() throws Exception {
        for (int i = 1; i <= 8; i++) {
            fixture.commit(OTHER, i, i);
        }
        beforeReading(1, () -> fixture.expireAllBut(2));

        assertThat(own.oldest()).map(Snapshot::id).contains(7L);
    }

    @Test
    @DisplayName("T10: the head is found while the table is rolled back")
    void findsTheHeadDuringARollback() throws Exception {
        fixture.commit(OTHER, 1, 1);
        fixture.commit(OTHER, 2, 2);
        beforeReading(2, () -> fixture.table().rollbackTo(1));

        assertThat(own.head().id()).isEqualTo(1);
    }

    @Test
    @DisplayName("T10: the head is found while what was the head expires")
    void findsTheHeadDuringExpiration() throws Exception {
        fixture.commit(OTHER, 1, 1);
        beforeReading(
                1,
                () -> {
                    fixture.commit(OTHER, 2, 2);
                    fixture.expireAllBut(1);
                });

        assertThat(own.head().id()).isEqualTo(2);
    }

    @Test
    @DisplayName("T10: a hint for a snapshot where there is none any more is an empty table")
    void hintWithoutSnapshots() throws Exception {
        fixture.commit(OTHER, 1, 1);
        beforeReading(1, () -> fixture.fileIO().delete(snapshots.snapshotPath(1), false));

        assertThat(own.head()).isEqualTo(SnapshotPosition.START);
        assertThat(own.oldest()).isEmpty();
    }

    @Test
    @DisplayName("T10: a hint that runs ahead of the files does not hide them")
    void survivesAHintThatRunsAhead() throws Exception {
        fixture.commit(OTHER, 1, 1);
        Snapshot savepoint = fixture.commitAs(ME, RUN, 5, 2);
        fixture.hint("LATEST", 6);

        assertThat(own.look()).hasSize(2);
        assertThat(own.rolledBack()).isFalse();
        assertThat(own.head()).isEqualTo(SnapshotPosition.of(savepoint));
        assertThat(own.find(5)).contains(savepoint);
    }

    @Test
    @DisplayName("T10: does not believe a cache that still has the expired snapshot")
    void doesNotBelieveTheCache() throws Exception {
        FileStoreTable cachingTable = fixture.table();
        cachingTable.setSnapshotCache(Caffeine.newBuilder().build());
        SnapshotManager caching = cachingTable.snapshotManager();
        fixture.commitAs(ME, RUN, 5, 1);
        fixture.commit(OTHER, 1, 2);
        caching.snapshot(1);
        deleteSnapshots(1, 1);
        assertThat(caching.tryGetSnapshot(1).commitUser()).as("the cache is stale").isEqualTo(ME);

        CommitUserSnapshots behindTheCache = new CommitUserSnapshots(caching, ME);
        assertThat(behindTheCache.find(5)).isEmpty();
        assertThat(behindTheCache.findSinceLook(5, RUN)).isEmpty();
        assertThat(behindTheCache.look()).hasSize(1);
        assertThat(behindTheCache.newestOwn()).isNull();
    }

    // ------------------------------------------------------------------------
    //  A4 without progress: the snapshot of an identifier
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T10: finds the snapshot of an identifier among those of other users")
    void findsAmongOtherUsersCommits() throws Exception {
        fixture.commit(ME, 4, 1);
        fixture.commit(OTHER, 5, 2);
        Snapshot savepoint = fixture.commit(ME, 5, 3);
        fixture.commit(OTHER, 8, 4);
        fixture.commit(ME, 6, 5);

        assertThat(own.find(5)).contains(savepoint);
        assertThat(own.find(7)).isEmpty();
        assertThat(own.find(3)).isEmpty();
    }

    @Test
    @DisplayName("T10: stops at the first own snapshot that is too early, or where none is left")
    void stopsWhereIdentifiersSaySo() throws Exception {
        for (int i = 1; i <= 40; i++) {
            fixture.commit(ME, 2L * i, i);
        }
        fixture.fileIO().reset();
        assertThat(own.find(79)).isEmpty();
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .as(fixture.fileIO().log())
                .isEqualTo(1 + 2); // the hint; 40 and 39

        fixture.expireAllBut(2);
        assertThat(own.find(2)).isEmpty();
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
    @DisplayName("T10: without a position to begin at it gives up after a bounded number of reads")
    void readsAreBounded() throws Exception {
        fixture.commit(ME, 5, 1);
        fixture.manySnapshots(OTHER, CommitUserSnapshots.MAX_READS);
        fixture.fileIO().reset();
        try (CapturedLog log = CapturedLog.of(CommitUserSnapshots.class)) {
            assertThat(own.find(5)).isEmpty();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("identifier 5", "snapshot 1", "1024 reads");
        }
        assertThat(fixture.fileIO().count(CountingFileIO.Call.OPEN))
                .isEqualTo(1 + CommitUserSnapshots.MAX_READS);

        assertThat(new CommitUserSnapshots(snapshots, ME, 1_025).find(5)).isPresent();
    }

    @Test
    @DisplayName("bad input: a snapshot file that cannot be read is named")
    void namesTheUnreadableSnapshot() throws Exception {
        fixture.commit(ME, 5, 1);
        fixture.fileIO().overwriteFileUtf8(snapshots.snapshotPath(1), "{ \"version\" : ");

        assertThatThrownBy(() -> own.look())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(snapshots.snapshotPath(1).toString());
    }

    // ------------------------------------------------------------------------

    private void deleteSnapshots(long first, long last) throws Exception {
        for (long id = first; id <= last; id++) {
            assertThat(fixture.fileIO().delete(snapshots.snapshotPath(id), false)).isTrue();
        }
        fixture.hint("EARLIEST", last + 1);
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
