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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.Hook;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** A JobMaster that loses its leadership, and the next one that restores the job. */
class JobMasterFailoverITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster().withLeadershipControl();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A4: a checkpoint that is complete and not committed is made up for, with its tag")
    void leadershipIsLostBeforeTheCommit(CommitPath path) throws Exception {
        AppendTable table = table(path, "sink.coordinator-commit.close-timeout", "100 ms");
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Hook.Gate gate = scenario.beforeSnapshot.holdNext();
        Savepoint checkpoint = job.checkpoint();
        gate.awaitReached();
        job.changeJobMaster();

        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        scenario.awaitEmitted();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T1: a savepoint that was never committed is not tagged by the next JobMaster")
    void leadershipIsLostAfterASavepoint(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        job.changeJobMaster();
        scenario.awaitEmitted();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());

        table.assertTags();
        assertThat(table.identifiers()).doesNotContain(savepoint.id());
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("T2, A5: lost after the stop's savepoint completed and before its commit")
    void leadershipIsLostDuringAStop(boolean restoreFromTheSavepoint) throws Exception {
        AppendTable table =
                table(CommitPath.COORDINATOR, "sink.coordinator-commit.close-timeout", "100 ms");
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Hook.Gate gate = scenario.beforeSnapshot.holdNext();
        CompletableFuture<String> stop = job.stopFuture(false);
        gate.awaitReached();
        Savepoint savepoint = job.newestSavepoint();
        assertThat(stop).isNotDone();

        if (restoreFromTheSavepoint) {
            job.revokeJobMaster();
            job.awaitNoCommitter();
            RunningJob restored = start(job(table).from(savepoint));
            table.awaitTags(savepoint.tag());
            table.assertTagHolds(savepoint.tag(), scenario.everything());
            scenario.emit(10);
            table.awaitCommitted(restored.checkpoint().id());
            table.assertTags(savepoint.tag());
            table.assertHolds(scenario.everything());
            restored.stop();
        } else {
            // The stop is lost with its JobMaster; the next one goes on from the checkpoint.
            job.changeJobMaster();
            scenario.awaitEmitted();
            scenario.emit(10);
            Savepoint again = job.stop();
            table.assertTags(again.tag());
            table.assertTagHolds(again.tag(), scenario.everything());
        }
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }
}
