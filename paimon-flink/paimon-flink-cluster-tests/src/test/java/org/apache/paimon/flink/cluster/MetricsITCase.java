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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The metrics as operators see them: through Flink's REST API and in a scrape of Prometheus. */
class MetricsITCase {

    private static final Duration LIMIT = Duration.ofSeconds(120);

    /** What the page of the metrics promises for the coordinator path. */
    private static final String[] COORDINATOR = {
        "pendingCheckpoints", "pendingSavepoints", "heldReportBytes", "queuedActions",
        "busyTimeMsPerSecond", "numCommits", "lastCommitDurationMs", "secondsSinceLastCommit",
        "numLateEventsIgnored", "numRestores", "lastRestoreDurationMs"
    };

    /** What it promises for both. */
    private static final String[] TAGS = {
        "numSavepointTagsCreated", "numSavepointTagsDeleted", "numSavepointTagCollisions",
        "numSavepointTagFailures", "numSavepointSnapshotsGone", "lastTaggedCheckpointId"
    };

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private static Path directory;

    private static PrometheusReporter prometheus;
    private static FlinkCluster cluster;
    private static KafkaProcess kafka;
    private static KafkaPipeline pipeline;

    @BeforeAll
    static void start() {
        FlinkDistribution distribution = Distributions.built();
        kafka = KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT);
        prometheus = new PrometheusReporter(distribution, 2);
        cluster =
                prometheus
                        .addTo(FlinkCluster.builder(distribution, directory.resolve("flink")))
                        .taskManagers(1)
                        .slotsPerTaskManager(4)
                        .config("metrics.fetcher.update-interval", "1 s")
                        .listener(System.out::println)
                        .start(LIMIT);
        pipeline = new KafkaPipeline(cluster, kafka, directory.resolve("warehouse").toUri(), LIMIT);
    }

    @AfterAll
    static void stop() {
        if (cluster != null) {
            cluster.close();
        }
        if (kafka != null) {
            kafka.close();
        }
    }

    @Test
    @DisplayName("L1, T5: metrics of the coordinator path through REST and Prometheus")
    void metricsOfTheCoordinatorPath() throws Exception {
        kafka.createTopic("numbers", 2);
        KafkaFeeder feeder = KafkaFeeder.start(kafka, "numbers", 2, 0);
        String job = pipeline.job("numbers", "committed").submit();
        TableDirectory table =
                new TableDirectory(directory.resolve("warehouse/default.db/committed"));
        RestClient.Savepoint savepoint = savepointAndTag(job, table);

        Map<String, Double> rest =
                Await.until("the tag in the metrics of the REST API", LIMIT)
                        .lookAt(cluster.logs())
                        .holds(
                                () -> coordinatorMetrics(job),
                                seen ->
                                        seen.getOrDefault("lastTaggedCheckpointId", -1.0)
                                                == savepoint.checkpointId());
        assertThat(rest).containsKeys(COORDINATOR).containsKeys(TAGS);
        assertThat(rest.get("numCommits")).isGreaterThanOrEqualTo(2);
        assertThat(rest.get("numSavepointTagsCreated")).isEqualTo(1);
        assertThat(rest.get("numRestores")).isZero();
        assertThat(rest.get("lastCommitDurationMs")).isNotNegative();

        Map<String, Double> scraped = scrape("flink_jobmanager_job_operator_coordinator_");
        assertThat(scraped).containsKeys(COORDINATOR).containsKeys(TAGS);
        assertThat(scraped.get("numSavepointTagsCreated")).isEqualTo(1);
        assertThat(scraped.get("lastTaggedCheckpointId")).isEqualTo(savepoint.checkpointId());

        cluster.cancel(job, "committed", LIMIT);
        feeder.stop();
        try (Stream<Path> logs = Files.list(cluster.logs())) {
            assertThat(logs.filter(log -> log.getFileName().toString().matches("jm-.*\\.log")))
                    .as("no metric is registered twice")
                    .isNotEmpty()
                    .noneMatch(MetricsITCase::namesACollision);
        }
    }

    @Test
    @DisplayName("T9: metrics of the operator path in the scrape of its TaskManager")
    void metricsOfTheOperatorPath() throws Exception {
        kafka.createTopic("others", 1);
        KafkaFeeder feeder = KafkaFeeder.start(kafka, "others", 1, 0);
        String job =
                pipeline.job("others", "classic")
                        .option("sink.coordinator-commit.enabled", false)
                        .parallelism(1)
                        .submit();
        TableDirectory table =
                new TableDirectory(directory.resolve("warehouse/default.db/classic"));
        RestClient.Savepoint savepoint = savepointAndTag(job, table);

        Map<String, Double> scraped =
                Await.until("the tag in the scrape", LIMIT)
                        .lookAt(cluster.logs())
                        .holds(
                                () -> scrape("flink_taskmanager_job_task_operator_"),
                                seen ->
                                        seen.getOrDefault("lastTaggedCheckpointId", -1.0)
                                                == savepoint.checkpointId());
        assertThat(scraped).containsKeys(TAGS);
        assertThat(scraped.get("numSavepointTagsCreated")).isEqualTo(1);
        cluster.rest().cancel(job);
        cluster.rest().awaitJobState(job, "CANCELED", LIMIT);
        feeder.stop();
    }

    private RestClient.Savepoint savepointAndTag(String job, TableDirectory table) {
        Await.until("a first commit", LIMIT)
                .lookAt(cluster.logs())
                .holds(table::latest, snapshot -> snapshot.isPresent());
        RestClient.Savepoint savepoint = cluster.rest().savepoint(job, cluster.savepoints(), LIMIT);
        Await.until("the tag of savepoint " + savepoint.checkpointId(), LIMIT)
                .lookAt(cluster.logs())
                .holds(
                        table::tags,
                        tags -> tags.containsKey("savepoint-" + savepoint.checkpointId()));
        return savepoint;
    }

    /** By their last name. */
    private Map<String, Double> coordinatorMetrics(String job) {
        Map<String, Double> found = new TreeMap<>();
        for (JsonNode vertex : cluster.rest().get("/jobs/" + job).path("vertices")) {
            String url =
                    "/jobs/"
                            + job
                            + "/vertices/"
                            + vertex.path("id").asText()
                            + "/jm-operator-metrics";
            for (JsonNode listed : cluster.rest().get(url)) {
                String id = listed.path("id").asText();
                for (JsonNode value : cluster.rest().get(url + "?get=" + encoded(id))) {
                    found.put(
                            id.substring(id.lastIndexOf('.') + 1), value.path("value").asDouble());
                }
            }
        }
        return found;
    }

    private static boolean namesACollision(Path log) {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .contains("Name collision");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String encoded(String id) {
        try {
            return URLEncoder.encode(id, "UTF-8");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of all processes, by the last name of each metric. */
    private static Map<String, Double> scrape(String prefix) {
        Map<String, Double> found = new TreeMap<>();
        for (MetricsPage page : prometheus.scrape()) {
            found.putAll(page.values(prefix));
        }
        return found;
    }
}
