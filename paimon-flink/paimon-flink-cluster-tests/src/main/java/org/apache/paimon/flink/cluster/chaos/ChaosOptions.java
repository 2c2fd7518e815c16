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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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

    private ChaosOptions() {}

    static ChaosOptions parse(String... args) throws CommandLine.UsageException {
        ChaosOptions options = new ChaosOptions();
        CommandLine words = new CommandLine(args);
        while (words.hasNext()) {
            switch (words.next()) {
                case "--flink":
                    options.flink = words.path();
                    break;
                case "--jar":
                    options.jar = words.path();
                    break;
                case "--dir":
                    options.directory = words.path();
                    break;
                case "--rounds":
                    options.rounds = (int) words.number(1, 100_000);
                    break;
                case "--seed":
                    options.seed = words.number(Long.MIN_VALUE, Long.MAX_VALUE);
                    break;
                case "--scenario":
                    options.scenario = scenario(words.value());
                    break;
                case "--json":
                    options.json = true;
                    break;
                default:
                    throw words.unknown();
            }
        }
        CommandLine.require("--flink", options.flink);
        CommandLine.require("--jar", options.jar);
        CommandLine.require("--dir", options.directory);
        return options;
    }

    private static Scenario scenario(String text) throws CommandLine.UsageException {
        return Scenario.byId(text)
                .orElseThrow(
                        () ->
                                new CommandLine.UsageException(
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
}
