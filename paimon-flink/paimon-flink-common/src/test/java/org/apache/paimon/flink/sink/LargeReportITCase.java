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

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Reports far above the RPC frame of 10 MB, between components with RPC services of their own. */
class LargeReportITCase extends JobITCase {

    private static final int FILES = 50_000;

    /** Writer and coordinator are in one process here: LargeReplayTest replays twenty. */
    private static final int REPLAYED = 4;

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster().withRpcFrames();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    /** Flink 2.0.0 reads operator state that is not compressed byte by byte from its file. */
    private RunningJob.Builder largeReports(AppendTable table) {
        return job(table)
                .parallelism(1)
                .filesPerFile(FILES)
                .set("execution.checkpointing.snapshot-compression", "true");
    }

    @Test
    @DisplayName(
            "W2: 50,000 files of one writer in one checkpoint arrive, and a replay of four of them")
    void fiftyThousandFilesOfOneWriterArrive() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(largeReports(table));
        scenario.emit(0, 1);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        assertThat(table.distinctFiles()).isEqualTo(FILES);

        // Nothing completes a savepoint: their reports pile up, and all of them are replayed.
        List<String> tags = new ArrayList<>();
        Savepoint newest = null;
        for (int i = 0; i < REPLAYED; i++) {
            scenario.emit(0, 1);
            newest = job.savepoint();
            tags.add(newest.tag());
        }
        job.cancel();
        RunningJob restored = start(largeReports(table).from(newest));
        table.awaitTags(tags.toArray(new String[0]));
        assertThat(table.distinctFiles()).isEqualTo((1 + REPLAYED) * FILES);
        restored.stop();
        table.assertIdentifiersRise();
    }
}
