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

import static org.apache.paimon.flink.sink.coordinator.simulation.Scenario.scenario;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A pinned schedule cannot pass when nothing of it happens any more. */
class ScenarioTest {

    @Test
    @DisplayName("the promise: a step that cannot happen any more fails its schedule")
    void aStepThatCannotHappenFails() {
        assertThatThrownBy(
                        () ->
                                committed()
                                        .then(StepKind.FAIL_WRITER)
                                        .then(StepKind.FAIL_WRITER)
                                        .reaches("1 start, 1 commit")
                                        .keepsItsPromises())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("can't happen any more")
                .hasMessageContaining("FAIL_WRITER(0, 0)");
    }

    @Test
    @DisplayName("the promise: a schedule that has become empty fails")
    void anEmptyScheduleFails() {
        assertThatThrownBy(() -> scenario(Mode.LEGAL, 1).reaches("1 commit").keepsItsPromises())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("expected: \"1 commit\"")
                .hasMessageContaining("but was: \"1 start\"");
    }

    @Test
    @DisplayName("the promise: a fault that does not strike any more fails its schedule")
    void aFaultThatDoesNotStrikeFails() {
        assertThatThrownBy(
                        () ->
                                committed()
                                        .then(StepKind.COMMIT_FAILS)
                                        .reaches("1 start, 1 commit, 1 fault")
                                        .keepsItsPromises())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("but was: \"1 start, 1 commit\"");
    }

    @Test
    @DisplayName("the promise: a schedule that does not say what it reaches fails")
    void aScheduleSaysWhatItReaches() {
        assertThatThrownBy(() -> committed().keepsItsPromises())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(".reaches(...)");
    }

    private static Scenario committed() {
        return scenario(Mode.LEGAL, 1)
                .then(StepKind.DRAIN)
                .then(StepKind.WRITE)
                .then(StepKind.CHECKPOINT)
                .then(StepKind.DRAIN);
    }
}
