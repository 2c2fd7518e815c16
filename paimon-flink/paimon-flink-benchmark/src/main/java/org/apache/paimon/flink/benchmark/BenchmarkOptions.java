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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

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

    /** Something of each part of Paimon that is measured. */
    static final List<String> MEASURED =
            Arrays.asList(
                    "org/apache/paimon/utils/SnapshotManager.class",
                    "org/apache/paimon/flink/sink/RowAppendTableSink.class",
                    "org/apache/paimon/flink/sink/AutoTagForSavepointCommitterOperator.class",
                    "org/apache/paimon/flink/sink/coordinator/"
                            + "CommittingWriteOperatorCoordinator.class");

    private Path jar;
    private Path against;
    private Path directory;
    private Path plot;
    private Plan.Extent extent = Plan.Extent.FULL;
    private Set<String> only = MEASURES;
    @Nullable private Integer rounds;
    private Path values;
    private Output output = Output.TEXT;

    /** How the table is printed. */
    enum Output {
        TEXT,
        MARKDOWN,
        JSON
    }

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
                    options.print(Output.JSON);
                    break;
                case "--markdown":
                    options.print(Output.MARKDOWN);
                    break;
                case "--values":
                    options.values = file(option, value(args, ++i));
                    break;
                case "--quick":
                    options.extent = Plan.Extent.QUICK;
                    break;
                case "--smoke":
                    options.extent = Plan.Extent.SMOKE;
                    break;
                case "--jar":
                    options.jar = paimonJar(option, value(args, ++i));
                    break;
                case "--against":
                    options.against = paimonJar(option, value(args, ++i));
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

    /** A jar that has what the benchmark calls. */
    private static Path paimonJar(String option, String value) throws IOException {
        Path jar = file(option, value);
        String needed = null;
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (String entry : MEASURED) {
                if (needed == null && zip.getEntry(entry) == null) {
                    needed = entry;
                }
            }
        } catch (ZipException e) {
            throw new IllegalArgumentException(
                    String.format("option %s: '%s' is no jar: %s", option, value, e.getMessage()),
                    e);
        }
        if (needed != null) {
            throw new IllegalArgumentException(
                    String.format(
                            "option %s: '%s' does not hold %s; needed is a jar of Paimon for Flink,"
                                    + " version 2.0.0 or newer",
                            option, value, needed));
        }
        return jar;
    }

    private void print(Output wanted) {
        if (output != Output.TEXT && output != wanted) {
            throw new IllegalArgumentException(
                    "--json and --markdown exclude each other: there is one standard output");
        }
        output = wanted;
    }

    private static int positive(String option, String value) {
        if (!value.matches("[1-9][0-9]{0,3}")) {
            throw new IllegalArgumentException(
                    "option " + option + " needs a positive number, not '" + value + "'");
        }
        return Integer.parseInt(value);
    }

    private static Set<String> measures(String value) {
        Set<String> measures = new HashSet<>(Arrays.asList(value.split(",", -1)));
        for (String measure : measures) {
            if (!MEASURES.contains(measure)) {
                throw new IllegalArgumentException(
                        "option --only: there is no measure '"
                                + measure
                                + "', but "
                                + new TreeSet<>(MEASURES));
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

    /** One process is one draw of what the compiler does; it takes a few to compare two jars. */
    int rounds() {
        if (rounds != null) {
            return rounds;
        }
        return extent == Plan.Extent.FULL ? 3 : 1;
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

    /** The values of an earlier run, to be shown instead of measuring. */
    @Nullable
    Path values() {
        return values;
    }

    Output output() {
        return output;
    }
}
