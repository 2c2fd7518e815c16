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

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each service of the cluster tests: it starts, keeps its data over a SIGKILL, and ends. */
class ServicesITCase {

    private static final Duration LIMIT = Duration.ofSeconds(120);

    @TempDir private Path directory;

    private final FlinkDistribution distribution = Distributions.built();

    @Test
    void kafkaNumbersTheRecordsOfAPartitionByTheirOffsetAlsoAfterAKill() {
        FlinkProcess second;
        try (KafkaProcess kafka = KafkaProcess.start(distribution, directory, LIMIT)) {
            kafka.createTopic("numbers", 2);
            kafka.send("numbers", 1, 0, 1000);
            FlinkProcess first = kafka.server().process();

            kafka.server().kill();
            assertThat(first.isAlive()).isFalse();
            kafka.server().start(LIMIT);
            kafka.send("numbers", 1, 1000, 1500);

            second = kafka.server().process();
            assertThat(recordsOf(kafka, new TopicPartition("numbers", 1), 1500))
                    .hasSize(1500)
                    .allSatisfy(
                            record ->
                                    assertThat(record.value())
                                            .isEqualTo(
                                                    "{\"part\": 1, \"id\": "
                                                            + record.offset()
                                                            + "}"));
        }
        assertThat(second.isAlive()).isFalse();
    }

    private static List<ConsumerRecord<String, String>> recordsOf(
            KafkaProcess kafka, TopicPartition partition, int count) {
        Map<String, Object> properties = new HashMap<>();
        properties.put("bootstrap.servers", kafka.bootstrapServers());
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(
                        properties, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(Collections.singleton(partition));
            consumer.seekToBeginning(Collections.singleton(partition));
            Await.until(count + " records of " + partition, LIMIT)
                    .holds(
                            () -> {
                                consumer.poll(Duration.ofSeconds(1)).forEach(records::add);
                                return records.size();
                            },
                            size -> size >= count);
        }
        return records;
    }

    @Test
    void hdfsKeepsItsFilesOverKillsOfBothItsParts() throws Exception {
        FlinkProcess nameNode;
        FlinkProcess dataNode;
        try (HdfsProcess hdfs = HdfsProcess.start(distribution, directory, LIMIT)) {
            TableDirectory table = new TableDirectory(hdfs.uri("/w/default.db/T"));
            assertThat(table.latest()).isEmpty();
            hdfs.write("/w/default.db/T/snapshot/snapshot-7", "{\"id\": 7}");

            hdfs.dataNode(0).kill();
            hdfs.nameNode().kill();
            hdfs.nameNode().start(LIMIT);
            hdfs.dataNode(0).start(LIMIT);
            hdfs.awaitWritable(LIMIT);

            assertThat(table.snapshots()).containsOnlyKeys(7L);
            hdfs.move("/w/default.db/T/snapshot", "/w/default.db/T/elsewhere");
            assertThat(table.snapshots()).isEmpty();
            nameNode = hdfs.nameNode().process();
            dataNode = hdfs.dataNode(0).process();
        }
        assertThat(nameNode.isAlive()).isFalse();
        assertThat(dataNode.isAlive()).isFalse();
    }

    @Test
    void zooKeeperComesBackAtItsPortAndNobodyLeadsYet() {
        FlinkProcess second;
        try (ZooKeeperProcess zooKeeper = ZooKeeperProcess.start(distribution, directory, LIMIT)) {
            zooKeeper.server().kill();
            assertThatThrownBy(() -> ZooKeeperNodes.leader(zooKeeper.connectString(), "cluster"))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageContaining(zooKeeper.connectString());
            zooKeeper.server().start(LIMIT);

            assertThat(ZooKeeperNodes.leader(zooKeeper.connectString(), "cluster")).isEmpty();
            second = zooKeeper.server().process();
        }
        assertThat(second.isAlive()).isFalse();
    }

    @Test
    void theObjectStoreServes() {
        FlinkProcess server;
        try (S3Process s3 = S3Process.start(distribution, directory, LIMIT)) {
            server = s3.server().process();
            assertThat(server.isAlive()).isTrue();
            assertThat(s3.files()).isEmptyDirectory();
        }
        assertThat(server.isAlive()).isFalse();
    }
}
