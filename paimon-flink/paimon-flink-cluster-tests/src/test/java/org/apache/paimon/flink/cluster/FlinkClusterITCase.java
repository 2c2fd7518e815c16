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

package org.apache.paimon.flink.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The harness on a real cluster. */
class FlinkClusterITCase {

    private static final Duration LIMIT = Duration.ofSeconds(180);

    @TempDir private Path directory;

    private final List<String> said = new ArrayList<>();

    @Test
    void aKilledTaskManagerIsReplacedAndNothingIsLeftAtTheEnd() throws Exception {
        FlinkDistribution distribution = Distributions.built();
        FlinkProcess jobManager;
        FlinkProcess first;
        FlinkProcess second;
        FlinkProcess third;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(Ports.HOST));
                FlinkCluster cluster =
                        FlinkCluster.builder(distribution, directory)
                                .taskManagers(2)
                                .slotsPerTaskManager(1)
                                .restPort(taken.getLocalPort())
                                .listener(said::add)
                                .start(LIMIT)) {
            jobManager = cluster.process("jm-1");
            first = cluster.process("tm-1");
            second = cluster.process("tm-2");
            assertThat(cluster.rest().taskManagers()).containsExactlyInAnyOrder("tm-1", "tm-2");
            assertThat(said).anyMatch(line -> line.contains("taken"));

            cluster.kill(first);
            assertThat(first.isAlive()).isFalse();
            third = cluster.startTaskManager();
            Await.until("tm-3 in the place of tm-1", LIMIT)
                    .holds(
                            () -> cluster.rest().taskManagers(),
                            ids -> ids.size() == 2 && ids.contains("tm-3"));

            SqlOutput output =
                    new SqlClient(cluster)
                            .run(
                                    "two",
                                    "SET 'sql-client.execution.result-mode' = 'tableau';\n"
                                            + "SET 'execution.runtime-mode' = 'batch';\n"
                                            + "SELECT COUNT(*) AS two"
                                            + " FROM (VALUES (1), (2)) AS v (n);\n",
                                    LIMIT);
            assertThat(output.tables().get(0).number("two")).isEqualTo(2);
            assertThatThrownBy(
                            () -> new SqlClient(cluster).run("bad", "SELECT * FROM absent;", LIMIT))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageContainingAll("bad.sql", "Object 'absent' not found", "exit code 0");
        }
        assertThat(jobManager.isAlive()).isFalse();
        assertThat(second.isAlive()).isFalse();
        assertThat(third.isAlive()).isFalse();
    }
}
