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

/**
 * Makes a failing schedule short: leaves steps out, in ever smaller pieces, and makes what is left
 * simpler, as long as the same promise is still broken.
 */
final class Shrinker {

    private final String symptom;
    private final Schedule.Tables tables;
    private int runs;

    private Shrinker(Schedule.Outcome failed) {
        this.symptom = symptom(failed.violation);
        this.tables = failed.schedule.tables;
    }

    static Schedule.Outcome shrink(Schedule.Outcome failed) throws Exception {
        return new Shrinker(failed).shrinkAll(failed);
    }

    private Schedule.Outcome shrinkAll(Schedule.Outcome failed) throws Exception {
        Schedule.Outcome best = failed;
        Schedule.Outcome before;
        do {
            before = best;
            best = leaveOut(best);
            best = simplerSteps(best);
            best = simplerConfig(best);
        } while (best != before && runs < 20_000);
        return best;
    }

    private Schedule.Outcome leaveOut(Schedule.Outcome failed) throws Exception {
        Schedule.Outcome best = failed;
        for (int piece = Math.max(1, best.schedule.steps.size() / 2); piece > 0; piece /= 2) {
            for (int from = 0; from < best.schedule.steps.size(); ) {
                List<Step> steps = new ArrayList<>(best.schedule.steps);
                steps.subList(from, Math.min(steps.size(), from + piece)).clear();
                Schedule.Outcome tried = fails(new Schedule(best.schedule.config, tables, steps));
                if (tried != null) {
                    best = tried;
                } else {
                    from += piece;
                }
            }
        }
        return best;
    }

    private Schedule.Outcome simplerSteps(Schedule.Outcome failed) throws Exception {
        Schedule.Outcome best = failed;
        for (int i = 0; i < best.schedule.steps.size(); i++) {
            Step step = best.schedule.steps.get(i);
            Step[] simpler = {
                new Step(step.kind, 0, 0),
                new Step(step.kind, step.a, 0),
                new Step(step.kind, 0, step.b),
                new Step(step.kind, step.a % best.schedule.config.parallelism, step.b),
                new Step(step.kind, 1, step.b % 2),
                new Step(StepKind.DRAIN, 0, 0)
            };
            for (Step candidate : simpler) {
                if (candidate.toString().equals(step.toString())) {
                    break;
                }
                List<Step> steps = new ArrayList<>(best.schedule.steps);
                steps.set(i, candidate);
                Schedule.Outcome tried = fails(new Schedule(best.schedule.config, tables, steps));
                if (tried != null) {
                    best = tried;
                    break;
                }
            }
        }
        return best;
    }

    private Schedule.Outcome simplerConfig(Schedule.Outcome failed) throws Exception {
        Schedule.Outcome best = failed;
        RunConfig config = best.schedule.config;
        for (int writers = 1; writers < config.parallelism; writers++) {
            Schedule.Outcome tried =
                    fails(
                            new Schedule(
                                    new RunConfig(
                                            config.mode,
                                            writers,
                                            config.maxPartBytes,
                                            config.forceSnapshots,
                                            config.autoTag),
                                    tables,
                                    best.schedule.steps));
            if (tried != null) {
                best = tried;
                break;
            }
        }
        config = best.schedule.config;
        if (config.forceSnapshots || config.maxPartBytes < 1 << 20 || config.mode == Mode.HOSTILE) {
            for (Mode mode : new Mode[] {Mode.LEGAL, config.mode}) {
                Schedule.Outcome tried =
                        fails(
                                new Schedule(
                                        new RunConfig(
                                                mode,
                                                config.parallelism,
                                                1 << 20,
                                                false,
                                                config.autoTag),
                                        tables,
                                        best.schedule.steps));
                if (tried != null) {
                    best = tried;
                    break;
                }
            }
        }
        return best;
    }

    /** The outcome when the schedule breaks the same promise, without steps that did not happen. */
    private Schedule.Outcome fails(Schedule schedule) throws Exception {
        if (schedule.config.mode == Mode.LEGAL
                && schedule.steps.stream().anyMatch(step -> step.kind.hostile)) {
            return null;
        }
        runs++;
        Schedule.Outcome outcome = schedule.run();
        return outcome.violation != null && symptom(outcome.violation).equals(symptom)
                ? outcome
                : null;
    }

    /** What tells one broken promise from the other: the message without its numbers. */
    private static String symptom(Throwable violation) {
        Throwable root = violation;
        while (root.getCause() != null && !(root instanceof Violation)) {
            root = root.getCause();
        }
        String message = String.valueOf(root.getMessage()).replaceAll("[0-9{},]+", "#");
        return root.getClass() + message.substring(0, Math.min(40, message.length()));
    }
}
