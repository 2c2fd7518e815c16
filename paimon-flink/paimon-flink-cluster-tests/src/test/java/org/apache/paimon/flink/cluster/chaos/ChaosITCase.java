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

import org.apache.paimon.flink.cluster.Distributions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A few rounds of what {@code tools/chaos} plays for long. */
class ChaosITCase {

    private static final long SEED = 4711;

    @TempDir private Path directory;

    /** T1, T2, A3, A4, A7: whatever is killed, a tag holds what its savepoint holds. */
    @Test
    void tagsHoldWhatTheirSavepointsHoldWhenProcessesAreKilled() {
        List<RoundResult> results =
                new Chaos(Distributions.built(), directory, SEED, System.out)
                        .play(
                                Arrays.asList(
                                        Scenario.TM_SAVEPOINT_COMPLETED,
                                        Scenario.TM_STOP,
                                        Scenario.JM_SAVEPOINT_PENDING,
                                        Scenario.JM_COMMIT_TAG));

        assertThat(results).hasSize(4);
        assertThat(results)
                .allSatisfy(result -> assertThat(result.violations()).as("seed " + SEED).isEmpty());
        assertThat(results).filteredOn(RoundResult::isHit).hasSizeGreaterThanOrEqualTo(2);
        assertThat(results).allSatisfy(result -> assertThat(result.tagsChecked()).isPositive());
        assertThat(directory.resolve("report.html")).isNotEmptyFile();
    }
}
