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

import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Takes one measure with the Paimon jar on its class path, and writes the values to a file. Started
 * by {@link Benchmark}, one process per measure, jar and round; it takes all sizes, small ones
 * first.
 */
public final class Worker {

    private final Map<String, String> arguments;
    private final Path directory;
    private final Results results;

    private Worker(Map<String, String> arguments, Path directory, Results results) {
        this.arguments = arguments;
        this.directory = directory;
        this.results = results;
    }

    /**
     * Arguments: measure, file of the results, working directory, then for each case its name=value
     * pairs, with commas between.
     */
    public static void main(String[] args) throws Exception {
        try (Results results = new Results(Paths.get(args[1]))) {
            for (int i = 3; i < args.length; i++) {
                Map<String, String> arguments = new LinkedHashMap<>();
                for (String argument : args[i].split(",")) {
                    int equals = argument.indexOf('=');
                    arguments.put(argument.substring(0, equals), argument.substring(equals + 1));
                }
                Path directory = Files.createDirectories(Paths.get(args[2], "case-" + i));
                new Worker(arguments, directory, results).take(args[0]);
            }
        }
        // Coordinators of the released jar leave threads behind.
        System.exit(0);
    }

    private void take(String measure) throws Exception {
        switch (measure) {
            case "heap":
                HeapProbe.run(number("writers"), number("files"), directory, results);
                return;
            case "checkpoint":
                jmh("CheckpointBenchmark.checkpoint", "writers", "files");
                return;
            case "restore":
                jmh("RestoreBenchmark.restore", "writers", "files");
                return;
            case "serializer":
                jmh("SerializerBenchmark.serialize", "files");
                jmh("SerializerBenchmark.deserialize", "files");
                return;
            case "tag":
                TagProbe.run(number("snapshots"), directory, results);
                return;
            case "frame":
                FrameProbe.run(number("files"), number("savepoints"), directory, results);
                return;
            case "job":
                JobProbe.runJobs(
                        number("warmUps"), number("turns"), number("seconds"), directory, results);
                return;
            case "writer":
                JobProbe.runWriter(number("savepoints"), directory, results);
                return;
            case "recovery":
                JobProbe.runRecovery(number("turns"), directory, results);
                return;
            default:
                throw new IllegalArgumentException("Unknown measure " + measure);
        }
    }

    private int number(String name) {
        return Integer.parseInt(arguments.get(name));
    }

    /** This process is the fork. */
    private void jmh(String benchmark, String... parameters) throws Exception {
        Meter.clear();
        ChainedOptionsBuilder options =
                new OptionsBuilder()
                        .include(benchmark.replace(".", "\\.") + "$")
                        .forks(0)
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .warmupBatchSize(number("calls"))
                        .measurementBatchSize(number("calls"))
                        .warmupIterations(number("warmUps"))
                        .measurementIterations(number("iterations"))
                        .param("directory", directory.resolve(benchmark).toString());
        for (String parameter : parameters) {
            options.param(parameter, arguments.get(parameter));
        }
        StringBuilder name = new StringBuilder();
        for (String parameter : parameters) {
            name.append(name.length() == 0 ? "" : ", ")
                    .append(arguments.get(parameter))
                    .append(' ')
                    .append(parameter);
        }
        for (RunResult result : new Runner(options.build()).run()) {
            String method = benchmark.substring(benchmark.indexOf('.') + 1);
            results.add(
                    name.toString(),
                    method + " " + result.getPrimaryResult().getScoreUnit(),
                    result.getPrimaryResult().getStatistics().getMin());
        }
        Meter.smallest().forEach((metric, value) -> results.add(name.toString(), metric, value));
    }
}
