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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.options.ConfigOption;
import org.apache.paimon.options.ConfigOptions;
import org.apache.paimon.options.Options;

import java.time.Duration;
import java.util.Map;

/** Options of the coordinator-commit path that the base release does not have. */
public final class CoordinatorCommitOptions {

    public static final ConfigOption<Duration> SINK_COORDINATOR_COMMIT_CLOSE_TIMEOUT =
            ConfigOptions.key("sink.coordinator-commit.close-timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(30))
                    .withDescription(
                            "How long a coordinator that is closed may go on with the commits that"
                                    + " are queued, before it is interrupted. Its successor waits"
                                    + " for it in any case.");

    public static final ConfigOption<Boolean> SINK_COORDINATOR_COMMIT_DISCARD_RESTORED_REPORTS =
            ConfigOptions.key("sink.coordinator-commit.discard-restored-reports")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether a job that does not commit in the coordinator may drop the"
                                    + " reports of a job that did from the state that it is"
                                    + " restored from. Right after 'flink stop': its savepoint"
                                    + " still lists reports that are committed. Wrong after an"
                                    + " asynchronous savepoint: their rows would be lost.");

    private CoordinatorCommitOptions() {}

    public static boolean discardRestoredReports(Map<String, String> options) {
        return Options.fromMap(options).get(SINK_COORDINATOR_COMMIT_DISCARD_RESTORED_REPORTS);
    }

    /**
     * @throws IllegalArgumentException when the duration is negative
     */
    static Duration closeTimeout(Map<String, String> options) {
        Duration timeout = Options.fromMap(options).get(SINK_COORDINATOR_COMMIT_CLOSE_TIMEOUT);
        if (timeout.isNegative()) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s is %s, but must not be negative.",
                            SINK_COORDINATOR_COMMIT_CLOSE_TIMEOUT.key(), timeout));
        }
        return timeout;
    }
}
