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

import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The same pipeline with each process in a container; skipped where no Docker engine answers. */
class ContainersITCase {

    private static final Duration LIMIT = Duration.ofSeconds(300);
    private static final int PARTITIONS = 2;

    @TempDir private Path directory;

    @Test
    void theSamePipelineRunsInContainers() {
        assumeTrue(
                ContainerProcessStarter.isAvailable(),
                "ContainersITCase is skipped: no Docker engine answers");
        Path checkout = Paths.get("..", "..").toAbsolutePath().normalize();
        FlinkDistribution distribution =
                Distributions.built()
                        .in(new ContainerProcessStarter(Arrays.asList(checkout, directory)));
        try (KafkaProcess kafka =
                        KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT);
                HdfsProcess hdfs =
                        HdfsProcess.start(distribution, directory.resolve("hdfs"), LIMIT);
                FlinkCluster cluster =
                        FlinkCluster.builder(distribution, directory.resolve("flink"))
                                .storage(hdfs)
                                .start(LIMIT)) {
            KafkaPipeline pipeline =
                    new KafkaPipeline(cluster, kafka, hdfs.uri("/warehouse"), LIMIT);
            kafka.createTopic("numbers", PARTITIONS);
            KafkaFeeder feeder = KafkaFeeder.start(kafka, "numbers", PARTITIONS, 0);
            String job = pipeline.job("numbers", "t").submit();
            TableDirectory table = new TableDirectory(pipeline.tableLocation("t"));
            Await.until("two snapshots", LIMIT)
                    .holds(table::latest, s -> s.isPresent() && s.get().id() >= 2);

            RestClient.Savepoint stopped =
                    cluster.rest()
                            .stop(
                                    job,
                                    cluster.storage("savepoints"),
                                    RestClient.StopMode.NO_DRAIN,
                                    LIMIT);

            assertThat(table.tags()).containsKey("savepoint-" + stopped.checkpointId());
            Map<Integer, KafkaPipeline.Numbers> counted = pipeline.count("t");
            assertThat(counted).hasSize(PARTITIONS);
            assertThat(counted.values()).allMatch(KafkaPipeline.Numbers::exactlyOnce);
            feeder.stop();
        }
    }
}
