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

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs every measure with this distribution and with another Paimon jar, in turns, each in a
 * process of its own, and prints values and ratios. {@code tools/benchmark} builds and calls it.
 *
 * <p>Of several rounds the smallest value counts: other load on the machine can only raise it.
 */
public final class Benchmark {

    private static final int WORKER_TIMEOUT_MINUTES = 20;

    private final BenchmarkOptions options;
    private final PrintStream progress;

    /** By measure and case, by metric: this distribution's value and the other's. */
    private final Map<String, Map<String, double[]>> values = new LinkedHashMap<>();

    private final List<String> failures = new ArrayList<>();

    private Benchmark(BenchmarkOptions options, PrintStream progress) {
        this.options = options;
        this.progress = progress;
    }

    public static void main(String[] args) throws Exception {
        BenchmarkOptions options;
        try {
            options = BenchmarkOptions.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println("benchmark: " + e.getMessage());
            System.exit(2);
            return;
        }
        Benchmark benchmark = new Benchmark(options, System.err);
        benchmark.run();
        benchmark.compareSizes();
        if (options.json()) {
            System.out.println(benchmark.json());
        } else {
            System.out.print(benchmark.table());
        }
        if (options.plot() != null) {
            Plot.draw(benchmark.values, options.plot());
        }
        System.exit(benchmark.failures.isEmpty() ? 0 : 1);
    }

    private void run() throws Exception {
        List<Plan.Case> cases = new ArrayList<>();
        for (Plan.Case planned : Plan.of(options.extent())) {
            if (options.includes(planned.measure)) {
                cases.add(planned);
            }
        }
        int done = 0;
        for (Plan.Case current : cases) {
            progress.printf("[%d/%d] %s%n", ++done, cases.size(), current);
            for (int round = 0; round < options.rounds(); round++) {
                // Who goes first changes, so that a drift of the machine favours nobody.
                for (int turn = 0; turn < 2; turn++) {
                    run(current, (round + turn) % 2);
                }
            }
        }
    }

    /**
     * @param jar 0 for this distribution, 1 for the other
     */
    private void run(Plan.Case current, int jar) throws Exception {
        Path directory = Files.createTempDirectory(options.directory(), "worker");
        Path results = directory.resolve("results");
        Path log = directory.resolve("log");
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:+UseSerialGC");
        command.add("-Xms" + current.heapMegabytes + "m");
        command.add("-Xmx" + current.heapMegabytes + "m");
        for (String opened :
                Arrays.asList("lang", "util", "util.concurrent", "nio", "net", "time")) {
            command.add("--add-opens=java.base/java." + opened + "=ALL-UNNAMED");
        }
        command.add("-Djava.io.tmpdir=" + directory);
        command.add("-cp");
        command.add(options.jar(jar) + File.pathSeparator + System.getProperty("java.class.path"));
        command.add(Worker.class.getName());
        command.add(current.measure);
        command.add(results.toString());
        command.add(directory.resolve("tables").toString());
        command.addAll(current.arguments);
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start();
        Thread stop = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(stop);
        boolean ended = process.waitFor(WORKER_TIMEOUT_MINUTES, TimeUnit.MINUTES);
        process.destroyForcibly().waitFor();
        Runtime.getRuntime().removeShutdownHook(stop);
        if (Files.exists(results)) {
            read(current.measure, results, jar);
        }
        if (!ended || process.exitValue() != 0) {
            String failure =
                    String.format(
                            "%s with %s %s; see %s",
                            current,
                            options.jar(jar).getFileName(),
                            ended
                                    ? "failed with exit code " + process.exitValue()
                                    : "took more than " + WORKER_TIMEOUT_MINUTES + " minutes",
                            log);
            failures.add(failure);
            progress.println("  " + failure);
        } else {
            Trees.delete(directory);
        }
    }

    private void read(String measure, Path results, int jar) throws IOException {
        for (String line : Files.readAllLines(results)) {
            String[] parts = line.split("\t");
            double[] pair =
                    values.computeIfAbsent(measure + "\t" + parts[0], k -> new LinkedHashMap<>())
                            .computeIfAbsent(parts[1], k -> new double[] {Double.NaN, Double.NaN});
            double value = Double.parseDouble(parts[2]);
            pair[jar] = Double.isNaN(pair[jar]) ? value : Math.min(pair[jar], value);
        }
    }

    /** How the time of a restore grows when the writers become ten times as many. */
    private void compareSizes() {
        Map<String, double[]> few = values.get("restore\t1000 writers, 1 files");
        Map<String, double[]> many = values.get("restore\t10000 writers, 1 files");
        if (few != null && many != null) {
            double[] a = few.get("restore CPU ms");
            double[] b = many.get("restore CPU ms");
            Map<String, double[]> growth = new LinkedHashMap<>();
            growth.put("times the CPU time", new double[] {b[0] / a[0], b[1] / a[1]});
            values.put("restore\t10000 instead of 1000 writers", growth);
        }
    }

    // ------------------------------------------------------------------------
    //  Output
    // ------------------------------------------------------------------------

    private String table() {
        StringBuilder table = new StringBuilder();
        table.append("| measure | at | value | this | other | ratio | target |\n");
        table.append("|---|---|---|--:|--:|--:|---|\n");
        values.forEach(
                (key, metrics) -> {
                    String[] measureAndCase = key.split("\t");
                    metrics.forEach(
                            (metric, pair) ->
                                    table.append(
                                            String.format(
                                                    Locale.ROOT,
                                                    "| %s | %s | %s | %s | %s | %s | %s |%n",
                                                    measureAndCase[0],
                                                    measureAndCase[1],
                                                    metric,
                                                    number(pair[0]),
                                                    number(pair[1]),
                                                    number(pair[0] / pair[1]),
                                                    Target.verdict(
                                                            measureAndCase[0],
                                                            measureAndCase[1],
                                                            metric,
                                                            pair[0],
                                                            pair[1]))));
                });
        failures.forEach(failure -> table.append("\nFAILED: ").append(failure).append('\n'));
        return table.toString();
    }

    private static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return "-";
        }
        return Math.abs(value) >= 100
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.3g", value);
    }

    private String json() {
        List<String> rows = new ArrayList<>();
        values.forEach(
                (key, metrics) -> {
                    String[] measureAndCase = key.split("\t");
                    metrics.forEach(
                            (metric, pair) ->
                                    rows.add(
                                            String.format(
                                                    Locale.ROOT,
                                                    "{\"measure\":%s,\"at\":%s,\"value\":%s,"
                                                            + "\"this\":%s,\"other\":%s,"
                                                            + "\"target\":%s}",
                                                    quoted(measureAndCase[0]),
                                                    quoted(measureAndCase[1]),
                                                    quoted(metric),
                                                    jsonNumber(pair[0]),
                                                    jsonNumber(pair[1]),
                                                    quoted(
                                                            Target.verdict(
                                                                    measureAndCase[0],
                                                                    measureAndCase[1],
                                                                    metric,
                                                                    pair[0],
                                                                    pair[1])))));
                });
        List<String> quotedFailures = new ArrayList<>();
        failures.forEach(failure -> quotedFailures.add(quoted(failure)));
        return "{\"rows\":["
                + String.join(",\n", rows)
                + "],\"failures\":["
                + String.join(",", quotedFailures)
                + "]}";
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String jsonNumber(double value) {
        return Double.isNaN(value) ? "null" : Double.toString(value);
    }
}
