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
import org.apache.paimon.flink.sink.testutils.Input;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Inputs that end, at once or one after the other. What a writer of the operator path flushes at
 * its end is committed when the whole job ends, as in the base; so most of this is about the
 * coordinator path.
 */
class BoundedJobITCase extends JobITCase {

    private static final String INTERVAL = CheckpointingOptions.CHECKPOINTING_INTERVAL.key();
    private static final String AFTER_FINISH =
            CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH.key();

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E5: a bounded source with rows behind the last checkpoint, in every chain")
    void boundedJobSendsNothingAfterTheEndOfInput(Input input) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob.Builder builder =
                job(table).input(input).withoutRestart().set(INTERVAL, "300 ms");
        RunningJob job = start(input == Input.LEGACY ? builder : builder.bounded());
        assertThat(job.graph().getAllVertices()).hasSize(input == Input.CHAINED ? 1 : 2);
        scenario.emit(5);
        scenario.finish();
        job.awaitStatus(JobStatus.FINISHED);

        table.assertHolds(scenario.everything());
        assertThat(table.ids()).hasSize(20);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E5: a stop with drain and rows behind the last checkpoint, in every chain")
    void drainSendsNothingAfterTheEndOfInput(Input input) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).input(input).withoutRestart().set(INTERVAL, "300 ms"));
        scenario.emit(5);
        Savepoint savepoint = job.stopWithDrain();

        table.assertHolds(scenario.everything());
        assertThat(table.ids()).hasSize(20);
        assertThat(table.identifiers()).allMatch(id -> id <= savepoint.id());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E1, E3: a bounded job ends only after its last, slow commit")
    void boundedJobEndsAfterItsLastCommit(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).bounded().set(INTERVAL, "200 ms"));
        for (int commit = 0; commit < 20; commit++) {
            scenario.afterSnapshot.slowNext(Duration.ofMillis(700));
        }
        scenario.emit(10);
        scenario.finish();
        job.awaitStatus(JobStatus.FINISHED);

        table.assertHolds(scenario.everything());
        if (path == CommitPath.COORDINATOR) {
            assertThat(table.identifiers()).allMatch(id -> id < Long.MAX_VALUE);
        }
    }

    @Test
    @DisplayName("E2: writers finish at different times, one without ever getting a record")
    void writersFinishAtDifferentTimes() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).parallelism(4).set(INTERVAL, "200 ms"));
        scenario.emit(0, 10);
        scenario.emit(1, 10);
        scenario.emit(2, 10);
        scenario.finish(0);
        scenario.finish(3);
        job.awaitFinished(0, 3);
        scenario.emit(1, 10);
        scenario.emit(2, 10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(1, 10);
        scenario.finish(1);
        job.awaitFinished(1);
        table.awaitTags(savepoint.tag());
        scenario.emit(2, 10);
        scenario.finish(2);
        job.awaitStatus(JobStatus.FINISHED);

        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("E2: of two sinks one finishes early, the other goes on and is stopped")
    void oneOfTwoSinksFinishesEarly() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        Scenario early = scenario(100, 2);
        AppendTable earlyTable =
                AppendTable.create(directory, early, CommitPath.COORDINATOR.options());
        RunningJob job = start(job(table).write(early, earlyTable.table()).set(INTERVAL, "200 ms"));
        early.emit(10);
        early.finish();
        scenario.emit(10);
        job.awaitGraph("the early writers have finished", graph -> job.finishedWriters(graph) == 2);
        earlyTable.assertHolds(early.everything());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitTags(savepoint.tag());
        scenario.emit(10);
        Savepoint stop = job.stop();

        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertTagHolds(stop.tag(), scenario.everything());
        table.assertHolds(scenario.everything());
        earlyTable.assertHolds(early.everything());
        assertThat(earlyTable.tags()).isEmpty();
    }

    @Test
    @DisplayName("E2, A3: failovers after some writers have finished")
    void failoversAfterSomeWritersHaveFinished() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).set(INTERVAL, "200 ms"));
        scenario.emit(10);
        scenario.finish(1);
        scenario.finish(3);
        job.awaitFinished(1);
        scenario.emit(0, 10);
        scenario.fail(0);
        job.awaitGraph(
                "the running source has been restarted",
                graph -> job.attemptsOf(graph).get(0) == 1);
        job.awaitRunning();
        scenario.awaitEmitted();
        scenario.emit(0, 10);
        scenario.beforeSnapshot.failNext(1);
        scenario.emit(2, 10);
        job.awaitGraph("the job has been restarted", graph -> job.attemptsOf(graph).get(0) == 2);
        job.awaitRunning();
        scenario.emit(0, 10);
        scenario.finish();
        job.awaitStatus(JobStatus.FINISHED);

        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("E4: restored from a checkpoint in which all writers of a sink had finished")
    void restoredAfterAllWritersHadFinished() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        Scenario early = scenario(100, 2);
        AppendTable earlyTable =
                AppendTable.create(directory, early, CommitPath.COORDINATOR.options());
        RunningJob job = start(job(table).write(early, earlyTable.table()).set(INTERVAL, "200 ms"));
        early.emit(10);
        early.finish();
        scenario.emit(10);
        job.awaitGraph("the early writers have finished", graph -> job.finishedWriters(graph) == 2);
        Savepoint checkpoint = job.checkpoint();
        job.cancel();

        RunningJob restored = start(job(table).write(early, earlyTable.table()).from(checkpoint));
        scenario.emit(10);
        Savepoint savepoint = restored.savepoint();
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
        earlyTable.assertHolds(early.everything());
    }

    @Test
    @DisplayName("E2: at another parallelism after some writers had finished")
    void rescaledAfterSomeWritersHadFinished() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).parallelism(4).set(INTERVAL, "200 ms"));
        scenario.emit(10);
        scenario.finish(0);
        scenario.finish(2);
        job.awaitFinished(0, 2);
        scenario.emit(1, 10);
        Savepoint savepoint = job.savepoint();
        job.cancel();

        RunningJob restored =
                start(job(table).parallelism(2).set(INTERVAL, "200 ms").from(savepoint));
        scenario.emit(1, 10);
        scenario.emit(3, 10);
        scenario.finish();
        restored.awaitStatus(JobStatus.FINISHED);

        assertThat(table.tags()).contains(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("E3: a bounded source without checkpoints after its end is refused")
    void boundedSourceWithoutFinalCheckpointIsRefused() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        Configuration configuration = new Configuration();
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
        configuration.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        FlinkSinkBuilder sink =
                new FlinkSinkBuilder(table.table())
                        .forRowData(
                                env.fromData(
                                        Collections.singletonList(
                                                (RowData) GenericRowData.of(1L, 1)),
                                        TypeInformation.of(RowData.class)));

        assertThatThrownBy(sink::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(AFTER_FINISH)
                .hasMessageContaining("sink.coordinator-commit.enabled");
    }

    @Test
    @DisplayName("E3: an input that ends all the same fails the job and names the option")
    void endOfInputWithoutFinalCheckpointFails() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).set(AFTER_FINISH, "false"));
        scenario.emit(10);
        scenario.finish();
        job.awaitStatus(JobStatus.FAILED);

        assertThat(job.failure()).contains(AFTER_FINISH);
        assertThat(table.ids()).isEmpty();
    }
}
