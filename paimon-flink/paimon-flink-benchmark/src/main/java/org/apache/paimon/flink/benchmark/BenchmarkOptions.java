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

package org.apache.paimon.flink.benchmark;

import javax.annotation.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/** The command line of {@link Benchmark}; {@code tools/benchmark --help} describes it. */
final class BenchmarkOptions {

    private static final Set<String> MEASURES =
            new HashSet<>(
                    Arrays.asList(
                            "heap",
                            "checkpoint",
                            "restore",
                            "serializer",
                            "tag",
                            "frame",
                            "writer",
                            "job",
                            "recovery"));

    private Path jar;
    private Path against;
    private Path directory;
    private Path plot;
    private Plan.Extent extent = Plan.Extent.FULL;
    private Set<String> only = MEASURES;
    private int rounds = 3;
    private boolean json;

    private BenchmarkOptions() {}

    /**
     * @throws IllegalArgumentException that says what is wrong with the command line
     */
    static BenchmarkOptions parse(String... args) throws IOException {
        BenchmarkOptions options = new BenchmarkOptions();
        for (int i = 0; i < args.length; i++) {
            String option = args[i];
            switch (option) {
                case "--json":
                    options.json = true;
                    break;
                case "--quick":
                    options.extent = Plan.Extent.QUICK;
                    options.rounds = 1;
                    break;
                case "--smoke":
                    options.extent = Plan.Extent.SMOKE;
                    options.rounds = 1;
                    break;
                case "--jar":
                    options.jar = file(option, value(args, ++i));
                    break;
                case "--against":
                    options.against = file(option, value(args, ++i));
                    break;
                case "--dir":
                    options.directory = Files.createDirectories(Paths.get(value(args, ++i)));
                    break;
                case "--plot":
                    options.plot = Paths.get(value(args, ++i));
                    break;
                case "--rounds":
                    options.rounds = positive(option, value(args, ++i));
                    break;
                case "--only":
                    options.only = measures(value(args, ++i));
                    break;
                default:
                    throw new IllegalArgumentException("unknown option '" + option + "'");
            }
        }
        if (options.jar == null || options.against == null || options.directory == null) {
            throw new IllegalArgumentException("--jar, --against and --dir are needed");
        }
        return options;
    }

    private static String value(String[] args, int index) {
        if (index == args.length) {
            throw new IllegalArgumentException("option " + args[index - 1] + " needs a value");
        }
        return args[index];
    }

    private static Path file(String option, String value) {
        Path file = Paths.get(value);
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException(
                    "option " + option + ": there is no file '" + value + "'");
        }
        return file;
    }

    private static int positive(String option, String value) {
        if (!value.matches("[1-9][0-9]{0,3}")) {
            throw new IllegalArgumentException(
                    "option " + option + " needs a positive number, not '" + value + "'");
        }
        return Integer.parseInt(value);
    }

    private static Set<String> measures(String value) {
        Set<String> measures = new HashSet<>(Arrays.asList(value.split(",")));
        for (String measure : measures) {
            if (!MEASURES.contains(measure)) {
                throw new IllegalArgumentException(
                        "option --only: there is no measure '" + measure + "', but " + MEASURES);
            }
        }
        return measures;
    }

    Plan.Extent extent() {
        return extent;
    }

    boolean includes(String measure) {
        return only.contains(measure);
    }

    int rounds() {
        return rounds;
    }

    /** 0 for this distribution, 1 for the other. */
    Path jar(int which) {
        return which == 0 ? jar : against;
    }

    Path directory() {
        return directory;
    }

    @Nullable
    Path plot() {
        return plot;
    }

    boolean json() {
        return json;
    }
}
