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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.FlinkCluster;
import org.apache.paimon.flink.cluster.FlinkClusterOptions;
import org.apache.paimon.flink.cluster.FlinkDistribution;
import org.apache.paimon.flink.cluster.HdfsProcess;
import org.apache.paimon.flink.cluster.KafkaProcess;
import org.apache.paimon.flink.cluster.ZooKeeperProcess;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What several rounds have in common: Kafka, ZooKeeper, HDFS if a scenario needs it, two
 * JobManagers, two TaskManagers with a spare half of slots, and a SQL gateway.
 */
final class Bed implements AutoCloseable {

    static final int TASK_MANAGERS = 2;
    private static final Duration LIMIT = Duration.ofSeconds(180);
    private static final Duration HEAL_LIMIT = Duration.ofSeconds(60);

    private final Path directory;
    private ZooKeeperProcess zooKeeper;
    private KafkaProcess kafka;
    private HdfsProcess hdfs;
    private FlinkCluster cluster;
    private Gateway gateway;

    private Bed(Path directory) {
        this.directory = directory;
    }

    static Bed start(FlinkDistribution distribution, Path directory, Scenario.Storage storage) {
        Bed bed = new Bed(directory);
        try {
            bed.startAll(distribution, storage);
            return bed;
        } catch (RuntimeException e) {
            bed.close();
            throw e;
        }
    }

    private void startAll(FlinkDistribution distribution, Scenario.Storage storage) {
        zooKeeper = ZooKeeperProcess.start(distribution, directory.resolve("zookeeper"), LIMIT);
        kafka = KafkaProcess.start(distribution, directory.resolve("kafka"), LIMIT);
        FlinkClusterOptions options =
                FlinkCluster.builder(distribution, directory.resolve("flink"))
                        .taskManagers(TASK_MANAGERS)
                        .slotsPerTaskManager(4)
                        .standbyJobManagers(1)
                        .zooKeeper(zooKeeper)
                        .config("heartbeat.timeout", "5000")
                        .config("restart-strategy.type", "fixed-delay")
                        .config("restart-strategy.fixed-delay.attempts", Integer.MAX_VALUE)
                        .config("restart-strategy.fixed-delay.delay", "500 ms");
        if (storage == Scenario.Storage.HDFS) {
            hdfs = HdfsProcess.start(distribution, directory.resolve("hdfs"), LIMIT);
            options.storage(hdfs);
        }
        cluster = options.start(LIMIT);
        gateway = Gateway.start(cluster);
    }

    /**
     * Replaces what ended by itself, and waits until as many TaskManagers as before are there and
     * some JobManager leads.
     */
    void awaitHealed() {
        Await.until(TASK_MANAGERS + " TaskManagers", HEAL_LIMIT)
                .lookAt(cluster.logs())
                .holds(
                        () -> {
                            cluster.replaceDead(HEAL_LIMIT);
                            return cluster.rest().taskManagers();
                        },
                        names -> names.size() == TASK_MANAGERS);
    }

    FlinkCluster cluster() {
        return cluster;
    }

    Gateway gateway() {
        return gateway;
    }

    KafkaProcess kafka() {
        return kafka;
    }

    ZooKeeperProcess zooKeeper() {
        return zooKeeper;
    }

    HdfsProcess hdfs() {
        if (hdfs == null) {
            throw new ClusterException("this bed has no HDFS; the scenario should ask for it");
        }
        return hdfs;
    }

    Path directory() {
        return directory;
    }

    /** The warehouse lies beside checkpoints and savepoints. */
    URI warehouse() {
        return cluster.storage("warehouse");
    }

    /** The directory of a table, without a slash at the end. */
    URI tableDirectory(String table) {
        return URI.create(warehouse() + "/default.db/" + table);
    }

    @Override
    public void close() {
        closeQuietly(cluster);
        closeQuietly(kafka);
        closeQuietly(hdfs);
        closeQuietly(zooKeeper);
    }

    private static void closeQuietly(AutoCloseable part) {
        if (part != null) {
            try {
                part.close();
            } catch (Exception e) {
                throw new ClusterException("cannot stop " + part, e);
            }
        }
    }
}
