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

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import static org.apache.paimon.flink.cluster.PipelineJob.ClaimMode.CLAIM;
import static org.apache.paimon.flink.cluster.PipelineJob.ClaimMode.NO_CLAIM;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pipeline that operators run: Kafka to Flink SQL to a partitioned append table on HDFS, with
 * high availability, coordinator commit and a tag for each savepoint. Every part is a process.
 *
 * <p>The cluster starts with the released jar, and goes on with ours after the first test.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PipelineITCase {

    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final int PARTITIONS = 4;

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private static Path directory;

    private static final FlinkDistribution distribution = Distributions.built();
    private static KafkaProcess kafka;
    private static ZooKeeperProcess zooKeeper;
    private static HdfsProcess hdfs;
    private static FlinkCluster cluster;
    private static KafkaPipeline pipeline;
    private static Cli cli;

    @BeforeAll
    static void startAll() {
        kafka = KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT);
        zooKeeper = ZooKeeperProcess.start(distribution, directory.resolve("zookeeper"), LIMIT);
        hdfs = HdfsProcess.start(distribution, directory.resolve("hdfs"), LIMIT);
        cluster =
                FlinkCluster.builder(
                                distribution.withPaimonJar(Distributions.stockJar()),
                                directory.resolve("flink"))
                        .taskManagers(2)
                        .slotsPerTaskManager(2)
                        .zooKeeper(zooKeeper)
                        .standbyJobManagers(1)
                        .storage(hdfs)
                        .config("restart-strategy.type", "fixed-delay")
                        .config("restart-strategy.fixed-delay.attempts", 20)
                        .config("restart-strategy.fixed-delay.delay", "500 ms")
                        .listener(System.out::println)
                        .start(LIMIT);
        pipeline = new KafkaPipeline(cluster, kafka, hdfs.uri("/warehouse"), LIMIT);
        cli = new Cli(cluster);
    }

    @AfterAll
    static void closeAll() {
        for (AutoCloseable part : new AutoCloseable[] {cluster, hdfs, zooKeeper, kafka}) {
            closeQuietly(part);
        }
    }

    private static void closeQuietly(AutoCloseable part) {
        try {
            if (part != null) {
                part.close();
            }
        } catch (Exception e) {
            System.out.println("not closed: " + part + ": " + e);
        }
    }

    // ------------------------------------------------------------------------------------------
    //  Scenarios
    // ------------------------------------------------------------------------------------------

    @Test
    @Order(1)
    @DisplayName("S3: a savepoint of the released jar restores with ours, which tags from then on")
    void aSavepointOfTheStockJarRestores() {
        KafkaFeeder feeder = feed("upgrade");
        String job =
                pipeline.job("upgrade", "upgraded")
                        .option("sink.savepoint.auto-tag", false)
                        .submit();
        awaitMoreRecords("upgraded");
        RestClient.Savepoint stock = stop(job, RestClient.StopMode.NO_DRAIN);

        cluster.restartWith(distribution.paimonJar(), LIMIT);
        job = pipeline.job("upgrade", "upgraded").restore(stock.location(), NO_CLAIM).submit();
        awaitMoreRecords("upgraded");
        requireTagged("upgraded", stop(job, RestClient.StopMode.NO_DRAIN));

        requirePrefixes(pipeline.count("upgraded"));
        feeder.stop();
    }

    @Test
    @Order(2)
    @DisplayName("T1, T2, A5, A6: savepoint, stop, rescale, new column, drain, rollback, restore")
    void savepointsAreTaggedAndRestoredOverStopRescaleSchemaChangeAndRollback() throws Exception {
        KafkaFeeder feeder = feed("story");
        String job = pipeline.job("story", "chapters").submit();
        awaitMoreRecords("chapters");
        RestClient.Savepoint first = cli.savepoint(job, cluster.storage("savepoints"), LIMIT);
        awaitTag("chapters", first);
        RestClient.Savepoint stopped = stop(job, RestClient.StopMode.NO_DRAIN);
        requireTagged("chapters", stopped);

        pipeline.run("add-column", "ALTER TABLE chapters ADD (note STRING);\n");
        job =
                pipeline.job("story", "chapters")
                        .parallelism(3)
                        .restore(stopped.location(), NO_CLAIM)
                        .submit();
        awaitMoreRecords("chapters");
        RestClient.Savepoint drained = stop(job, RestClient.StopMode.DRAIN);
        requireTagged("chapters", drained);
        requirePrefixes(pipeline.count("chapters"));
        requirePrefixes(pipeline.countAt("chapters", tagOf(first)));

        // The first savepoint is somewhere else by now.
        String moved = "/archive/moved";
        hdfs.move(URI.create(first.location()).getPath(), moved);
        pipeline.rollback("chapters", tagOf(first));
        long sent = feeder.stop();
        job =
                pipeline.job("story", "chapters")
                        .parallelism(1)
                        .restore(hdfs.uri(moved).toString(), CLAIM)
                        .submit();
        awaitRecords("chapters", PARTITIONS * sent);
        stop(job, RestClient.StopMode.NO_DRAIN);
        requireExactly("chapters", sent);
    }

    @Test
    @Order(3)
    @DisplayName("E1, E3: a bounded read ends with all its records")
    void aBoundedReadEndsWithAllItsRecords() {
        kafka.createTopic("finite", PARTITIONS);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            kafka.send("finite", partition, 0, 2000);
        }

        String job = pipeline.job("finite", "complete").bounded().submit();
        cluster.rest().awaitJobState(job, "FINISHED", LIMIT);

        assertThat(table("complete").latest().get().records()).isEqualTo(PARTITIONS * 2000);
        assertThat(table("complete").snapshots().values())
                .allMatch(snapshot -> snapshot.commitIdentifier() < Long.MAX_VALUE);
        requireExactly("complete", 2000);
    }

    @Test
    @Order(4)
    @DisplayName("T5: two sinks of one job into one table are both tagged")
    void twoSinksIntoOneTableAreBothTagged() {
        KafkaFeeder left = feed("origin");
        KafkaFeeder right = feed("other");
        String job = pipeline.job("origin", "shared").into("other", "shared").submit();
        awaitMoreRecords("shared");

        RestClient.Savepoint stopped = stop(job, RestClient.StopMode.NO_DRAIN);

        String tag = tagOf(stopped);
        assertThat(table("shared").tags().entrySet())
                .filteredOn(entry -> entry.getKey().startsWith(tag))
                .as("tags of %s", stopped)
                .hasSize(2)
                .extracting(entry -> entry.getValue().commitUser())
                .doesNotHaveDuplicates();
        left.stop();
        right.stop();
    }

    @Test
    @Order(5)
    @DisplayName("A4: the standby JobManager goes on with the job of one that was killed")
    void theStandbyGoesOnWithTheJob() {
        KafkaFeeder feeder = feed("succession");
        String job = pipeline.job("succession", "continued").submit();
        awaitMoreRecords("continued");
        FlinkProcess leader = cluster.leader();

        cluster.kill(leader);
        Await.until("another leader than " + leader, LIMIT)
                .holds(cluster::leader, other -> other != leader);
        awaitMoreRecords("continued");
        Await.until("a checkpoint under the new leader", LIMIT)
                .holds(() -> cluster.rest().checkpoints(job).completed(), count -> count > 0);
        requireTagged("continued", stop(job, RestClient.StopMode.NO_DRAIN));

        requirePrefixes(pipeline.count("continued"));
        feeder.stop();
        cluster.startJobManager(LIMIT);
    }

    // ------------------------------------------------------------------------------------------
    //  Steps
    // ------------------------------------------------------------------------------------------

    private KafkaFeeder feed(String topic) {
        kafka.createTopic(topic, PARTITIONS);
        return KafkaFeeder.start(kafka, topic, PARTITIONS, 0);
    }

    private RestClient.Savepoint stop(String job, RestClient.StopMode mode) {
        return cli.stop(job, cluster.storage("savepoints"), mode, LIMIT);
    }

    private TableDirectory table(String name) {
        return new TableDirectory(pipeline.tableLocation(name));
    }

    /** Two more commits: the first one may have been under way before. */
    private void awaitMoreRecords(String table) {
        long before = table(table).latest().map(TableDirectory.Snapshot::id).orElse(0L);
        Await.until("two snapshots behind " + before + " in " + table, LIMIT)
                .lookAt(cluster.logs())
                .holds(
                        table(table)::latest,
                        latest -> latest.isPresent() && latest.get().id() >= before + 2);
    }

    private void awaitRecords(String table, long records) {
        Await.until(records + " records in " + table, LIMIT)
                .lookAt(cluster.logs())
                .holds(
                        table(table)::latest,
                        latest -> latest.isPresent() && latest.get().records() >= records);
    }

    private void awaitTag(String table, RestClient.Savepoint savepoint) {
        Await.until("tag " + tagOf(savepoint), LIMIT)
                .lookAt(cluster.logs())
                .holds(table(table)::tags, tags -> tags.containsKey(tagOf(savepoint)));
        requireTagged(table, savepoint);
    }

    /** T2: no waiting here; when a stop has returned, the tag is there. */
    private void requireTagged(String table, RestClient.Savepoint savepoint) {
        Map<String, TableDirectory.Snapshot> tags = table(table).tags();
        assertThat(tags).as("tags of %s after %s", table, savepoint).containsKey(tagOf(savepoint));
        TableDirectory.Snapshot tagged = tags.get(tagOf(savepoint));
        assertThat(tagged.commitIdentifier()).isEqualTo(savepoint.checkpointId());
        assertThat(tagged.properties())
                .containsEntry("flink.checkpoint-id", Long.toString(savepoint.checkpointId()));
    }

    private void requireExactly(String table, long recordsPerPartition) {
        Map<Integer, KafkaPipeline.Numbers> counted = pipeline.count(table);
        requirePrefixes(counted);
        assertThat(counted.values())
                .allMatch(numbers -> numbers.count() == recordsPerPartition, "as many as sent");
    }

    /** Each record that was read is there exactly once. */
    private static void requirePrefixes(Map<Integer, KafkaPipeline.Numbers> counted) {
        assertThat(counted).hasSize(PARTITIONS);
        assertThat(counted.values()).allMatch(KafkaPipeline.Numbers::exactlyOnce);
    }

    private static String tagOf(RestClient.Savepoint savepoint) {
        return "savepoint-" + savepoint.checkpointId();
    }
}
