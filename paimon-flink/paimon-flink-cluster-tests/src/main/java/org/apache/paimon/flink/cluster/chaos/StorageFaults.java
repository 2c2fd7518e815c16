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

import org.apache.paimon.flink.cluster.Server;

/** Services that are gone for a while. */
final class StorageFaults {

    private StorageFaults() {}

    static void tagDirectoryUnwritable(Round round) {
        try (TagDirectory tags = TagDirectory.block(round)) {
            long savepoint = tags.committedSavepoint();
            Faults.pauseMillis(round.random().nextInt(3000));
            round.window(true, "savepoint " + savepoint + " committed, no tag");
        }
    }

    static void zooKeeperGone(Round round) {
        gone(round, round.bed().zooKeeper().server(), "ZooKeeper");
    }

    static void dataNodeGone(Round round) {
        gone(round, round.bed().hdfs().dataNode(0), "the DataNode");
        round.bed().hdfs().awaitWritable(Round.LIMIT);
    }

    static void nameNodeGone(Round round) {
        gone(round, round.bed().hdfs().nameNode(), "the NameNode");
        round.bed().hdfs().awaitWritable(Round.LIMIT);
    }

    /** A savepoint is under way when the service goes; it may succeed or fail. */
    private static void gone(Round round, Server server, String name) {
        round.cluster().rest().triggerSavepoint(round.job(), round.savepoints());
        Faults.pauseMillis(round.random().nextInt(300));
        server.kill();
        round.broke(name + " killed");
        long millis = 2000 + round.random().nextInt(6000);
        Faults.pauseMillis(millis);
        server.start(Round.LIMIT);
        round.window(true, name + " was gone for " + millis + " ms");
    }
}
