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
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.api.common.JobStatus;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The adaptive scheduler makes a new coordinator at each restart of the job, within one JobMaster:
 * what has to survive a restart may not be the coordinator's own.
 */
class AdaptiveSchedulerITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster().adaptive();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @Test
    @DisplayName("T1, T2, A4: savepoint, failover and stop")
    void savepointFailoverAndStop() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        scenario.beforeSnapshot.failNext(1);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        job.awaitRunning();
        scenario.emit(5);
        Savepoint stop = job.stop();

        table.assertTags(savepoint.tag(), stop.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertTagHolds(stop.tag(), scenario.everything());
        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    @DisplayName("T1, T2, A6: the running job is rescaled behind a savepoint, down and up")
    void rescaleOfTheRunningJob(int parallelism) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        table.awaitTags(savepoint.tag());
        job.rescale(parallelism);
        scenario.awaitEmitted();
        scenario.emit(5);
        Savepoint second = job.savepoint();
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(savepoint.tag(), second.tag());
        scenario.emit(5);
        Savepoint stop = job.stop();

        table.assertTags(savepoint.tag(), second.tag(), stop.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertTagHolds(second.tag(), scenario.before(second.id()));
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A4: a tag that its owner deleted does not come back after a restart")
    void deletedTagDoesNotComeBack() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        table.awaitTags(savepoint.tag());
        table.deleteTag(savepoint.tag());
        // Falls back to the checkpoint that tagged it, whose state still asks for the tag.
        scenario.fail(0);
        job.awaitFailure("planned failure");
        job.awaitRunning();
        scenario.awaitEmitted();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());

        table.assertTags();
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("A7: a foreign commit is refused again by the coordinator of each restart")
    void foreignCommitIsRefusedAgain() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).restarts(3));
        scenario.emit(5);
        Savepoint first = job.checkpoint();
        table.awaitCommitted(first.id());
        table.commitAs(table.latest().commitUser(), first.id(), 4_000_000_000L);
        scenario.emit(5);
        job.checkpointInVain();
        job.awaitStatus(JobStatus.FAILED);

        assertThat(job.failures())
                .contains("two jobs were started from one savepoint")
                .contains("failed at 'open'");
        assertThat(table.identifiers()).containsExactly(first.id(), first.id());
    }
}
