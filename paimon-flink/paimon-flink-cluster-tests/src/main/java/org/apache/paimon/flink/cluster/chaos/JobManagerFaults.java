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

/** The leading JobManager that is killed or paused. */
final class JobManagerFaults {

    /** How often a window of milliseconds is tried for in one round. */
    private static final int ATTEMPTS = 5;

    private JobManagerFaults() {}

    static void killWhilePending(Round round) {
        FlinkProcess held = round.anyTaskManager();
        FlinkProcess leader = round.cluster().leader();
        round.cluster().pause(held);
        try {
            round.cluster().rest().triggerSavepoint(round.job(), round.savepoints());
            long savepoint = round.awaitPendingSavepoint();
            Faults.kill(round, leader);
            round.window(!round.isComplete(savepoint), "savepoint " + savepoint + " under way");
        } finally {
            round.cluster().resume(held);
        }
        replace(round);
    }

    static void killAfterCompletion(Round round) {
        Faults.killAfterCompletion(round, round.cluster().leader());
        replace(round);
    }

    static void killDuringStop(Round round) {
        FlinkProcess leader = round.cluster().leader();
        Faults.stop(round);
        Faults.pauseMillis(round.random().nextInt(600));
        boolean running = !round.isGone();
        Faults.kill(round, leader);
        round.window(running, running ? "the job had not ended" : "the job had ended");
        replace(round);
    }

    /** The tag cannot be written, since a file is where its directory should be. */
    static void killBetweenCommitAndTag(Round round) {
        FlinkProcess leader = round.cluster().leader();
        try (TagDirectory tags = TagDirectory.block(round)) {
            long savepoint = tags.committedSavepoint();
            Faults.kill(round, leader);
            round.window(true, "savepoint " + savepoint + " committed, no tag");
        }
        replace(round);
    }

    /**
     * Pauses the leader when a checkpoint has just been written and is not committed yet, until the
     * standby has taken over and committed.
     */
    static void zombie(Round round) {
        FlinkProcess leader = round.cluster().leader();
        boolean underWay = pauseInCommit(round, leader);
        long before = round.table().latest().get().id();
        try {
            Await.until("another JobManager to lead", Round.LIMIT)
                    .holds(round.cluster()::leader, now -> now != leader);
            Await.until("the job to commit under the new leader", Round.LIMIT)
                    .holds(round.table()::latest, s -> s.isPresent() && s.get().id() > before);
            round.window(
                    underWay,
                    "the standby committed while "
                            + leader.name()
                            + " was paused"
                            + (underWay ? " with a commit under way" : " without a commit"));
        } finally {
            round.cluster().resume(leader);
            round.broke(leader + " goes on");
        }
    }

    /** Whether a commit was under way; after some tries the leader is paused without one. */
    private static boolean pauseInCommit(Round round, FlinkProcess leader) {
        for (int attempt = 1; ; attempt++) {
            round.awaitUncommittedCheckpoint();
            round.cluster().pause(leader);
            boolean underWay = round.hasUncommittedCheckpoint();
            if (underWay || attempt == ATTEMPTS) {
                round.broke(leader + " paused at attempt " + attempt);
                return underWay;
            }
            round.cluster().resume(leader);
        }
    }

    private static void replace(Round round) {
        round.cluster().startJobManager(Round.LIMIT);
    }
}
