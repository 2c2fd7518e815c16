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

import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.ZooKeeper;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** One ZooKeeper server in a process of its own, the one that is in Flink's {@code lib/} folder. */
public final class ZooKeeperProcess implements AutoCloseable {

    private static final String MAIN =
            "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer";

    private final ProcessGroup group;
    private final Server server;
    private final int port;

    private ZooKeeperProcess(ProcessGroup group, FlinkDistribution distribution, int port) {
        this.group = group;
        this.port = port;
        this.server =
                new Server(
                        group,
                        "zookeeper",
                        name ->
                                FlinkProcess.launch(
                                                FlinkProcess.Role.SERVICE,
                                                name,
                                                distribution.clusterClassPath(),
                                                MAIN)
                                        .jvm("-Xmx128m")
                                        .arguments("--zkConfigFile", config().toString())
                                        .arguments("--peerId", "1"),
                        this::serves);
    }

    /** Starts the server with its files in a directory, and waits until it serves. */
    public static ZooKeeperProcess start(
            FlinkDistribution distribution, Path directory, Duration limit) {
        Ports ports = new Ports(line -> {});
        ZooKeeperProcess zooKeeper =
                new ZooKeeperProcess(
                        new ProcessGroup("zookeeper", directory, distribution.starter()),
                        distribution,
                        ports.pick());
        try {
            zooKeeper.writeConfig(ports);
            zooKeeper.server.start(limit);
            return zooKeeper;
        } catch (RuntimeException e) {
            zooKeeper.close();
            throw e;
        }
    }

    private Path config() {
        return group.conf().resolve("zoo.cfg");
    }

    private void writeConfig(Ports ports) {
        String text =
                String.join(
                        "\n",
                        "tickTime=500",
                        "maxSessionTimeout=60000",
                        "dataDir=" + group.directory().resolve("data"),
                        "clientPortAddress=" + Ports.HOST,
                        "clientPort=" + port,
                        "admin.enableServer=false",
                        "server.1=" + Ports.HOST + ":" + ports.pick() + ":" + ports.pick(),
                        "");
        try {
            Files.createDirectories(group.directory().resolve("data"));
            Files.write(config(), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write " + config(), e);
        }
    }

    private boolean serves() throws Exception {
        ZooKeeper client = ZooKeeperNodes.connect(connectString());
        try {
            return client.exists("/", false) != null;
        } finally {
            client.close();
        }
    }

    /** What {@code high-availability.zookeeper.quorum} wants. */
    public String connectString() {
        return Ports.HOST + ":" + port;
    }

    /** The one server: to kill, to pause, and to start again. */
    public Server server() {
        return server;
    }

    @Override
    public void close() {
        group.close();
    }
}
