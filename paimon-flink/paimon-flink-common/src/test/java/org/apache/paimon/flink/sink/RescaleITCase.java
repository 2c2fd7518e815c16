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
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Restores at another parallelism, with reports that are not committed yet. At parallelism 1 the
 * committer of the operator path is chained to the writer, and Flink maps its state to no other
 * parallelism; that is so in the base, too.
 */
class RescaleITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest(name = "{0}, {1} to {2}")
    @CsvSource({
        "COORDINATOR, 4, 2",
        "COORDINATOR, 2, 4",
        "COORDINATOR, 3, 1",
        "COORDINATOR, 1, 3",
        "OPERATOR, 4, 2",
        "OPERATOR, 2, 4"
    })
    @DisplayName("A6: from a savepoint that is not committed yet")
    void fromASavepoint(CommitPath path, int from, int to) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).parallelism(from));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint first = job.savepoint();
        scenario.emit(10);
        Savepoint second = job.savepoint();
        job.cancel();
        assertThat(table.identifiers()).doesNotContain(first.id(), second.id());

        RunningJob restored = start(job(table).parallelism(to).from(second));
        table.awaitTags(first.tag(), second.tag());
        checkContent(table, restored, first, second);
    }

    @ParameterizedTest(name = "{0}, {1} to {2}")
    @CsvSource({
        "COORDINATOR, 4, 2",
        "COORDINATOR, 2, 4",
        "COORDINATOR, 3, 1",
        "COORDINATOR, 1, 3",
        "OPERATOR, 4, 2",
        "OPERATOR, 2, 4"
    })
    @DisplayName("A6: from a retained checkpoint that is not committed yet, with a savepoint in it")
    void fromARetainedCheckpoint(CommitPath path, int from, int to) throws Exception {
        AppendTable table = table(path, "sink.coordinator-commit.close-timeout", "100 ms");
        RunningJob job = start(job(table).parallelism(from));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint first = job.savepoint();
        scenario.emit(10);
        Hook.Gate gate = scenario.beforeSnapshot.holdNext();
        Savepoint checkpoint = job.checkpoint();
        gate.awaitReached();
        job.cancel();
        assertThat(table.identifiers()).doesNotContain(first.id(), checkpoint.id());

        RunningJob restored = start(job(table).parallelism(to).from(checkpoint));
        table.awaitTags(first.tag());
        checkContent(table, restored, first, checkpoint);
    }

    private void checkContent(
            AppendTable table, RunningJob restored, Savepoint first, Savepoint second)
            throws Exception {
        table.awaitCommitted(second.id());
        table.assertTagHolds(first.tag(), scenario.before(first.id()));
        table.assertHolds(scenario.before(second.id()));
        scenario.emit(10);
        Savepoint third = restored.savepoint();
        scenario.emit(10);
        Savepoint last = restored.stop();

        assertThat(table.tags()).contains(first.tag(), third.tag(), last.tag());
        table.assertTagHolds(third.tag(), scenario.before(third.id()));
        table.assertHolds(scenario.everything());
        table.assertWatermarksRise();
        assertThat(table.latest().watermark()).isEqualTo(50);
        assertThat(table.commitUsers()).hasSize(1);
    }
}
