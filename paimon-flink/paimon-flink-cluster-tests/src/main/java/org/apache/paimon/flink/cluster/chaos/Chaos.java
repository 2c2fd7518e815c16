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
import org.apache.paimon.flink.cluster.FlinkDistribution;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Plays the rounds, goes on after a violation, and writes the report after each round. */
public final class Chaos {

    private static final int USAGE = 2;

    /** Rounds that share a cluster. */
    private static final int ROUNDS_PER_BED = 13;

    private final FlinkDistribution distribution;
    private final Path directory;
    private final long seed;
    private final PrintStream out;
    private final List<RoundResult> results = new ArrayList<>();
    private final long start = System.nanoTime();
    private Bed bed;
    private int beds;

    public Chaos(FlinkDistribution distribution, Path directory, long seed, PrintStream out) {
        this.distribution = distribution;
        this.directory = directory;
        this.seed = seed;
        this.out = out;
    }

    public static void main(String[] args) {
        ChaosOptions options;
        try {
            options = ChaosOptions.parse(args);
        } catch (CommandLine.UsageException e) {
            System.err.println("tools/chaos: " + e.getMessage() + "; see tools/chaos --help");
            System.exit(USAGE);
            return;
        }
        Chaos chaos =
                new Chaos(
                        new FlinkDistribution(options.flink(), options.jar()),
                        options.directory(),
                        options.seed(),
                        options.json() ? System.err : System.out);
        List<RoundResult> results = chaos.play(options.plan());
        if (options.json()) {
            System.out.println(Report.json(options.seed(), results));
        }
        System.exit(results.stream().allMatch(r -> r.violations().isEmpty()) ? 0 : 1);
    }

    public List<RoundResult> play(List<Scenario> plan) {
        out.printf("seed %d, %d rounds, %s%n", seed, plan.size(), directory);
        Random seeds = new Random(seed);
        try {
            for (int i = 0; i < plan.size(); i++) {
                if (i % ROUNDS_PER_BED == 0) {
                    closeBed();
                }
                playRound(plan, i, seeds.nextLong());
            }
        } finally {
            closeBed();
        }
        out.println(Report.summary(results));
        out.println("report: " + directory.resolve("report.html"));
        return results;
    }

    private void playRound(List<Scenario> plan, int index, long roundSeed) {
        Scenario scenario = plan.get(index);
        int number = index + 1;
        RoundResult result;
        if (bed == null) {
            List<Scenario> coming =
                    plan.subList(index, Math.min(plan.size(), index + ROUNDS_PER_BED));
            bed =
                    Bed.start(
                            distribution,
                            directory.resolve("bed-" + ++beds),
                            coming.stream().anyMatch(s -> s.storage() == Scenario.Storage.HDFS)
                                    ? Scenario.Storage.HDFS
                                    : Scenario.Storage.LOCAL);
        }
        out.printf("round %d of %d  %-24s ", number, plan.size(), scenario.id());
        out.flush();
        result = new Round(bed, scenario, number, roundSeed, new Oracle()).play(number, roundSeed);
        results.add(result);
        long violations = results.stream().filter(r -> !r.violations().isEmpty()).count();
        long secondsLeft =
                (System.nanoTime() - start) / 1_000_000_000 * (plan.size() - number) / number;
        out.printf(
                "%-9s %3d s  violations so far %d  %d:%02d min left  %s%n",
                result.verdict(),
                result.millis() / 1000,
                violations,
                secondsLeft / 60,
                secondsLeft % 60,
                result.window());
        result.violations().forEach(violation -> out.println("    " + violation));
        if (!result.violations().isEmpty()) {
            Evidence.keep(bed, result, directory.resolve("evidence"));
        }
        Report.write(directory, seed, results);
        if (result.violations().stream().anyMatch(v -> v.kind() == Violation.Kind.NO_RECOVERY)) {
            // The next round gets a cluster that has not seen this one.
            closeBed();
        }
    }

    private void closeBed() {
        if (bed != null) {
            bed.close();
            bed = null;
        }
    }
}
