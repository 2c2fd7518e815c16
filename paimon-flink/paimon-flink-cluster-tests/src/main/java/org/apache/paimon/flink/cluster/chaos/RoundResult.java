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

import java.util.ArrayList;
import java.util.List;

/** What came out of one round. */
public final class RoundResult {

    private final int number;
    private final long seed;
    private final Scenario scenario;
    private final boolean hit;
    private final String window;
    private final List<Timeline.Event> events;
    private final long millis;
    private final List<Violation> violations = new ArrayList<>();
    private final List<String> knownLimits = new ArrayList<>();
    private int tagsChecked;
    private int uncommitted;

    public RoundResult(
            int number,
            long seed,
            Scenario scenario,
            boolean hit,
            String window,
            Timeline timeline) {
        this.number = number;
        this.seed = seed;
        this.scenario = scenario;
        this.hit = hit;
        this.window = window;
        this.events = timeline.events();
        this.millis = timeline.millis();
    }

    public RoundResult violations(List<Violation> found) {
        violations.addAll(found);
        return this;
    }

    public RoundResult knownLimits(List<String> met) {
        knownLimits.addAll(met);
        return this;
    }

    public RoundResult checked(int tags, int savepointsWithoutCommit) {
        tagsChecked = tags;
        uncommitted = savepointsWithoutCommit;
        return this;
    }

    public int number() {
        return number;
    }

    public long seed() {
        return seed;
    }

    public Scenario scenario() {
        return scenario;
    }

    /** Whether what was broken hit its window; a round that missed it does not count. */
    public boolean isHit() {
        return hit;
    }

    public String window() {
        return window;
    }

    public List<Timeline.Event> events() {
        return events;
    }

    public long millis() {
        return millis;
    }

    public List<Violation> violations() {
        return violations;
    }

    public List<String> knownLimits() {
        return knownLimits;
    }

    public int tagsChecked() {
        return tagsChecked;
    }

    public int uncommitted() {
        return uncommitted;
    }

    /** VIOLATION, MISSED or OK. */
    public String verdict() {
        return !violations.isEmpty() ? "VIOLATION" : hit ? "OK" : "MISSED";
    }
}
