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

import org.apache.paimon.flink.cluster.ClusterException;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The results as {@code report.json}, {@code report.html}, and one line for people. */
final class Report {

    private Report() {}

    static void write(Path directory, long seed, List<RoundResult> results) {
        try {
            Files.createDirectories(directory);
            Files.write(
                    directory.resolve("report.json"),
                    json(seed, results).getBytes(StandardCharsets.UTF_8));
            Files.write(
                    directory.resolve("report.html"),
                    HtmlReport.of(seed, results).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write the report into " + directory, e);
        }
    }

    static String summary(List<RoundResult> results) {
        long hits = results.stream().filter(RoundResult::isHit).count();
        long violations = results.stream().filter(r -> !r.violations().isEmpty()).count();
        long limits = results.stream().mapToLong(r -> r.knownLimits().size()).sum();
        return String.format(
                "%s: %d rounds, %d hit their window, %d with a violation, known limits met %d times",
                violations == 0 ? "OK" : "VIOLATED", results.size(), hits, violations, limits);
    }

    static String json(long seed, List<RoundResult> results) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("seed", seed);
        root.put("summary", summary(results));
        ObjectNode scenarios = root.putObject("scenarios");
        for (Scenario scenario : Scenario.values()) {
            long rounds = count(results, scenario, false);
            if (rounds > 0) {
                scenarios
                        .putObject(scenario.id())
                        .put("rounds", rounds)
                        .put("hits", count(results, scenario, true));
            }
        }
        ArrayNode list = root.putArray("rounds");
        for (RoundResult result : results) {
            ObjectNode node = list.addObject();
            node.put("round", result.number())
                    .put("seed", result.seed())
                    .put("scenario", result.scenario().id())
                    .put("verdict", result.verdict())
                    .put("hit", result.isHit())
                    .put("window", result.window())
                    .put("seconds", result.millis() / 1000.0)
                    .put("tagsChecked", result.tagsChecked())
                    .put("savepointsNeverCommitted", result.uncommitted());
            ArrayNode violations = node.putArray("violations");
            result.violations().forEach(v -> violations.add(v.toString()));
            ArrayNode limits = node.putArray("knownLimits");
            result.knownLimits().forEach(limits::add);
        }
        return root.toString();
    }

    static long count(List<RoundResult> results, Scenario scenario, boolean hitsOnly) {
        return results.stream()
                .filter(r -> r.scenario() == scenario && (r.isHit() || !hitsOnly))
                .count();
    }
}
