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

import java.util.Locale;
import java.util.Optional;

/** What is broken in a round, and when. */
public enum Scenario {
    TM_SAVEPOINT_PENDING(
            "a TaskManager is killed while a savepoint is under way",
            Storage.LOCAL,
            TaskManagerFaults::killWhilePending),
    TM_SAVEPOINT_COMPLETED(
            "a TaskManager is killed right after a savepoint completed",
            Storage.LOCAL,
            TaskManagerFaults::killAfterCompletion),
    TM_STOP(
            "a TaskManager is killed during a stop",
            Storage.LOCAL,
            TaskManagerFaults::killDuringStop),
    TM_FROZEN(
            "a TaskManager is paused past the heartbeat timeout and goes on",
            Storage.LOCAL,
            TaskManagerFaults::freeze),
    JM_SAVEPOINT_PENDING(
            "the leading JobManager is killed while a savepoint is under way",
            Storage.LOCAL,
            JobManagerFaults::killWhilePending),
    JM_SAVEPOINT_COMPLETED(
            "the leading JobManager is killed right after a savepoint completed",
            Storage.LOCAL,
            JobManagerFaults::killAfterCompletion),
    JM_STOP(
            "the leading JobManager is killed during a stop",
            Storage.LOCAL,
            JobManagerFaults::killDuringStop),
    JM_COMMIT_TAG(
            "the leading JobManager is killed between a commit and its tag",
            Storage.LOCAL,
            JobManagerFaults::killBetweenCommitAndTag),
    JM_ZOMBIE(
            "the leading JobManager is paused past its ZooKeeper session and goes on",
            Storage.LOCAL,
            JobManagerFaults::zombie),
    TAG_DIRECTORY(
            "the tag directory is unwritable for a while",
            Storage.LOCAL,
            StorageFaults::tagDirectoryUnwritable),
    ZOOKEEPER_GONE("ZooKeeper is gone for a while", Storage.LOCAL, StorageFaults::zooKeeperGone),
    DATANODE_GONE("the DataNode is gone for a while", Storage.HDFS, StorageFaults::dataNodeGone),
    NAMENODE_GONE("the NameNode is gone for a while", Storage.HDFS, StorageFaults::nameNodeGone);

    /** Where the files lie. */
    public enum Storage {
        LOCAL,
        HDFS
    }

    interface Play {
        void in(Round round);
    }

    private final String description;
    private final Storage storage;
    private final Play play;

    Scenario(String description, Storage storage, Play play) {
        this.description = description;
        this.storage = storage;
        this.play = play;
    }

    /** As on the command line. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String description() {
        return description;
    }

    public Storage storage() {
        return storage;
    }

    void play(Round round) {
        play.in(round);
    }

    public static Optional<Scenario> byId(String id) {
        for (Scenario scenario : values()) {
            if (scenario.id().equals(id)) {
                return Optional.of(scenario);
            }
        }
        return Optional.empty();
    }
}
