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

import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.KeeperException;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.Watcher;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.ZooKeeper;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Reads from ZooKeeper which JobManager leads. Each look is a session of its own. */
final class ZooKeeperNodes {

    private static final int SESSION_MILLIS = 10_000;
    private static final int CONNECT_SECONDS = 3;

    private ZooKeeperNodes() {}

    /** A client that is connected. */
    static ZooKeeper connect(String connectString) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client =
                new ZooKeeper(
                        connectString,
                        SESSION_MILLIS,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        if (connected.await(CONNECT_SECONDS, TimeUnit.SECONDS)) {
            return client;
        }
        client.close();
        throw new IOException("ZooKeeper does not answer at " + connectString);
    }

    /** The REST address of the leader of a cluster; empty while there is none. */
    static Optional<URI> leader(String connectString, String clusterId) {
        String node = "/flink/" + clusterId + "/leader/rest_server/connection_info";
        try {
            ZooKeeper client = connect(connectString);
            try {
                return address(client.getData(node, false, null));
            } catch (KeeperException.NoNodeException e) {
                return Optional.empty();
            } finally {
                client.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while looking for the leader", e);
        } catch (IOException | KeeperException e) {
            throw new ClusterException("cannot find the leader at " + node + ": " + e, e);
        }
    }

    /** Flink writes the address, and behind it the id of the leader's session. */
    private static Optional<URI> address(byte[] data) throws IOException {
        if (data == null || data.length == 0) {
            return Optional.empty();
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(data))) {
            return Optional.of(URI.create(in.readUTF()));
        }
    }
}
