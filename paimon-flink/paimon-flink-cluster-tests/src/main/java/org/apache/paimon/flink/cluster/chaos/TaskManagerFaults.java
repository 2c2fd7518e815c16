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

/** TaskManagers that are killed or paused. */
final class TaskManagerFaults {

    private TaskManagerFaults() {}

    /** The savepoint waits for a TaskManager that is paused; that one is killed. */
    static void killWhilePending(Round round) {
        FlinkProcess victim = round.anyTaskManager();
        round.cluster().pause(victim);
        round.cluster().rest().triggerSavepoint(round.job(), round.savepoints());
        long savepoint = round.awaitPendingSavepoint();
        Faults.kill(round, victim);
        round.window(!round.isComplete(savepoint), "savepoint " + savepoint + " under way");
        replace(round);
    }

    static void killAfterCompletion(Round round) {
        Faults.killAfterCompletion(round, round.anyTaskManager());
        replace(round);
    }

    /** As for a savepoint under way, or at a random moment. */
    static void killDuringStop(Round round) {
        FlinkProcess victim = round.anyTaskManager();
        boolean hold = round.random().nextBoolean();
        if (hold) {
            round.cluster().pause(victim);
        }
        Faults.stop(round);
        if (hold) {
            round.awaitPendingSavepoint();
        } else {
            Faults.pauseMillis(round.random().nextInt(400));
        }
        Faults.kill(round, victim);
        boolean running = !round.isGone();
        round.window(running, running ? "the job had not ended" : "the job had ended");
        replace(round);
    }

    static void freeze(Round round) {
        FlinkProcess victim = round.anyTaskManager();
        round.cluster().pause(victim);
        round.broke(victim + " paused");
        try {
            Await.until("the paused TaskManager to be given up", Round.LIMIT)
                    .holds(
                            () -> round.cluster().rest().taskManagers(),
                            names -> !names.contains(victim.name()));
            round.window(true, victim.name() + " was given up while paused");
        } finally {
            round.cluster().resume(victim);
        }
    }

    private static void replace(Round round) {
        round.cluster().startTaskManager();
    }
}
