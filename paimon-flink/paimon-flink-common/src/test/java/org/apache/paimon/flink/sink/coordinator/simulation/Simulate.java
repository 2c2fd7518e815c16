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
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What {@code tools/simulate} runs. Exit code: 0 kept, 1 broken, 2 wrong command line. */
public final class Simulate {

    private static final long PROGRESS_NANOS = 10_000_000_000L;

    private Simulate() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options;
        List<Mode> modes = new ArrayList<>();
        long schedules;
        long seed;
        double minutes;
        int threads;
        boolean real;
        try {
            options = options(arguments);
            schedules = number(options, "--schedules", Long.MAX_VALUE, 1);
            seed = number(options, "--seed", System.nanoTime() & Integer.MAX_VALUE, Long.MIN_VALUE);
            minutes = number(options, "--minutes", Long.MAX_VALUE, 1);
            threads =
                    (int)
                            number(
                                    options,
                                    "--threads",
                                    Runtime.getRuntime().availableProcessors(),
                                    1);
            String mode = options.getOrDefault("--mode", "both");
            if (!mode.matches("legal|hostile|both")) {
                throw new IllegalArgumentException(
                        "--mode needs legal, hostile or both, not '" + mode + "'");
            }
            for (Mode one : Mode.values()) {
                if (mode.equals("both") || mode.equals(one.name().toLowerCase(Locale.ROOT))) {
                    modes.add(one);
                }
            }
            String table = options.getOrDefault("--table", "memory");
            if (!table.matches("memory|real")) {
                throw new IllegalArgumentException(
                        "--table needs memory or real, not '" + table + "'");
            }
            real = table.equals("real");
        } catch (IllegalArgumentException e) {
            System.err.println("simulate: " + e.getMessage() + "; see tools/simulate --help");
            System.exit(2);
            return;
        }
        if (!options.containsKey("--schedules") && !options.containsKey("--minutes")) {
            schedules = 100_000;
        }

        boolean json = options.containsKey("--json");
        boolean kept = true;
        for (Mode mode : modes) {
            kept &= explore(mode, schedules, seed, minutes, threads, real, json);
        }
        System.exit(kept ? 0 : 1);
    }

    private static boolean explore(
            Mode mode,
            long schedules,
            long seed,
            double minutes,
            int threads,
            boolean real,
            boolean json)
            throws Exception {
        System.err.printf(
                Locale.ROOT,
                "%s orders from seed %d on, on %d threads, %s table%n",
                mode.name().toLowerCase(Locale.ROOT),
                seed,
                threads,
                real ? "a real" : "an in-memory");
        long[] told = {0};
        long[] failuresTold = {0};
        Explorer.Report report =
                new Explorer(mode, real ? RealTable::start : Simulation::inMemory, threads)
                        .explore(
                                seed,
                                schedules,
                                minutes,
                                soFar -> {
                                    if (soFar.failed > failuresTold[0]) {
                                        failuresTold[0] = soFar.failed;
                                        System.err.println(
                                                "  broken by seed " + soFar.lastFailedSeed);
                                    }
                                    if (soFar.nanos - told[0] >= PROGRESS_NANOS) {
                                        told[0] = soFar.nanos;
                                        System.err.println("  " + summary(mode, soFar));
                                    }
                                });
        if (json) {
            System.out.println(json(mode, seed, report));
        } else {
            System.out.println(mode + ": " + summary(mode, report));
        }
        for (Explorer.Failure failure : report.failures) {
            System.err.printf(
                    "%nseed %d breaks a promise with %s: %s%nIts steps: %s%n",
                    failure.seed,
                    failure.outcome.schedule.config,
                    failure.outcome.violation,
                    failure.outcome.schedule.steps);
            System.err.println("As a test, after shrinking:\n");
            System.err.println(PinnedTest.print(failure.seed, Shrinker.shrink(failure.outcome)));
        }
        return report.failed == 0;
    }

    private static String summary(Mode mode, Explorer.Report report) {
        return String.format(
                Locale.ROOT,
                "%,d schedules, %,d steps, %,.0f schedules/s, %d of %d pairs of steps seen,"
                        + " %d broken promises, known limit met %d times",
                report.schedules,
                report.steps,
                report.schedulesPerSecond(),
                report.pairsSeen(),
                Explorer.Report.pairsPossible(mode),
                report.failed,
                report.knownLimits);
    }

    private static String json(Mode mode, long seed, Explorer.Report report) {
        StringBuilder seeds = new StringBuilder();
        for (Explorer.Failure failure : report.failures) {
            seeds.append(seeds.length() == 0 ? "" : ",").append(failure.seed);
        }
        return String.format(
                Locale.ROOT,
                "{\"mode\":\"%s\",\"seed\":%d,\"schedules\":%d,\"steps\":%d,\"seconds\":%.1f,"
                        + "\"schedulesPerSecond\":%.0f,\"pairsSeen\":%d,\"pairsPossible\":%d,"
                        + "\"broken\":%d,\"brokenSeeds\":[%s],\"knownLimits\":%d}",
                mode.name().toLowerCase(Locale.ROOT),
                seed,
                report.schedules,
                report.steps,
                report.nanos / 1e9,
                report.schedulesPerSecond(),
                report.pairsSeen(),
                Explorer.Report.pairsPossible(mode),
                report.failed,
                seeds,
                report.knownLimits);
    }

    private static Map<String, String> options(String[] arguments) {
        Map<String, String> options = new TreeMap<>();
        for (int i = 0; i < arguments.length; i++) {
            String option = arguments[i];
            if (option.equals("--json")) {
                options.put(option, "");
            } else if (option.matches("--(schedules|seed|minutes|threads|mode|table)")) {
                if (i + 1 == arguments.length) {
                    throw new IllegalArgumentException("option " + option + " needs a value");
                }
                options.put(option, arguments[++i]);
            } else {
                throw new IllegalArgumentException("unknown option '" + option + "'");
            }
        }
        return options;
    }

    private static long number(
            Map<String, String> options, String option, long otherwise, long least) {
        String value = options.get(option);
        if (value == null) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(value);
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IllegalArgumentException(
                String.format(
                        "%s needs a whole number%s, not '%s'",
                        option, least == Long.MIN_VALUE ? "" : " from " + least + " on", value));
    }
}
