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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Replays the same seeds in each build. It explores nothing: {@code tools/simulate} does, with new
 * seeds each time.
 */
@ExtendWith(Quiet.class)
class SimulationTest {

    /** The build sets and prints both: see the POM. */
    private static final long FIRST_SEED = Long.getLong("simulation.seed", 20_261_130);

    private static final int SCHEDULES_PER_MODE =
            Integer.getInteger("simulation.schedules", 10_000);

    private static final int SCHEDULES_ON_A_REAL_TABLE = 10;

    @ParameterizedTest(name = "{0}")
    @EnumSource(Mode.class)
    @DisplayName("the promise: the same seeds of each mode keep it in each build")
    void schedulesKeepThePromise(Mode mode) throws Exception {
        Explorer.Report report =
                replay("a table in memory", mode, Simulation::inMemory, SCHEDULES_PER_MODE);

        assertKept(report);
        assertThat(report.schedules).isEqualTo(SCHEDULES_PER_MODE);
        if (SCHEDULES_PER_MODE >= 10_000) {
            assertThat(report.pairsSeen())
                    .as("pairs of steps seen")
                    .isGreaterThan(Explorer.Report.pairsPossible(mode) * 4 / 5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Mode.class)
    @DisplayName("the promise: the first of these seeds keep it on a real table")
    void schedulesKeepThePromiseOnARealTable(Mode mode) throws Exception {
        assertKept(replay("a real table", mode, RealTable::start, SCHEDULES_ON_A_REAL_TABLE));
    }

    @Test
    @DisplayName("a seed gives the same steps each time")
    void seedsRepeat() throws Exception {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + 20; seed++) {
            Schedule first = Schedule.explore(Mode.HOSTILE, Simulation::inMemory, seed).schedule;
            Schedule second = Schedule.explore(Mode.HOSTILE, Simulation::inMemory, seed).schedule;

            assertThat(second.steps).hasToString(first.steps.toString());
            assertThat(second.config).hasToString(first.config.toString());
        }
    }

    private static Explorer.Report replay(
            String table, Mode mode, Schedule.Tables tables, int schedules) throws Exception {
        System.out.printf(
                "Simulation: replays the fixed seeds %d to %d, %s, on %s.%n",
                FIRST_SEED, FIRST_SEED + schedules - 1, mode, table);
        return new Explorer(mode, tables, 2)
                .explore(FIRST_SEED, schedules, Long.MAX_VALUE, soFar -> {});
    }

    private static void assertKept(Explorer.Report report) throws Exception {
        for (Explorer.Failure failure : report.failures) {
            Schedule.Outcome shrunk = Shrinker.shrink(failure.outcome);
            throw new AssertionError(
                    String.format(
                            "Seed %d breaks a promise.%nIts steps: %s%nAs a test:%n%s",
                            failure.seed,
                            failure.outcome.schedule.steps,
                            PinnedTest.print(failure.seed, shrunk)),
                    shrunk.violation);
        }
    }
}
