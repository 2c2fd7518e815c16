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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A4 and R2 on real tables: what is in the table of what a checkpoint replays. */
class RestoredCommitsTest extends RestoredCommitsTestBase {

    // ------------------------------------------------------------------------
    //  1: snapshots above the anchor
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: what the run has committed above the anchor is committed, and nothing later")
    void ownRunAboveTheAnchor() throws Exception {
        fixture.commitAs(ME, RUN, 2, 1);
        CommitProgress checkpoint = checkpoint(null);
        Snapshot third = fixture.commitAs(ME, RUN, 3, 2);
        Snapshot fifth = fixture.commitAs(ME, RUN, 5, 3);
        fixture.commit(OTHER, 9, 4);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.committed(4)).as("between two of the run's").isTrue();
        assertThat(restored.committed(5)).isTrue();
        assertThat(restored.committed(6)).isFalse();
        assertThat(restored.filesDecide()).isFalse();
        assertThat(restored.snapshot(3)).contains(third);
        assertThat(restored.snapshot(4)).isEmpty();
        assertThat(restored.newest(Long.MAX_VALUE)).contains(fifth);
        assertThat(restored.runId()).contains(RUN);
        assertThat(restored.progress()).contains(checkpoint);
    }

    @Test
    @DisplayName("A4: other runs of the same commit user are other courses of the job")
    void otherRunsAreSkipped() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        fixture.commitAs(ME, OTHER_RUN, 3, 1);
        fixture.commit(ME, 4, 2);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.committed(3, fixture.write(ME, 3, 3))).isFalse();
        assertThat(restored.newest(Long.MAX_VALUE)).isEmpty();
        assertThat(restored.snapshot(3)).isEmpty();
        assertThat(restored.committed(-1)).isFalse();
    }

    @Test
    @DisplayName("A4: of identifiers used twice only those of the checkpoint's own course count")
    void identifiersUsedTwice() throws Exception {
        // Savepoint 2, 3, savepoint 4, 5 in one course; 2 restored, another 3 and 4; restore of 4.
        for (int id = 2; id <= 5; id++) {
            fixture.commitAs(ME, OTHER_RUN, id, id);
        }
        Snapshot third = fixture.commitAs(ME, RUN, 3, 30);
        CommitProgress checkpoint = checkpoint(third);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(4)).isFalse();
        assertThat(restored.lostHistory()).isEmpty();

        Snapshot fourth = fixture.commitAs(ME, RUN, 4, 40);
        restored.observe(fourth);
        assertThat(restored.committed(4)).isTrue();
        assertThat(restored.snapshot(4)).contains(fourth);
    }

    @Test
    @DisplayName("A4: snapshots up to the anchor do not count")
    void belowTheAnchor() throws Exception {
        fixture.commitAs(ME, RUN, 5, 1);

        assertThat(restored(checkpoint(null)).committed(5)).isFalse();
    }

    @Test
    @DisplayName("A4: in an empty table nothing is committed, and files need not decide")
    void emptyTable() throws Exception {
        RestoredCommits restored = restored(checkpoint(null));

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.filesDecide()).isFalse();
        assertThat(restored.lostHistory()).isEmpty();
        assertThat(restored.laterThan(3)).isEmpty();
    }

    // ------------------------------------------------------------------------
    //  anchor
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("anchor: behind a rollback the newest own snapshot takes its place")
    void anchorReplacedByTheNewestOwn() throws Exception {
        fixture.commitAs(ME, RUN, 9, 1);
        Snapshot own = fixture.commitAs(ME, RUN, 2, 2);
        fixture.commit(OTHER, 1, 3);
        CommitProgress checkpoint = checkpoint(own);
        fixture.table().rollbackTo(2);
        try (CapturedLog log = CapturedLog.of(RestoredCommits.class)) {
            assertThat(restored(checkpoint).committed(3)).isFalse();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("snapshot 3", "above snapshot 2");
        }

        fixture.commitAs(ME, RUN, 3, 4);
        fixture.commit(OTHER, 2, 5);
        RestoredCommits behindOthers = restored(checkpoint);
        assertThat(behindOthers.committed(3)).as("an id that is used again").isTrue();
        assertThat(behindOthers.committed(9)).isFalse();
    }

    @Test
    @DisplayName("anchor: without a newest own snapshot the oldest there is takes its place")
    void anchorReplacedByTheOldest() throws Exception {
        fixture.commit(OTHER, 1, 1);
        fixture.commit(OTHER, 2, 2);
        CommitProgress checkpoint = checkpoint(null);
        fixture.table().rollbackTo(1);
        fixture.commitAs(ME, RUN, 3, 3);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.filesDecide()).isFalse();
        assertThat(restored.lostHistory()).isEmpty();
    }

    @Test
    @DisplayName("anchor: one that has merely expired keeps its place, and files decide the rest")
    void expiredAnchor() throws Exception {
        fixture.commit(OTHER, 1, 1);
        CommitProgress checkpoint = checkpoint(null);
        Snapshot third = fixture.commitAs(ME, RUN, 3, 2);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isTrue();
        // It does not show any more whether the table was rolled back behind it.
        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.snapshot(3)).contains(third);
    }

    // ------------------------------------------------------------------------
    //  3: expired
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: after expiration a file in the oldest snapshot says that it is committed")
    void fileInTheOldestSnapshot() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> committed = fixture.write(ME, 3, 1);
        List<CommitMessage> pending = fixture.write(ME, 4, 2);
        fixture.commitAs(ME, RUN, 3, committed);
        fixture.commit(OTHER, 1, 3);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.committed(3, committed)).isTrue();
        assertThat(restored.committed(4, pending)).isFalse();
        assertThat(restored.committed(4, Collections.emptyList())).as("nothing twice").isFalse();
        assertThat(restored.snapshot(3)).isEmpty();
    }

    @Test
    @DisplayName("A4: after a compaction and expiration a missing file says that it was committed")
    void missingFile() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> committed = fixture.write(ME, 3, 1);
        List<CommitMessage> pending = fixture.write(ME, 4, 2);
        fixture.commitAs(ME, RUN, 3, committed);
        fixture.compact(OTHER, 1);
        fixture.commit(OTHER, 2, 3);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3, committed)).isTrue();
        assertThat(restored.committed(4, pending)).isFalse();
    }

    @Test
    @DisplayName("A4: after a compaction and expiration a file in a user's tag says so")
    void fileInATagOfTheUser() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> committed = fixture.write(ME, 3, 1);
        fixture.commitAs(ME, RUN, 3, committed);
        tag(fixture.commit(OTHER, 1, 2), "of-the-user");
        fixture.compact(OTHER, 2);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.committed(3, committed)).isTrue();
    }

    @Test
    @DisplayName("A4: a savepoint tag of the run above the anchor counts as its snapshot does")
    void savepointTagOfTheRun() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(null);
        Snapshot savepoint = fixture.commitSavepoint(ME, RUN, 4, 1);
        tag(savepoint, "savepoint-4");
        tag(fixture.commitSavepoint(ME, OTHER_RUN, 7, 2), "savepoint-7");
        fixture.commit(OTHER, 1, 3);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.committed(4)).isTrue();
        assertThat(restored.committed(5)).isFalse();
        assertThat(restored.snapshot(4)).contains(savepoint);
        assertThat(restored.newest(Long.MAX_VALUE)).contains(savepoint);
    }

    @Test
    @DisplayName("A4: files of an aborted attempt that are in no snapshot are not committed")
    void expiredButNotCommitted() throws Exception {
        Snapshot own = fixture.commitAs(ME, RUN, 2, 1);
        CommitProgress checkpoint = checkpoint(own);
        List<CommitMessage> pending = fixture.write(ME, 3, 2);
        for (int i = 0; i < 3; i++) {
            fixture.commit(OTHER, i, 10 + i);
        }
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.committed(3, pending)).isFalse();
        assertThat(restored.lostHistory()).as("R2: expired is not lost").isEmpty();
    }

    @Test
    @DisplayName("R2: tags show how new a commit can have been of which only files tell")
    void newestPossible() throws Exception {
        CommitProgress checkpoint = checkpoint(fixture.commitAs(ME, RUN, 1, 1));
        List<CommitMessage> written = fixture.write(ME, 2, 2);
        tag(fixture.commit(OTHER, 0, 9), "before");
        tag(fixture.commitAs(ME, RUN, 2, written), "itself");
        tag(fixture.commit(OTHER, 1, 10), "after");
        fixture.expireAllBut(1);

        assertThat(restored(checkpoint).newestPossible(2, written)).isEqualTo(3);
        assertThat(restored(checkpoint).newestPossible(7, written)).as("another").isEqualTo(2);
        fixture.table().deleteTag("itself");
        assertThat(restored(checkpoint).newestPossible(2, written)).isEqualTo(3);
        assertThat(restored(checkpoint).newestPossible(3, written)).isEqualTo(3);
        fixture.table().deleteTag("after");
        assertThat(restored(checkpoint).newestPossible(2, written)).isEqualTo(Long.MAX_VALUE);
    }

    // ------------------------------------------------------------------------
    //  2: rollback_to_as_latest
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: what rollback_to_as_latest has kept is committed, what it undid is not")
    void rollbackAsLatest() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> kept = fixture.write(ME, 3, 1);
        List<CommitMessage> undone = fixture.write(ME, 4, 2);
        List<CommitMessage> pending = fixture.write(ME, 5, 3);
        tag(fixture.commitAs(ME, RUN, 3, kept), "kept");
        fixture.commitAs(ME, RUN, 4, undone);
        Snapshot rollback = fixture.rollbackToAsLatest("kept");
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.filesDecide()).isTrue();
        assertThat(restored.committed(3, kept)).isTrue();
        assertThat(restored.committed(4, undone)).isFalse();
        assertThat(restored.committed(5, pending)).isFalse();
        assertThat(restored.newest(Long.MAX_VALUE)).contains(rollback);

        fixture.commitAs(ME, RUN, 4, undone);
        RestoredCommits after = restored(checkpoint);
        assertThat(after.committed(4)).as("committed again behind the rollback").isTrue();
    }

    @Test
    @DisplayName("A4: commits that were compacted before the rollback are undecided: it refuses")
    void undecidedAfterACompaction() throws Exception {
        tag(fixture.commit(OTHER, 0, 9), "kept");
        CommitProgress checkpoint = checkpoint(null);
        List<CommitMessage> compacted = fixture.write(ME, 3, 1);
        List<CommitMessage> pending = fixture.write(ME, 4, 2);
        fixture.commitAs(ME, RUN, 3, compacted);
        fixture.compact(OTHER, 1);
        Snapshot rollback = fixture.rollbackToAsLatest("kept");
        assertThat(fixture.ids()).containsExactly(9);
        RestoredCommits restored = restored(checkpoint);

        assertThatThrownBy(() -> restored.committed(3, compacted))
                .isInstanceOf(UndecidedCommitException.class)
                .hasMessageContaining("snapshot " + rollback.id())
                .hasMessageContaining("identifier 3")
                .hasMessageContaining(ME)
                .hasMessageContaining("rollback_to");
        assertThat(restored.committed(4, pending)).as("never committed").isFalse();
    }

    @Test
    @DisplayName("A4: a rollback that appears while the job recovers counts as well")
    void rollbackAppears() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(null);
        tag(fixture.snapshots().get(0), "kept");
        List<CommitMessage> undone = fixture.write(ME, 3, 1);
        fixture.commitAs(ME, RUN, 3, undone);
        RestoredCommits restored = restored(checkpoint);
        assertThat(restored.committed(3)).isTrue();
        restored.observe(fixture.rollbackToAsLatest("kept"));

        assertThat(restored.committed(3)).isFalse();
        assertThat(restored.committed(3, undone)).isFalse();
    }

    // ------------------------------------------------------------------------
    //  4: no progress
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A4: without progress the newest snapshot of the commit user decides")
    void baseRule() throws Exception {
        Snapshot third = fixture.commit(ME, 3, 1);
        Snapshot fifth = fixture.commitAs(ME, OTHER_RUN, 5, 2);
        fixture.commit(OTHER, 9, 3);
        RestoredCommits restored = restored(null);

        assertThat(restored.committed(5)).isTrue();
        assertThat(restored.committed(6)).isFalse();
        assertThat(restored.snapshot(3)).contains(third);
        assertThat(restored.newest(Long.MAX_VALUE)).contains(fifth);
        assertThat(restored.runId()).isEmpty();
        assertThat(restored.progress()).isEmpty();
        assertThat(restored.lostHistory()).isEmpty();
    }

    @Test
    @DisplayName(
            "A4: without progress savepoint tags of the commit user count beside its snapshots")
    void baseRuleWithTags() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 4, 1);
        tag(savepoint, "savepoint-4");
        tag(fixture.commit(OTHER, 8, 2), "savepoint-8");
        fixture.commit(OTHER, 9, 3);
        fixture.expireAllBut(1);
        RestoredCommits restored = restored(null);

        assertThat(restored.committed(4)).isTrue();
        assertThat(restored.committed(8)).isFalse();
        assertThat(restored.snapshot(4)).contains(savepoint);
    }

    @Test
    @DisplayName(
            "A4: without progress a tag of an earlier course does not beat the newest snapshot")
    void baseRuleGoesByTheNewest() throws Exception {
        tag(fixture.commit(ME, 9, 1), "savepoint-9");
        fixture.commit(ME, 3, 2);

        assertThat(restored(null).committed(4)).isFalse();
    }

    @Test
    @DisplayName(
            "R2: in a failover behind a rollback progress is ignored, and the base's rule holds")
    void ignoredProgress() throws Exception {
        fixture.commitAs(ME, OTHER_RUN, 3, 1);
        CommitProgress checkpoint = checkpoint(null);
        RestoredCommits restored = restored(checkpoint);
        assertThat(restored.committed(3)).isFalse();
        restored.ignoreProgress();

        assertThat(restored.committed(3)).isTrue();
        assertThat(restored.progress()).isEmpty();
        // A4: every restore of the checkpoint looks for what was recovered in its name.
        assertThat(restored.runId()).contains(RUN);
    }

    // ------------------------------------------------------------------------
    //  R2
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("R2: a table whose newest snapshot is older has lost what the checkpoint knows")
    void tableIsOlder() throws Exception {
        fixture.commitAs(ME, RUN, 1, 1);
        CommitProgress checkpoint = checkpoint(fixture.commitAs(ME, RUN, 2, 2));
        fixture.table().rollbackTo(1);

        assertThat(restored(checkpoint).lostHistory())
                .hasValueSatisfying(
                        why -> assertThat(why).contains("newest snapshot", "snapshot 1"));
    }

    @Test
    @DisplayName("R2: a snapshot of that id that is another one has lost it as well")
    void snapshotIsAnother() throws Exception {
        fixture.commitAs(ME, RUN, 1, 1);
        CommitProgress checkpoint = checkpoint(fixture.commitAs(ME, RUN, 2, 2));
        fixture.table().rollbackTo(1);
        fixture.commit(OTHER, 7, 3);
        assertThat(restored(checkpoint).lostHistory())
                .hasValueSatisfying(
                        why -> assertThat(why).contains("snapshot 2", OTHER, "identifier 7"));

        fixture.table().rollbackTo(1);
        fixture.commitAs(ME, OTHER_RUN, 2, 2);
        assertThat(restored(checkpoint).lostHistory()).as("of another run").isPresent();
    }

    @Test
    @DisplayName(
            "R2: a rollback_to_as_latest that went behind it has lost it, one above it has not")
    void rolledBackAsLatest() throws Exception {
        tag(fixture.commitAs(ME, RUN, 1, 1), "savepoint-1");
        Snapshot second = fixture.commitAs(ME, RUN, 2, 2);
        tag(second, "savepoint-2");
        CommitProgress checkpoint = checkpoint(second);
        fixture.commitAs(ME, RUN, 3, 3);
        fixture.rollbackToAsLatest("savepoint-2");
        assertThat(restored(checkpoint).lostHistory()).isEmpty();

        Snapshot rollback = fixture.rollbackToAsLatest("savepoint-1");
        assertThat(restored(checkpoint).lostHistory())
                .hasValueSatisfying(
                        why -> assertThat(why).contains("snapshot " + rollback.id(), "removed"));
    }

    @Test
    @DisplayName("R2: the same where the snapshot has expired and its tag shows what it held")
    void rolledBackAsLatestBehindAnExpiredOne() throws Exception {
        tag(fixture.commitAs(ME, RUN, 1, 1), "savepoint-1");
        Snapshot second = fixture.commitAs(ME, RUN, 2, 2);
        tag(second, "savepoint-2");
        CommitProgress checkpoint = checkpoint(second);
        fixture.commit(OTHER, 0, 9);
        fixture.expireAllBut(1);
        fixture.rollbackToAsLatest("savepoint-2");
        assertThat(restored(checkpoint).lostHistory()).isEmpty();

        Snapshot rollback = fixture.rollbackToAsLatest("savepoint-1");
        assertThat(restored(checkpoint).lostHistory())
                .hasValueSatisfying(
                        why -> assertThat(why).contains("snapshot " + rollback.id(), "removed"));
        fixture.table().deleteTag("savepoint-2");
        assertThat(restored(checkpoint).lostHistory()).as("nothing tells").isEmpty();
    }

    @Test
    @DisplayName(
            "R2: nothing is lost when it is there, has expired, or a compaction came behind it")
    void nothingLost() throws Exception {
        fixture.commit(OTHER, 0, 9);
        CommitProgress checkpoint = checkpoint(fixture.commitAs(ME, RUN, 2, 2));
        assertThat(restored(checkpoint).lostHistory()).isEmpty();
        fixture.compact(OTHER, 1);
        assertThat(restored(checkpoint).lostHistory()).isEmpty();
        fixture.commit(OTHER, 2, 3);
        fixture.expireAllBut(1);
        assertThat(restored(checkpoint).lostHistory()).isEmpty();
    }

    @Test
    @DisplayName("R2: a restore of the very savepoint that the table was rolled back to is fine")
    void rolledBackToTheSavepoint() throws Exception {
        Snapshot first = fixture.commitAs(ME, RUN, 1, 1);
        CommitProgress checkpoint = checkpoint(first);
        fixture.commitSavepoint(ME, RUN, 2, 2);
        fixture.commitAs(ME, RUN, 3, 3);
        fixture.table().rollbackTo(2);
        RestoredCommits restored = restored(checkpoint);

        assertThat(restored.lostHistory()).isEmpty();
        assertThat(restored.committed(2)).isTrue();
        assertThat(restored.committed(3)).isFalse();
    }

    // ------------------------------------------------------------------------
    //  A7
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: commits later than the checkpoint, or of another run, are named")
    void laterCommits() throws Exception {
        CommitProgress checkpoint = checkpoint(null);
        fixture.commitAs(ME, RUN, 3, 1);
        assertThat(restored(checkpoint).laterThan(3)).as("its own").isEmpty();
        Snapshot later = fixture.commitAs(ME, RUN, 4, 2);
        assertThat(restored(checkpoint).laterThan(3)).contains(later);
        Snapshot otherRun = fixture.commitAs(ME, OTHER_RUN, 2, 3);
        assertThat(restored(checkpoint).laterThan(3)).contains(otherRun);

        assertThat(restored(null).laterThan(1)).contains(otherRun);
        assertThat(restored(null).laterThan(2)).isEmpty();
    }
}
