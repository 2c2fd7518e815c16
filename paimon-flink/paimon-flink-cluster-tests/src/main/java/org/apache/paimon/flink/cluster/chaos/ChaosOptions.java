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

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/** The command line. {@code tools/chaos} adds the first three options itself. */
public final class ChaosOptions {

    private Path flink;
    private Path jar;
    private Path directory;
    private int rounds = 20;
    private long seed = 1;
    private Scenario scenario;
    private boolean json;
    private Oracle.UnfinishedSavepoints unfinished = Oracle.UnfinishedSavepoints.KNOWN_LIMIT;

    private ChaosOptions() {}

    /** What the user typed cannot be understood; the message says what and what would be right. */
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    static ChaosOptions parse(String... args) throws UsageException {
        ChaosOptions options = new ChaosOptions();
        Iterator<String> words = Arrays.asList(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--flink":
                    options.flink = path(option, words);
                    break;
                case "--jar":
                    options.jar = path(option, words);
                    break;
                case "--dir":
                    options.directory = path(option, words);
                    break;
                case "--rounds":
                    options.rounds = (int) number(option, value(option, words), 1, 100_000);
                    break;
                case "--seed":
                    options.seed =
                            number(option, value(option, words), Long.MIN_VALUE, Long.MAX_VALUE);
                    break;
                case "--scenario":
                    options.scenario = scenario(value(option, words));
                    break;
                case "--unfinished-savepoints-fail":
                    options.unfinished = Oracle.UnfinishedSavepoints.VIOLATION;
                    break;
                case "--json":
                    options.json = true;
                    break;
                default:
                    throw new UsageException("unknown option '" + option + "'");
            }
        }
        require("--flink", options.flink);
        require("--jar", options.jar);
        require("--dir", options.directory);
        return options;
    }

    private static void require(String option, Path value) throws UsageException {
        if (value == null) {
            throw new UsageException("option " + option + " is missing");
        }
    }

    private static Path path(String option, Iterator<String> words) throws UsageException {
        return Paths.get(value(option, words)).toAbsolutePath().normalize();
    }

    private static String value(String option, Iterator<String> words) throws UsageException {
        if (!words.hasNext()) {
            throw new UsageException("option " + option + " needs a value");
        }
        return words.next();
    }

    private static long number(String option, String text, long min, long max)
            throws UsageException {
        try {
            long number = Long.parseLong(text);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new UsageException(
                "option "
                        + option
                        + " needs a number from "
                        + min
                        + " to "
                        + max
                        + ", not '"
                        + text
                        + "'");
    }

    private static Scenario scenario(String text) throws UsageException {
        return Scenario.byId(text)
                .orElseThrow(
                        () ->
                                new UsageException(
                                        "unknown scenario '"
                                                + text
                                                + "'; there are "
                                                + Arrays.stream(Scenario.values())
                                                        .map(Scenario::id)
                                                        .collect(Collectors.joining(", "))));
    }

    /** The scenario of each round: all of them in turn, in an order drawn anew each time. */
    static List<Scenario> plan(int rounds, long seed, Scenario only) {
        List<Scenario> plan = new ArrayList<>();
        Random random = new Random(seed);
        while (plan.size() < rounds) {
            List<Scenario> turn =
                    only != null
                            ? Collections.singletonList(only)
                            : new ArrayList<>(Arrays.asList(Scenario.values()));
            if (only == null) {
                Collections.shuffle(turn, random);
            }
            plan.addAll(turn);
        }
        return plan.subList(0, rounds);
    }

    List<Scenario> plan() {
        return plan(rounds, seed, scenario);
    }

    Path flink() {
        return flink;
    }

    Path jar() {
        return jar;
    }

    /** Where clusters, evidence and the report go. */
    Path directory() {
        return directory;
    }

    int rounds() {
        return rounds;
    }

    long seed() {
        return seed;
    }

    boolean json() {
        return json;
    }

    Oracle.UnfinishedSavepoints unfinished() {
        return unfinished;
    }
}
