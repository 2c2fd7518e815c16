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

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * W4: a JobManager that needs much longer for a replay than an RPC may take.
 *
 * <pre>
 *   what an RPC may take                                     1.2 s
 *   one part of each writer: what flow control lets through  0.4 s
 *   the replay of one writer alone                           1.9 s
 *   the replays of all writers                               5.7 s
 * </pre>
 *
 * <p>Without flow control the last RPCs of each writer time out in each attempt, and the task
 * fails. With it an attempt fails only when the machine stands still for a while; the next one is
 * as good.
 */
class BusyJobManagerITCase extends JobITCase {

    private static final int WRITERS = 3;
    private static final int FILES = 800;

    /** In the metadata of each file. */
    private static final int INDEX_BYTES = 8 << 10;

    private static final int SAVEPOINTS = 2;

    private static final Duration ASK_TIMEOUT = Duration.ofMillis(1_200);
    private static final long BYTES_PER_SECOND = 7L << 20;

    /** Takes the savepoints: the RPC that asks for one must not take longer, either. */
    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @RegisterExtension
    static final TestCluster IMPATIENT = new TestCluster().withAskTimeout(ASK_TIMEOUT);

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    private RunningJob.Builder job(TestCluster cluster, AppendTable table) {
        return RunningJob.on(cluster, directory)
                .write(scenario, table.table())
                .parallelism(WRITERS)
                .set("execution.checkpointing.snapshot-compression", "true");
    }

    @Test
    @DisplayName("W4: a replay that keeps the JobManager busy for longer than an RPC may take")
    void replayArrivesBitByBit() throws Exception {
        scenario = scenario(0, WRITERS);
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(CLUSTER, table).filesPerFile(FILES).indexBytes(INDEX_BYTES));
        String[] tags = new String[SAVEPOINTS];
        Savepoint newest = null;
        for (int i = 0; i < SAVEPOINTS; i++) {
            scenario.emit(1);
            newest = job.savepoint();
            tags[i] = newest.tag();
        }
        job.cancel();
        RunningJob.awaitNoCommitter();
        assertThat(table.snapshots()).isEmpty();

        // The JobManager is too busy to answer, so that this looks at the table alone.
        submit(
                job(IMPATIENT, table)
                        .coordinatorTakes(BYTES_PER_SECOND)
                        .set("execution.checkpointing.interval", "500 ms")
                        .from(newest));
        table.awaitTags(tags);

        int files = WRITERS * SAVEPOINTS * FILES;
        assertThat(table.snapshots()).hasSize(SAVEPOINTS);
        assertThat(table.latest().totalRecordCount()).isEqualTo(files);

        // An attempt whose RPCs time out may have sent everything. A checkpoint completes only when
        // all writers run on.
        scenario.emit(1);
        Awaitility.await("one more record of each writer is committed")
                .atMost(Duration.ofSeconds(60))
                .until(() -> table.latest().totalRecordCount() == files + WRITERS);
        assertThat(table.distinctFiles()).isEqualTo(files + WRITERS);
        table.assertIdentifiersRise();
    }
}
