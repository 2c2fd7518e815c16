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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** R1, R3: a job that moves between the commit paths. */
class CommitPathSwitchITCase extends JobITCase {

    private static final String ENABLED = "sink.coordinator-commit.enabled";
    private static final String DISCARD = "sink.coordinator-commit.discard-restored-reports";

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    /** The uids keep the writers' state apart from the position in the job graph. */
    private AppendTable table() throws Exception {
        return table(CommitPath.COORDINATOR, "sink.operator-uid.suffix", "switch");
    }

    private RunningJob.Builder operatorPath(AppendTable table, boolean discard) {
        return job().write(
                        scenario, table.table(ENABLED, "false", DISCARD, String.valueOf(discard)))
                .allowNonRestoredState();
    }

    @Test
    @DisplayName("R3: reports that are not committed are refused on the operator path")
    void pendingReportsAreRefused() throws Exception {
        AppendTable table = table();
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint pending = job.savepoint();
        job.cancel();
        long committed = table.latest().id();

        RunningJob refused = submit(operatorPath(table, false).from(pending).withoutRestart());
        assertThat(refused.failure())
                .contains("restored with reports of the coordinator-commit path")
                .contains(String.valueOf(pending.id()))
                .contains(DISCARD + " = true")
                .contains(table.table().name());
        assertThat(table.latest().id()).isEqualTo(committed);
        table.assertTags();

        // The way out that the message names.
        RunningJob again = start(job(table).from(pending));
        scenario.emit(10);
        Savepoint stopped = again.stop();
        RunningJob onOperatorPath = start(operatorPath(table, true).from(stopped));
        scenario.emit(10);
        table.awaitCommitted(onOperatorPath.checkpoint().id());
        table.assertHolds(scenario.everything());
    }

    @Test
    @DisplayName("R1, R3: there and back, nothing is committed twice and nothing is lost")
    void thereAndBack() throws Exception {
        AppendTable table = table();
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint first = job.stop();
        table.assertHolds(scenario.everything());

        RunningJob onOperatorPath = start(operatorPath(table, true).from(first));
        scenario.emit(10);
        table.awaitCommitted(onOperatorPath.checkpoint().id());
        scenario.emit(10);
        Savepoint second = onOperatorPath.stop();
        table.assertHolds(scenario.everything());

        RunningJob back = start(job(table).allowNonRestoredState().from(second));
        scenario.emit(10);
        table.awaitCommitted(back.checkpoint().id());
        table.assertHolds(scenario.everything());
        scenario.emit(10);
        Savepoint third = back.stop();

        table.assertHolds(scenario.everything());
        assertThat(table.tags()).contains(first.tag(), second.tag(), third.tag());
        table.assertTagHolds(third.tag(), scenario.everything());
    }
}
