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
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A4, L2 and R2 on real tables: what a recovering job asks, and how the answers change. */
class RestoredCommitsAnswersTest extends RestoredCommitsTestBase {

    private static final List<CommitMessage> NOTHING = Collections.emptyList();

    // ------------------------------------------------------------------------
    //  Snapshots of the course
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("L2: the savepoints of the course since the checkpoint are named, no others")
    void savepoints() throws Exception {
        fixture.commitSavepoint(ME, RUN, 2, "file:/before", 1);
        CommitProgress checkpoint = checkpoint(null);
        fixture.commitAs(ME, RUN, 3, 2);
        fixture.commitSavepoint(ME, RUN, 4, 3);
        Snapshot savepoint = fixture.commitSavepoint(ME, RUN, 5, "file:/since", 4);
        fixture.commitSavepoint(ME, OTHER_RUN, 6, "file:/of-another-run", 5);

        assertThat(restored(checkpoint).savepoints()).containsExactly(savepoint);
        assertThat(restored(null).savepoints()).as("no checkpoint says since when").isEmpty();
    }

    @Test
    @DisplayName("A4: the identifier that the base compares with is the commit user's newest")
    void newestIdentifier() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        assertThat(restored(checkpoint).newestIdentifier()).isEmpty();
        fixture.commitAs(ME, RUN, 9, 1);
        fixture.commitAs(ME, OTHER_RUN, 7, 2);
        fixture.commit(OTHER, 12, 3);
        RestoredCommits restored = restored(checkpoint);
        assertThat(restored.newestIdentifier()).hasValue(7);

        fixture.expireAllBut(1);
        assertThat(restored.newestIdentifier()).as("it has expired since").isEmpty();
    }

    @Test
    @DisplayName("A4: a snapshot of the course is there until a rollback_to_as_latest comes")
    void hasSnapshot() throws Exception {
        tag(fixture.commit(OTHER, 0, 9), "kept");
        CommitProgress checkpoint = checkpoint(null);
        fixture.commitAs(ME, RUN, 3, 1);
        fixture.commitAs(ME, RUN, 5, 2);
        assertThat(restored(checkpoint).hasSnapshot(3)).isTrue();
        assertThat(restored(checkpoint).hasSnapshot(4)).as("between two").isFalse();

        fixture.rollbackToAsLatest("kept");
        assertThat(restored(checkpoint).hasSnapshot(3)).isFalse();
    }

    @Test
    @DisplayName("A4: what a snapshot shows to be committed is not looked for in files")
    void snapshotsAnswerFirst() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> written = fixture.write(ME, 3, 1);
        fixture.commitAs(ME, RUN, 3, written);

        assertThat(restored(checkpoint).committed(3, written)).isTrue();
    }

    @Test
    @DisplayName("A4: each answer reads the table by itself, whichever comes first")
    void anyAnswerMayBeTheFirst() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        Snapshot third = fixture.commitAs(ME, RUN, 3, 1);
        Snapshot fourth = fixture.commitAs(ME, RUN, 4, 2);

        assertThat(restored(checkpoint).snapshot(3)).contains(third);
        assertThat(restored(checkpoint).newest(3)).contains(third);
        assertThat(restored(checkpoint).newest(4)).contains(fourth);
    }

    @Test
    @DisplayName("A4: the snapshot of a savepoint below the anchor is known from its tag")
    void snapshotFromATag() throws Exception {
        Snapshot savepoint = fixture.commitSavepoint(ME, RUN, 2, 1);
        tag(savepoint, "savepoint-2");
        tag(fixture.commitSavepoint(ME, OTHER_RUN, 5, 2), "savepoint-5");
        RestoredCommits restored = restored(checkpoint(null));

        assertThat(restored.snapshot(2)).contains(savepoint);
        assertThat(restored.snapshot(3)).as("of no identifier").isEmpty();
        assertThat(restored.snapshot(5)).as("of another run").isEmpty();
    }

    // ------------------------------------------------------------------------
    //  Behind rollbacks
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("R2: a table that was rolled back meanwhile is read again, at once")
    void readAgain() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        Snapshot third = fixture.commitAs(ME, RUN, 3, 1);
        fixture.commitAs(ME, RUN, 4, 2);
        RestoredCommits restored = restored(checkpoint);
        assertThat(restored.committed(4)).isTrue();
        fixture.table().rollbackTo(third.id());
        restored.readAgain();
        Snapshot again = fixture.commitAs(ME, RUN, 4, 3);

        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.committed(4)).as("committed after that").isFalse();
        assertThat(restored.snapshot(4)).isEmpty();
        restored.observe(again);
        assertThat(restored.snapshot(4)).contains(again);
    }

    @Test
    @DisplayName("R2: a rollback_to_as_latest that was itself rolled back is forgotten")
    void rollbackRolledBack() throws Exception {
        Snapshot first = fixture.commit(OTHER, 0, 9);
        tag(first, "kept");
        CommitProgress checkpoint = checkpoint(null);
        Snapshot third = fixture.commitAs(ME, RUN, 3, 1);
        fixture.rollbackToAsLatest("kept");
        RestoredCommits restored = restored(checkpoint);
        assertThat(restored.filesDecide()).isTrue();
        fixture.table().rollbackTo(third.id());
        restored.readAgain();

        assertThat(restored.filesDecide()).isFalse();
        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.newest(3)).contains(third);
    }

    @Test
    @DisplayName("R2: the newest of the course is behind the rollback, or the rollback itself")
    void newestBehindARollback() throws Exception {
        tag(fixture.commit(OTHER, 0, 9), "kept");
        CommitProgress checkpoint = checkpoint(null);
        fixture.commitAs(ME, RUN, 3, 1);
        Snapshot rollback = fixture.rollbackToAsLatest("kept");
        Snapshot fourth = fixture.commitAs(ME, RUN, 4, 2);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.newest(3)).as("3 was undone").contains(rollback);
        assertThat(restored.newest(4)).contains(fourth);
    }

    @Test
    @DisplayName("A4: a savepoint tag below a rollback_to_as_latest does not count")
    void savepointTagBelowARollback() throws Exception {
        tag(fixture.commit(OTHER, 0, 9), "kept");
        CommitProgress checkpoint = checkpoint(null);
        tag(fixture.commitSavepoint(ME, RUN, 4, 1), "savepoint-4");
        fixture.rollbackToAsLatest("kept");
        fixture.commit(OTHER, 1, 2);
        fixture.expireAllBut(2);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.committed(4)).isFalse();
    }

    @Test
    @DisplayName("anchor: when it has expired, savepoint tags below it count as well")
    void savepointTagBelowAnExpiredAnchor() throws Exception {
        Snapshot first = fixture.commit(OTHER, 1, 1);
        fixture.commit(OTHER, 2, 2);
        fixture.commit(OTHER, 3, 3);
        CommitProgress checkpoint = checkpoint(null);
        fixture.table().rollbackTo(first.id());
        tag(fixture.commitSavepoint(ME, RUN, 4, 4), "savepoint-4");
        fixture.commit(OTHER, 5, 5);
        fixture.commit(OTHER, 6, 6);
        fixture.expireAllBut(1);

        assertThat(restored(checkpoint).committed(4)).isTrue();
        assertThat(restored(checkpoint).committed(5)).isFalse();
    }

    @Test
    @DisplayName("anchor: in a table that has no snapshot any more it keeps its place")
    void anchorOfATableWithoutSnapshots() throws Exception {
        fixture.commit(OTHER, 1, 1);
        CommitProgress checkpoint = checkpoint(null);
        fixture.dropTable();
        fixture.createTableAgain();
        try (CapturedLog log = CapturedLog.of(RestoredCommits.class)) {
            assertThat(restored(checkpoint).committed(3)).isFalse();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("above snapshot 1");
        }
    }

    // ------------------------------------------------------------------------
    //  Expired snapshots
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: an empty commit before the checkpoint is in the table, a later one is not")
    void emptyCommits() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        fixture.commit(OTHER, 1, 1);
        fixture.commit(OTHER, 2, 2);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);
        long checkpointId = checkpoint.checkpointId();
        assertThat(restored.filesDecide()).isTrue();

        assertThat(restored.committed(checkpointId - 1, NOTHING)).isTrue();
        assertThat(restored.committed(checkpointId, NOTHING)).isFalse();
        assertThat(restored.committed(checkpointId + 1, NOTHING)).isFalse();

        restored.ignoreProgress();
        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.committed(checkpointId - 1, NOTHING)).as("ignored").isFalse();
    }

    @Test
    @DisplayName("A4: files decide when snapshots were missed, if there is progress to go by")
    void missedSnapshots() throws Exception {
        RestoredCommits restored = restored(checkpoint(null));
        assertThat(restored.filesDecide()).isFalse();
        restored.missed();
        assertThat(restored.filesDecide()).isTrue();

        RestoredCommits withoutProgress = restored(null);
        assertThat(withoutProgress.filesDecide()).isFalse();
        withoutProgress.missed();
        assertThat(withoutProgress.filesDecide()).isFalse();
    }

    // ------------------------------------------------------------------------
    //  Without progress
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: what the checkpoint says to be tagged stays decided when it is ignored")
    void decided() throws Exception {
        RestoredCommits restored = restored(checkpoint(null));
        assertThat(restored.decided(2)).as("progress is asked instead").isFalse();
        assertThat(restored.committedBefore()).isEqualTo(2);
        restored.ignoreProgress();
        assertThat(restored.decided(2)).isTrue();
        assertThat(restored.decided(3)).isFalse();
        assertThat(restored.committedBefore()).isEqualTo(2);

        // A second time it knows nothing new.
        restored.ignoreProgress();
        assertThat(restored.committedBefore()).isEqualTo(2);
    }

    @Test
    @DisplayName("A4: without progress nothing is decided, and nothing known to be committed")
    void nothingDecided() throws Exception {
        RestoredCommits restored = restored(null);
        assertThat(restored.committedBefore()).isEqualTo(-1);
        restored.ignoreProgress();

        assertThat(restored.decided(0)).isFalse();
        assertThat(restored.committedBefore()).isEqualTo(-1);
    }

    @Test
    @DisplayName(
            "R2: ignoring progress, files decide only when no own and not all snapshots are left")
    void filesDecideWhenProgressIsIgnored() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        fixture.commit(OTHER, 1, 1);
        assertThat(ignoring(checkpoint).filesDecide()).as("none has expired").isFalse();

        fixture.commit(OTHER, 2, 2);
        fixture.expireAllBut(1);
        assertThat(ignoring(checkpoint).filesDecide()).as("the first has expired").isTrue();
        assertThat(restored(null).filesDecide()).as("none to ignore").isFalse();

        fixture.commit(ME, 3, 3);
        assertThat(ignoring(checkpoint).filesDecide()).as("an own one is there").isFalse();
    }

    private RestoredCommits ignoring(CommitProgress checkpoint) throws Exception {
        RestoredCommits restored = restored(checkpoint);
        restored.ignoreProgress();
        return restored;
    }

    // ------------------------------------------------------------------------
    //  R2: own snapshots that only files tell of
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("R2: an own snapshot that expired unseen is not lost, unless a rollback comes")
    void expiredUnseen() throws Exception {
        fixture.commit(OTHER, 1, 1);
        fixture.commitAs(ME, RUN, 2, 2);
        Snapshot third = fixture.commit(OTHER, 3, 3);
        fixture.commit(OTHER, 4, 4);
        fixture.expireAllBut(2);
        CommitProgress checkpoint =
                new CommitProgress(
                        3,
                        RUN,
                        2,
                        0,
                        new CommitUserSnapshots(fixture.snapshotManager(), ME).head(),
                        OwnSnapshot.expired(third.id() - 1, 2, RUN));
        assertThat(restored(checkpoint).lostHistory()).isEmpty();

        fixture.dropTable();
        fixture.createTableAgain();
        assertThat(restored(checkpoint).lostHistory()).as("an older table").isPresent();
        fixture.commitAs(ME, RUN, 1, 1);
        fixture.commitAs(ME, RUN, 2, 2);
        assertThat(restored(checkpoint).lostHistory())
                .hasValueSatisfying(why -> assertThat(why).contains("snapshot 2", "another one"));
    }
}
