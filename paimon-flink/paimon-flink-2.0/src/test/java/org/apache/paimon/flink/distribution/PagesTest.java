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

package org.apache.paimon.flink.distribution;

import org.apache.paimon.flink.sink.coordinator.commit.CoordinatorMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTagMetrics;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.apache.paimon.flink.distribution.Repository.ROOT;
import static org.apache.paimon.flink.distribution.Repository.pages;
import static org.apache.paimon.flink.distribution.Repository.text;
import static org.assertj.core.api.Assertions.assertThat;

/** The pages of the repository: what they link to is there, and what they list is in the code. */
class PagesTest {

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern PROMISE =
            Pattern.compile("\\b(T([1-9]|10)|A[1-8]|W[1-4]|E[1-5]|S[1-6]|R[1-3]|U1|L[12])\\b");
    private static final Pattern METRIC_ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\|");

    @Test
    @DisplayName("Each link within the repository leads to a file, and to an anchor that is there")
    void linksLeadSomewhere() throws Exception {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : pages()) {
            Matcher link = LINK.matcher(withoutCode(text(page)));
            while (link.find()) {
                String target = link.group(1);
                if (target.startsWith("http")) {
                    continue;
                }
                links++;
                String[] parts = target.split("#", 2);
                Path file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
                boolean there = Files.exists(file);
                if (there && parts.length == 2) {
                    there = anchors(text(file)).contains(parts[1]);
                }
                if (!there) {
                    broken.add(ROOT.relativize(page) + " -> " + target);
                }
            }
        }
        assertThat(broken).isEmpty();
        assertThat(links).isGreaterThan(10);
    }

    @Test
    @DisplayName("Each promise that the code or a test names is on the page of the promises")
    void promisesResolve() throws Exception {
        Set<String> explained = anchors(text(ROOT.resolve("docs/promises.md")));
        Set<String> named = new TreeSet<>();
        for (Path source : sources()) {
            Matcher promise = PROMISE.matcher(comments(text(source)));
            while (promise.find()) {
                named.add(promise.group(1));
            }
        }
        assertThat(explained).containsAll(named);
        assertThat(named).hasSizeGreaterThan(35);
    }

    @Test
    @DisplayName("The page of the metrics lists those of the code, and the dashboard shows them")
    void metricsAreListed() throws Exception {
        Set<String> listed = new TreeSet<>();
        Matcher row = METRIC_ROW.matcher(text(ROOT.resolve("docs/metrics.md")));
        while (row.find()) {
            listed.add(row.group(1));
        }
        Set<String> registered = new TreeSet<>(names(CoordinatorMetrics.class));
        registered.addAll(names(SavepointTagMetrics.class));
        assertThat(listed).isEqualTo(registered);

        String dashboard = text(ROOT.resolve("docs/monitoring/grafana-dashboard.json"));
        assertThat(registered)
                .allMatch(name -> dashboard.contains("operator_coordinator_" + name + "{"));
        Matcher alert =
                Pattern.compile("operator_coordinator_(\\w+)")
                        .matcher(text(ROOT.resolve("docs/monitoring/prometheus-alerts.yml")));
        Set<String> watched = new TreeSet<>();
        while (alert.find()) {
            watched.add(alert.group(1));
        }
        assertThat(watched).isNotEmpty().isSubsetOf(registered);
    }

    // ------------------------------------------------------------------------

    private static Set<String> names(Class<?> metrics) throws IllegalAccessException {
        Set<String> names = new TreeSet<>();
        for (Field field : metrics.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers())
                    && Modifier.isPublic(field.getModifiers())
                    && field.getType() == String.class) {
                names.add((String) field.get(null));
            }
        }
        return names;
    }

    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module :
                new String[] {"paimon-common", "paimon-core", "paimon-flink/paimon-flink-common"}) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
            }
        }
        return sources;
    }

    /** Where promises are named: in comments and in the names that tests show. */
    private static String comments(String source) {
        StringBuilder comments = new StringBuilder();
        for (String line : source.split("\n")) {
            String trimmed = line.trim();
            if (trimmed.startsWith("*")
                    || trimmed.startsWith("/*")
                    || trimmed.startsWith("//")
                    || trimmed.contains("@DisplayName")) {
                comments.append(line).append('\n');
            }
        }
        return comments.toString();
    }

    private static String withoutCode(String page) {
        return page.replaceAll("(?s)```.*?```", "").replaceAll("`[^`]*`", "");
    }

    /** Those that are written down, and those of the headings. */
    private static Set<String> anchors(String page) {
        Set<String> anchors = new TreeSet<>();
        Matcher written = Pattern.compile("<a id=\"([^\"]+)\">").matcher(page);
        while (written.find()) {
            anchors.add(written.group(1));
        }
        Matcher heading = Pattern.compile("(?m)^#+ (.+)$").matcher(page);
        while (heading.find()) {
            anchors.add(
                    heading.group(1)
                            .toLowerCase()
                            .replaceAll("[^a-z0-9 _-]", "")
                            .replace(' ', '-'));
        }
        return anchors;
    }
}
