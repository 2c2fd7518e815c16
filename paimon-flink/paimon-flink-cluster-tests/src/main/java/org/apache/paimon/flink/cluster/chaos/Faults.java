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

import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.RestClient;

import java.util.concurrent.TimeUnit;

/** What the scenarios have in common, whichever process they break. */
final class Faults {

    private Faults() {}

    static void kill(Round round, FlinkProcess victim) {
        round.cluster().kill(victim);
        round.broke(victim + " killed");
    }

    /** The savepoint is complete, and the checkpoint that commits and tags it is still to come. */
    static void killAfterCompletion(Round round, FlinkProcess victim) {
        RestClient.Savepoint savepoint =
                round.cluster().rest().savepoint(round.job(), round.savepoints(), Round.LIMIT);
        kill(round, victim);
        round.window(
                !round.hasTag(savepoint.checkpointId()),
                "savepoint " + savepoint.checkpointId() + " complete, and not tagged yet");
    }

    static void stop(Round round) {
        round.cluster()
                .rest()
                .triggerStop(round.job(), round.savepoints(), RestClient.StopMode.NO_DRAIN);
        round.broke("stop asked for");
    }

    /** Draws the moment of a fault; nothing waits for this time to be enough. */
    static void pauseMillis(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
