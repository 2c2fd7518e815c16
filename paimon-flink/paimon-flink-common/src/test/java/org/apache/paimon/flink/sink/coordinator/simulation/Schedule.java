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
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** A configuration and the steps of one run: drawn from a seed, or what shrinking has left. */
final class Schedule {

    private static final StepKind[] KINDS = StepKind.values();

    final RunConfig config;
    final Tables tables;
    final List<Step> steps;

    Schedule(RunConfig config, Tables tables, List<Step> steps) {
        this.config = config;
        this.tables = tables;
        this.steps = Collections.unmodifiableList(new ArrayList<>(steps));
    }

    /** Starts a run on a table of some kind. */
    @FunctionalInterface
    interface Tables {

        Simulation start(RunConfig config) throws Exception;
    }

    /** What came of a schedule; the violation is null when it kept its promises. */
    static final class Outcome {

        final Schedule schedule;
        final Throwable violation;
        final int knownLimits;

        /** Steps that could not happen when it was their turn. */
        final List<Step> passedOver;

        /**
         * What the steps brought about before the end, where faults go off and the job recovers.
         */
        final String effects;

        Outcome(Schedule schedule, Throwable violation, int knownLimits) {
            this(schedule, violation, knownLimits, Collections.emptyList(), "");
        }

        Outcome(
                Schedule schedule,
                Throwable violation,
                int knownLimits,
                List<Step> passedOver,
                String effects) {
            this.schedule = schedule;
            this.violation = violation;
            this.knownLimits = knownLimits;
            this.passedOver = passedOver;
            this.effects = effects;
        }
    }

    /** Draws steps as it goes along, so that most of them can happen. */
    static Outcome explore(Mode mode, Tables tables, long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        RunConfig config = config(mode, random);
        int[] cumulative = weights(mode, random);
        int total = cumulative[cumulative.length - 1];
        int length = 10 + random.nextInt(110);
        List<Step> steps = new ArrayList<>(length);
        try (Simulation simulation = tables.start(config)) {
            try {
                int misses = 0;
                while (steps.size() < length && misses < 1_000) {
                    Step step =
                            new Step(
                                    pick(cumulative, random.nextInt(total)),
                                    random.nextInt(8),
                                    random.nextInt(4));
                    steps.add(step);
                    if (!simulation.execute(step)) {
                        steps.remove(steps.size() - 1);
                        misses++;
                    }
                }
                simulation.finish();
                return new Outcome(
                        new Schedule(config, tables, steps),
                        null,
                        simulation.oracle().knownLimits());
            } catch (Throwable violation) {
                return new Outcome(new Schedule(config, tables, steps), violation, 0);
            }
        }
    }

    /** Takes the same steps again; those that cannot happen are passed over. */
    Outcome run() throws Exception {
        try (Simulation simulation = tables.start(config)) {
            try {
                List<Step> passedOver = new ArrayList<>();
                for (Step step : steps) {
                    if (!simulation.execute(step)) {
                        passedOver.add(step);
                    }
                }
                String effects = simulation.effects().toString();
                simulation.finish();
                return new Outcome(
                        this, null, simulation.oracle().knownLimits(), passedOver, effects);
            } catch (Throwable violation) {
                return new Outcome(this, violation, 0);
            }
        }
    }

    private static RunConfig config(Mode mode, SplittableRandom random) {
        int writers = 1 + random.nextInt(random.nextInt(4) == 0 ? 8 : 3);
        int part = random.nextInt(3) == 0 ? 24 + random.nextInt(40) : 1 << 20;
        return new RunConfig(mode, writers, part, random.nextInt(8) == 0, random.nextInt(20) != 0);
    }

    /** Each run has some kinds of steps more often than others, and some not at all. */
    private static int[] weights(Mode mode, SplittableRandom random) {
        int[] cumulative = new int[KINDS.length];
        int total = 0;
        for (int i = 0; i < KINDS.length; i++) {
            StepKind kind = KINDS[i];
            int weight = kind.hostile && mode == Mode.LEGAL ? 0 : 4 * kind.weight;
            if (kind.ordinal() > StepKind.SAVEPOINT.ordinal() && random.nextInt(3) == 0) {
                weight = random.nextInt(3) == 0 ? 0 : weight / 4;
            }
            total += weight;
            cumulative[i] = total;
        }
        return cumulative;
    }

    private static StepKind pick(int[] cumulative, int at) {
        int i = 0;
        while (cumulative[i] <= at) {
            i++;
        }
        return KINDS[i];
    }
}
