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
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.api.common.JobStatus;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** {@code INSERT INTO}, from a FLIP-27 source. */
class SqlITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    private RunningJob.Builder insert(AppendTable table, Input input) {
        return job(table).sql().input(input);
    }

    @ParameterizedTest
    @EnumSource(names = {"CHAINED", "REBALANCED"})
    @DisplayName("E3, E5: a bounded INSERT is written to the last row")
    void boundedInsertIsWrittenToTheLastRow(Input input) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job =
                start(
                        insert(table, input)
                                .bounded()
                                .withoutRestart()
                                .set("execution.checkpointing.interval", "300 ms"));
        assertThat(job.graph().getAllVertices()).hasSize(input == Input.CHAINED ? 1 : 2);
        scenario.emit(5);
        scenario.finish();
        job.awaitStatus(JobStatus.FINISHED);

        table.assertHolds(scenario.everything());
    }

    @ParameterizedTest
    @EnumSource(names = {"CHAINED", "REBALANCED"})
    @DisplayName("T1, T2, A5, E5: savepoint, stop, restore and stop with drain of an INSERT")
    void insertIsStoppedRestoredAndDrained(Input input) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(insert(table, input));
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Savepoint stop = job.stop();
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertTagHolds(stop.tag(), scenario.everything());

        RunningJob restored = start(insert(table, input).from(stop));
        scenario.emit(10);
        Savepoint drain = restored.stopWithDrain();
        table.assertTags(savepoint.tag(), stop.tag(), drain.tag());
        table.assertTagHolds(drain.tag(), scenario.everything());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }
}
