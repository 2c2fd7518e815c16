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

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A schedule written down: for pinned tests, one step after the other. */
final class Scenario {

    private final Mode mode;
    private final int parallelism;
    private int maxPartBytes = 1 << 20;
    private boolean forceSnapshots;
    private boolean autoTag = true;
    private final List<Step> steps = new ArrayList<>();
    private String effects = "";

    private Scenario(Mode mode, int parallelism) {
        this.mode = mode;
        this.parallelism = parallelism;
    }

    static Scenario scenario(Mode mode, int parallelism) {
        return new Scenario(mode, parallelism);
    }

    Scenario maxPartBytes(int bytes) {
        maxPartBytes = bytes;
        return this;
    }

    Scenario forceSnapshots() {
        forceSnapshots = true;
        return this;
    }

    Scenario withoutTags() {
        autoTag = false;
        return this;
    }

    Scenario then(StepKind kind, int a, int b) {
        steps.add(new Step(kind, a, b));
        return this;
    }

    Scenario then(StepKind kind) {
        return then(kind, 0, 0);
    }

    /** What the steps bring about, before the faults go off and the job recovers. */
    Scenario reaches(String expectedEffects) {
        effects = expectedEffects;
        return this;
    }

    Schedule.Outcome run() throws Exception {
        RunConfig config = new RunConfig(mode, parallelism, maxPartBytes, forceSnapshots, autoTag);
        return new Schedule(config, Simulation::inMemory, steps).run();
    }

    /** And each of its steps happens, so that it does not pass because nothing happens any more. */
    void keepsItsPromises() throws Exception {
        Schedule.Outcome outcome = run();
        if (outcome.violation != null) {
            throw new AssertionError(
                    outcome.schedule.config + ", " + outcome.schedule.steps, outcome.violation);
        }
        assertThat(outcome.passedOver)
                .as("steps that can't happen any more: leave them out, or pin the schedule anew")
                .isEmpty();
        assertThat(outcome.effects)
                .as("what the steps bring about; where that is right: .reaches(...) says so")
                .isNotEmpty()
                .isEqualTo(effects);
    }
}
