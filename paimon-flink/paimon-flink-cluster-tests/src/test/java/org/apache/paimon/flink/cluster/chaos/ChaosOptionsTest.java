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

import org.apache.paimon.flink.cluster.CommandLine;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The command line of the chaos rounds. */
class ChaosOptionsTest {

    @Test
    void defaultsAreTwentyRoundsWithSeedOneOfAllScenarios() throws Exception {
        ChaosOptions options = parse();

        assertThat(options.rounds()).isEqualTo(20);
        assertThat(options.seed()).isEqualTo(1);
        assertThat(options.json()).isFalse();
        assertThat(new HashSet<>(options.plan())).containsExactlyInAnyOrder(Scenario.values());
    }

    @Test
    void theSameSeedPlansTheSameRoundsAndEachScenarioEquallyOften() {
        int rounds = 3 * Scenario.values().length;

        List<Scenario> plan = ChaosOptions.plan(rounds, 7, null);

        assertThat(plan).isEqualTo(ChaosOptions.plan(rounds, 7, null));
        assertThat(plan).isNotEqualTo(ChaosOptions.plan(rounds, 8, null));
        for (Scenario scenario : Scenario.values()) {
            assertThat(plan).filteredOn(scenario::equals).hasSize(3);
        }
    }

    @Test
    void oneScenarioIsPlayedInEachRound() throws Exception {
        ChaosOptions options = parse("--scenario", "jm-zombie", "--rounds", "3");

        assertThat(options.plan())
                .containsExactly(Scenario.JM_ZOMBIE, Scenario.JM_ZOMBIE, Scenario.JM_ZOMBIE);
    }

    @Test
    void whatCannotBeUnderstoodIsNamedWithWhatWouldBeRight() {
        assertUsage("unknown scenario 'x'; there are tm-savepoint-pending", "--scenario", "x");
        assertUsage("--rounds needs a number from 1 to 100000, not '0'", "--rounds", "0");
        assertUsage("--rounds needs a number from 1 to 100000, not 'ten'", "--rounds", "ten");
        assertUsage("--seed needs a number", "--seed", "1.5");
        assertUsage("option --seed needs a value", "--seed");
        assertUsage("unknown option '--round'", "--round", "1");
        assertThatThrownBy(() -> ChaosOptions.parse("--jar", "j"))
                .isInstanceOf(CommandLine.UsageException.class)
                .hasMessage("option --flink is missing");
    }

    private static void assertUsage(String message, String... args) {
        assertThatThrownBy(() -> parse(args))
                .isInstanceOf(CommandLine.UsageException.class)
                .hasMessageContaining(message);
    }

    private static ChaosOptions parse(String... args) throws CommandLine.UsageException {
        List<String> all =
                new ArrayList<>(Arrays.asList("--flink", "f", "--jar", "j", "--dir", "d"));
        all.addAll(Arrays.asList(args));
        return ChaosOptions.parse(all.toArray(new String[0]));
    }
}
