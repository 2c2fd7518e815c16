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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Explores many schedules, one seed after the other, on some threads. */
final class Explorer {

    /** What was explored so far. */
    static final class Report {

        /** Seed and outcome of the first failures. */
        final List<Failure> failures = new ArrayList<>();

        /** How often a kind of step came right after another, by ordinals. */
        final long[][] pairs = new long[StepKind.values().length][StepKind.values().length];

        long schedules;
        long steps;
        long failed;
        long lastFailedSeed;
        long knownLimits;
        long nanos;

        double schedulesPerSecond() {
            return nanos == 0 ? 0 : schedules * 1e9 / nanos;
        }

        int pairsSeen() {
            int seen = 0;
            for (long[] row : pairs) {
                for (long count : row) {
                    seen += count > 0 ? 1 : 0;
                }
            }
            return seen;
        }

        /** How many pairs of kinds a mode has. */
        static int pairsPossible(Mode mode) {
            int kinds = 0;
            for (StepKind kind : StepKind.values()) {
                kinds += kind.hostile && mode == Mode.LEGAL ? 0 : 1;
            }
            return kinds * kinds;
        }

        private void add(long seed, Schedule.Outcome outcome, int keep) {
            schedules++;
            steps += outcome.schedule.steps.size();
            knownLimits += outcome.knownLimits;
            int previous = -1;
            for (Step step : outcome.schedule.steps) {
                if (previous >= 0) {
                    pairs[previous][step.kind.ordinal()]++;
                }
                previous = step.kind.ordinal();
            }
            if (outcome.violation != null) {
                failed++;
                lastFailedSeed = seed;
                if (failures.size() < keep) {
                    failures.add(new Failure(seed, outcome));
                }
            }
        }
    }

    /** A seed that broke a promise. */
    static final class Failure {

        final long seed;
        final Schedule.Outcome outcome;

        Failure(long seed, Schedule.Outcome outcome) {
            this.seed = seed;
            this.outcome = outcome;
        }
    }

    private static final int KEPT_FAILURES = Integer.getInteger("simulation.failures", 5);

    private final Mode mode;
    private final Schedule.Tables tables;
    private final int threads;

    Explorer(Mode mode, Schedule.Tables tables, int threads) {
        this.mode = mode;
        this.tables = tables;
        this.threads = threads;
    }

    /**
     * @param schedules how many schedules at most, the seeds being consecutive
     * @param minutes how long at most
     * @param progress told every now and then
     */
    Report explore(long firstSeed, long schedules, double minutes, Consumer<Report> progress)
            throws Exception {
        Report report = new Report();
        long start = System.nanoTime();
        long end =
                minutes > 1e6
                        ? Long.MAX_VALUE
                        : start + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
        AtomicLong next = new AtomicLong();
        List<Thread> workers = new ArrayList<>();
        List<Throwable> broken = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread worker =
                    Turns.newThread(
                            () -> {
                                try {
                                    work(firstSeed, schedules, start, end, next, report, progress);
                                } catch (Throwable t) {
                                    synchronized (report) {
                                        broken.add(t);
                                    }
                                }
                            });
            worker.start();
            workers.add(worker);
        }
        for (Thread worker : workers) {
            worker.join();
        }
        if (!broken.isEmpty()) {
            throw new IllegalStateException("The simulation itself has failed.", broken.get(0));
        }
        return report;
    }

    private void work(
            long firstSeed,
            long schedules,
            long start,
            long end,
            AtomicLong next,
            Report report,
            Consumer<Report> progress)
            throws Exception {
        while (true) {
            long number = next.getAndIncrement();
            if (number >= schedules || System.nanoTime() - end >= 0 && end != Long.MAX_VALUE) {
                return;
            }
            long seed = firstSeed + number;
            Schedule.Outcome outcome = Schedule.explore(mode, tables, seed);
            synchronized (report) {
                report.add(seed, outcome, KEPT_FAILURES);
                report.nanos = System.nanoTime() - start;
                progress.accept(report);
                if (report.failures.size() >= KEPT_FAILURES) {
                    next.set(schedules);
                }
            }
        }
    }
}
