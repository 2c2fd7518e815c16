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

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import static org.apache.paimon.flink.cluster.PipelineJob.ClaimMode.NO_CLAIM;
import static org.assertj.core.api.Assertions.assertThat;

/** Warehouse, checkpoints and savepoints in an object store that speaks the protocol of S3. */
class ObjectStoreITCase {

    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final int PARTITIONS = 4;

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path directory;

    private FlinkCluster cluster;
    private KafkaPipeline pipeline;
    private TableDirectory table;
    private Cli cli;

    @Test
    @DisplayName(
            "T1, T2, A3, A4: savepoint, TaskManager killed, stop, old hints, rollback, restore")
    void theObjectStoreKeepsTheSameExactlyOnce() throws Exception {
        FlinkDistribution distribution = Distributions.built();
        try (KafkaProcess kafka =
                        KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT);
                S3Process s3 = S3Process.start(distribution, directory.resolve("s3"), LIMIT);
                FlinkCluster started =
                        FlinkCluster.builder(distribution, directory.resolve("flink"))
                                .taskManagers(2)
                                .slotsPerTaskManager(2)
                                .storage(s3)
                                .config("restart-strategy.type", "fixed-delay")
                                .config("restart-strategy.fixed-delay.attempts", 20)
                                .config("restart-strategy.fixed-delay.delay", "500 ms")
                                .listener(System.out::println)
                                .start(LIMIT)) {
            cluster = started;
            cli = new Cli(cluster);
            pipeline =
                    new KafkaPipeline(cluster, kafka, URI.create(s3.uri() + "/warehouse"), LIMIT);
            Path files = s3.files().resolve("warehouse").resolve("default.db").resolve("t");
            table = new TableDirectory(files);
            s3.createDirectory("warehouse/default.db");
            kafka.createTopic("numbers", PARTITIONS);
            KafkaFeeder feeder = KafkaFeeder.start(kafka, "numbers", PARTITIONS, 0);

            String job = pipeline.job("numbers", "t").submit();
            awaitMoreSnapshots();
            RestClient.Savepoint first = cli.savepoint(job, cluster.storage("savepoints"), LIMIT);
            Await.until("tag " + tagOf(first), LIMIT)
                    .lookAt(cluster.logs())
                    .holds(table::tags, tags -> tags.containsKey(tagOf(first)));
            cluster.kill(cluster.process("tm-1"));
            cluster.startTaskManager();
            cluster.awaitTaskManagers(2, LIMIT);
            awaitMoreSnapshots();
            RestClient.Savepoint stopped =
                    cli.stop(
                            job,
                            cluster.storage("savepoints"),
                            RestClient.StopMode.NO_DRAIN,
                            LIMIT);
            assertThat(table.tags()).containsKey(tagOf(stopped));
            requirePrefixes(pipeline.countAt("t", tagOf(first)));
            requirePrefixes(pipeline.count("t"));

            pipeline.rollback("t", tagOf(first));
            // As an object store that shows an old version for a while, or a writer that died.
            s3.put("warehouse/default.db/t/snapshot/LATEST", "1");
            long sent = feeder.stop();
            // s3proxy takes a directory for an empty object, other than S3: name the file.
            job =
                    pipeline.job("numbers", "t")
                            .restore(first.location() + "/_metadata", NO_CLAIM)
                            .submit();
            Await.until(PARTITIONS * sent + " records", LIMIT)
                    .lookAt(cluster.logs())
                    .holds(table::latest, s -> s.get().records() >= PARTITIONS * sent);
            cli.stop(job, cluster.storage("savepoints"), RestClient.StopMode.NO_DRAIN, LIMIT);

            Map<Integer, KafkaPipeline.Numbers> counted = pipeline.count("t");
            requirePrefixes(counted);
            assertThat(counted.values()).allMatch(numbers -> numbers.count() == sent);
        }
    }

    /** Two more commits: the first one may have been under way before. */
    private void awaitMoreSnapshots() {
        long before = table.latest().map(TableDirectory.Snapshot::id).orElse(0L);
        Await.until("two snapshots behind " + before, LIMIT)
                .lookAt(cluster.logs())
                .holds(table::latest, s -> s.isPresent() && s.get().id() >= before + 2);
    }

    private static void requirePrefixes(Map<Integer, KafkaPipeline.Numbers> counted) {
        assertThat(counted).hasSize(PARTITIONS);
        assertThat(counted.values()).allMatch(KafkaPipeline.Numbers::exactlyOnce);
    }

    private static String tagOf(RestClient.Savepoint savepoint) {
        return "savepoint-" + savepoint.checkpointId();
    }
}
