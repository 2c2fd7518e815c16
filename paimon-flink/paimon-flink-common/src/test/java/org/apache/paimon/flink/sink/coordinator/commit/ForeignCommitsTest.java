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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.Snapshot;
import org.apache.paimon.tag.CommitUserSnapshots;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A7: whose snapshots stop a coordinator, and whose do not. */
class ForeignCommitsTest {

    private static final String USER = "job-with-uuid-12345678";
    private static final String PREDECESSOR = "run-of-the-predecessor";
    private static final String CLONE = "run-of-the-clone";

    @TempDir private File directory;

    private final CommitRun run = CommitRun.begin("job-of-this-one");
    private AppendTableFixture fixture;
    private ForeignCommits foreign;
    private CommitUserSnapshots snapshots;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
        foreign = new ForeignCommits("db.t");
    }

    /** An attempt in the same JobMaster, restored from a checkpoint of the predecessor. */
    private void start(long restoredCheckpointId) throws Exception {
        start(PREDECESSOR, restoredCheckpointId);
    }

    private void start(String restoredRun, long restoredCheckpointId) throws Exception {
        snapshots = new CommitUserSnapshots(fixture.snapshotManager(), USER);
        snapshots.lookFrom(foreign.start(snapshots.head()), null);
        foreign.allow(run, restoredRun, restoredCheckpointId);
    }

    /** Commits as this attempt does, which says so before. */
    private Snapshot commitOwn(long identifier, int row) throws Exception {
        foreign.committing(identifier);
        return fixture.commitAs(USER, run.runId(), identifier, row);
    }

    private void assertRefuses(Snapshot snapshot) {
        assertThatThrownBy(() -> foreign.look(snapshots))
                .isInstanceOf(ForeignCommitException.class)
                .hasMessageContaining("Snapshot " + snapshot.id() + " of table db.t");
    }

    @Test
    @DisplayName("A7: own commits, and those of other users, stop nobody and are handed on")
    void ownAndOtherUsers() throws Exception {
        start(3);
        Snapshot own = commitOwn(4, 1);
        Snapshot other = fixture.commitAs("another-job", CLONE, 4, 2);

        assertThat(foreign.look(snapshots)).containsExactly(own, other);
        assertThat(foreign.look(snapshots)).isEmpty();
    }

    @Test
    @DisplayName("A7: who commits in our name what we have not begun to commit is foreign")
    void inOurNameAheadOfUs() throws Exception {
        start(3);
        commitOwn(4, 1);
        foreign.look(snapshots);

        assertRefuses(fixture.commitAs(USER, run.runId(), 5, 2));
    }

    @Test
    @DisplayName("A7: a clone that is ahead stops this one")
    void cloneAhead() throws Exception {
        start(3);
        assertRefuses(fixture.commitAs(USER, CLONE, 9, 1));
    }

    @Test
    @DisplayName("A7: a clone that is far behind stops this one as well")
    void cloneFarBehind() throws Exception {
        start(2);
        for (int id = 3; id <= 10; id++) {
            commitOwn(id, id);
        }
        foreign.look(snapshots);

        assertRefuses(fixture.commitAs(USER, CLONE, 3, 100));
    }

    @Test
    @DisplayName("A7: a foreign commit is found again by every later attempt of this JobMaster")
    void staysVisible() throws Exception {
        start(3);
        Snapshot clone = fixture.commitAs(USER, CLONE, 4, 1);
        assertRefuses(clone);
        fixture.commit("another-job", 1, 2);
        for (int attempt = 0; attempt < 2; attempt++) {
            start(3);
            assertThat(foreign.started()).isTrue();
            assertRefuses(clone);
        }
    }

    @Test
    @DisplayName("A7: one that came while no attempt was running is found by the next one")
    void betweenTwoAttempts() throws Exception {
        start(3);
        foreign.look(snapshots);
        Snapshot clone = fixture.commitAs(USER, CLONE, 4, 1);

        start(3);
        assertRefuses(clone);
    }

    @Test
    @DisplayName("A7: one that hides under 1,100 snapshots of others is found")
    void underManyOthers() throws Exception {
        fixture.commit("another-job", 1, 2);
        start(3);
        Snapshot clone = fixture.commitAs(USER, CLONE, 4, 1);
        fixture.manySnapshots("another-job", 1_100);

        assertRefuses(clone);
    }

    @Test
    @DisplayName("A7: what was in the table before the first start is history")
    void history() throws Exception {
        for (int id = 3; id <= 10; id++) {
            fixture.commitAs(USER, CLONE, id, id);
        }
        assertThat(foreign.started()).isFalse();
        start(2);
        assertThat(foreign.started()).isTrue();

        assertThat(foreign.look(snapshots)).isEmpty();
        commitOwn(3, 100);
        assertThat(foreign.look(snapshots)).hasSize(1);
        start(2);
        assertThat(foreign.look(snapshots)).isEmpty();
    }

    @Test
    @DisplayName("A7: a late commit of the predecessor up to the restored checkpoint is none")
    void latePredecessor() throws Exception {
        start(3);
        Snapshot late = fixture.commitAs(USER, PREDECESSOR, 3, 1);
        assertThat(foreign.look(snapshots)).containsExactly(late);

        assertRefuses(fixture.commitAs(USER, PREDECESSOR, 4, 2));
    }

    @Test
    @DisplayName(
            "A7: what the restored run's checkpoint holds may be committed in its name, also later")
    void recoveredInTheNameOfTheRestoredRun() throws Exception {
        start(3);
        fixture.commitAs(USER, PREDECESSOR, 3, 1);
        foreign.look(snapshots);
        commitOwn(5, 1);
        foreign.look(snapshots);
        // The next attempt is restored from a checkpoint of this run.
        start(run.runId(), 5);
        fixture.commitAs(USER, PREDECESSOR, 2, 2);

        assertThat(foreign.look(snapshots)).hasSize(1);
        commitOwn(9, 2);
        assertThat(foreign.look(snapshots)).hasSize(1);
    }

    @Test
    @DisplayName("A7: snapshots without a run count as those of a predecessor of another build")
    void withoutARun() throws Exception {
        start(null, 3);
        fixture.commit(USER, 3, 1);
        assertThat(foreign.look(snapshots)).hasSize(1);
        assertRefuses(fixture.commit(USER, 4, 2));
    }

    @Test
    @DisplayName("A7: beside a checkpoint that names its run, a snapshot without one is foreign")
    void stockReleaseTakesOver() throws Exception {
        start(3);

        assertRefuses(fixture.commit(USER, 2, 1));
    }

    @Test
    @DisplayName("A7: the same job on the operator path, which has a run of its own, is foreign")
    void operatorPath() throws Exception {
        start(3);
        assertRefuses(fixture.commitAs(USER, CommitRun.begin("job-of-this-one").runId(), 4, 1));
    }

    @Test
    @DisplayName("A7: the message names both runs and jobs, and both ways out")
    void message() throws Exception {
        start(3);
        fixture.commitAs(USER, CLONE, 4, 1);

        assertThatThrownBy(() -> foreign.look(snapshots))
                .hasMessageContaining("identifier 4")
                .hasMessageContaining("job of " + CLONE + " (run " + CLONE + ")")
                .hasMessageContaining("job job-of-this-one (run " + run.runId() + ")")
                .hasMessageContaining("commit user " + USER)
                .hasMessageContaining("start the one to keep from its newest checkpoint")
                .hasMessageContaining("another sink.operator-uid.suffix");
    }

    @Test
    @DisplayName("A7: a table that was rolled back is no foreign commit")
    void rolledBack() throws Exception {
        start(3);
        commitOwn(4, 1);
        commitOwn(5, 2);
        foreign.look(snapshots);
        fixture.table().rollbackTo(1);
        assertThat(foreign.look(snapshots)).isEmpty();

        assertRefuses(fixture.commitAs(USER, CLONE, 6, 3));
    }

    @Test
    @DisplayName("A7: a foreign commit behind a rollback of the table is found")
    void behindARollback() throws Exception {
        start(3);
        commitOwn(4, 1);
        commitOwn(5, 2);
        foreign.look(snapshots);
        fixture.table().rollbackTo(1);

        assertRefuses(fixture.commitAs(USER, CLONE, 5, 3));
    }
}
