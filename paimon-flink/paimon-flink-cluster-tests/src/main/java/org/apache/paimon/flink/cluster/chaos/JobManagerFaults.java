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
import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.RestClient;

import java.util.Optional;

/** The leading JobManager that is killed or paused. */
final class JobManagerFaults {

    private JobManagerFaults() {}

    static void killWhilePending(Round round) {
        FlinkProcess held = round.anyTaskManager();
        FlinkProcess leader = round.cluster().leader();
        round.cluster().pause(held);
        try {
            round.cluster().rest().triggerSavepoint(round.job(), round.savepoints());
            long savepoint = round.awaitPendingSavepoint();
            TaskManagerFaults.kill(round, leader);
            round.window(!round.isComplete(savepoint), "savepoint " + savepoint + " under way");
        } finally {
            round.cluster().resume(held);
        }
        replace(round);
    }

    static void killAfterCompletion(Round round) {
        FlinkProcess leader = round.cluster().leader();
        RestClient.Savepoint savepoint =
                round.cluster().rest().savepoint(round.job(), round.savepoints(), Round.LIMIT);
        TaskManagerFaults.kill(round, leader);
        round.window(
                !round.hasTag(savepoint.checkpointId()),
                "savepoint " + savepoint.checkpointId() + " complete, and not tagged yet");
        replace(round);
    }

    static void killDuringStop(Round round) {
        FlinkProcess leader = round.cluster().leader();
        TaskManagerFaults.stop(round);
        TaskManagerFaults.pauseMillis(round.random().nextInt(600));
        boolean running = !round.isGone();
        TaskManagerFaults.kill(round, leader);
        round.window(running, running ? "the job had not ended" : "the job had ended");
        replace(round);
    }

    /** The tag cannot be written, since a file is where its directory should be. */
    static void killBetweenCommitAndTag(Round round) {
        FlinkProcess leader = round.cluster().leader();
        try (TagDirectory tags = TagDirectory.block(round)) {
            RestClient.Savepoint savepoint =
                    round.cluster().rest().savepoint(round.job(), round.savepoints(), Round.LIMIT);
            Await.until("the savepoint to be committed", Round.LIMIT)
                    .holds(
                            round.table()::snapshots,
                            all ->
                                    all.values().stream()
                                            .anyMatch(
                                                    s ->
                                                            s.commitIdentifier()
                                                                    == savepoint.checkpointId()));
            TaskManagerFaults.kill(round, leader);
            round.window(true, "savepoint " + savepoint.checkpointId() + " committed, no tag");
        }
        replace(round);
    }

    static void zombie(Round round) {
        FlinkProcess leader = round.cluster().leader();
        Optional<Long> before = round.table().latest().map(s -> s.id());
        // A random moment of the two seconds between checkpoints.
        TaskManagerFaults.pauseMillis(round.random().nextInt(2000));
        round.cluster().pause(leader);
        round.broke(leader + " paused");
        try {
            Await.until("another JobManager to lead", Round.LIMIT)
                    .holds(round.cluster()::leader, now -> now != leader);
            Await.until("the job to commit under the new leader", Round.LIMIT)
                    .holds(
                            round.table()::latest,
                            s -> s.isPresent() && s.get().id() > before.orElse(0L) + 1);
            round.window(true, "the standby led and committed while " + leader.name() + " paused");
        } finally {
            round.cluster().resume(leader);
            round.broke(leader + " goes on");
        }
    }

    private static void replace(Round round) {
        round.cluster().startJobManager(Round.LIMIT);
    }
}
