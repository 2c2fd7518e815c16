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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** Application mode: a JobManager for one job, which has the same id in each submission. */
class ApplicationITCase {

    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final int PARTITIONS = 4;
    private static final String JOB = "00000000000000000000000000000000";

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path directory;

    private final FlinkDistribution distribution = Distributions.built();

    @Test
    @DisplayName("A4, A7: two submissions with one job id and one commit user are two runs")
    void aSecondSubmissionWithTheSameJobIdGoesOnFromTheStopOfTheFirst() throws Exception {
        URI warehouse = directory.resolve("warehouse").toUri();
        TableDirectory table = new TableDirectory(directory.resolve("warehouse/default.db/t"));
        try (KafkaProcess kafka =
                KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT)) {
            kafka.createTopic("numbers", PARTITIONS);
            KafkaFeeder feeder = KafkaFeeder.start(kafka, "numbers", PARTITIONS, 0);
            RestClient.Savepoint first = runUntilStopped("first", kafka, warehouse, table, "");
            RestClient.Savepoint second =
                    runUntilStopped("second", kafka, warehouse, table, first.location());
            feeder.stop();

            assertThat(second.checkpointId()).isGreaterThan(first.checkpointId());
            assertThat(table.tags())
                    .containsKeys(
                            "savepoint-" + first.checkpointId(),
                            "savepoint-" + second.checkpointId());
            assertThat(table.snapshots().values())
                    .extracting(snapshot -> snapshot.properties().get("flink.job-id"))
                    .containsOnly(JOB);
            assertThat(table.snapshots().values().stream())
                    .extracting(TableDirectory.Snapshot::commitUser)
                    .containsOnly(table.latest().get().commitUser());
            try (FlinkCluster session =
                    FlinkCluster.builder(distribution, directory.resolve("session")).start(LIMIT)) {
                assertThat(new KafkaPipeline(session, kafka, warehouse, LIMIT).count("t").values())
                        .hasSize(PARTITIONS)
                        .allMatch(KafkaPipeline.Numbers::exactlyOnce);
            }
        }
    }

    private RestClient.Savepoint runUntilStopped(
            String name, KafkaProcess kafka, URI warehouse, TableDirectory table, String restore)
            throws IOException {
        Path script = directory.resolve(name + ".sql");
        FlinkClusterOptions options =
                FlinkCluster.builder(distribution, directory.resolve(name))
                        .application(
                                SqlApplication.class.getName(), "--job-id", JOB, script.toString())
                        .config("execution.checkpointing.interval", "1 s")
                        .config("parallelism.default", 2)
                        // The JobManager stays until it was asked for the savepoint of the stop.
                        .config("execution.shutdown-on-application-finish", false)
                        .listener(System.out::println);
        if (!restore.isEmpty()) {
            options.config("execution.state-recovery.path", restore);
        }
        Files.write(
                script,
                KafkaPipeline.application(kafka, warehouse, "numbers", "t")
                        .getBytes(StandardCharsets.UTF_8));
        long before = table.latest().map(TableDirectory.Snapshot::id).orElse(0L);
        try (FlinkCluster cluster = options.start(LIMIT)) {
            Await.until("two snapshots behind " + before, LIMIT)
                    .lookAt(cluster.logs())
                    .holds(table::latest, s -> s.isPresent() && s.get().id() >= before + 2);
            return cluster.rest()
                    .stop(JOB, cluster.savepoints(), RestClient.StopMode.NO_DRAIN, LIMIT);
        }
    }
}
