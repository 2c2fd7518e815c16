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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the workers have measured, with this distribution (jar 0) and with the other jar (jar 1): by
 * measure, case and metric. Of several rounds the smallest value counts, since other load on the
 * machine can only raise it.
 *
 * <p>As text, one line per value, in the order in which they were measured, with tabs between jar,
 * measure, case, metric and value.
 */
final class Values {

    private static final Pattern NUMBER = Pattern.compile("\\d+");

    private final Map<String, Map<String, Map<String, double[]>>> byMeasure = new LinkedHashMap<>();

    /** Reads what {@link #line} has written. */
    static Values read(Path file) throws IOException {
        Values values = new Values();
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            String[] parts = line.split("\t");
            try {
                if (parts.length != 5) {
                    throw new IllegalArgumentException(parts.length + " columns instead of 5");
                }
                values.add(
                        jar(parts[0]), parts[1], parts[2], parts[3], Double.parseDouble(parts[4]));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        String.format(
                                "line %d of '%s' is not a measured value: %s",
                                number, file, e.getMessage()),
                        e);
            }
        }
        return values;
    }

    private static int jar(String text) {
        if (text.equals("0") || text.equals("1")) {
            return Integer.parseInt(text);
        }
        throw new IllegalArgumentException("jar '" + text + "' is neither 0 nor 1");
    }

    static String line(int jar, String measure, String caseName, String metric, double value) {
        return String.join(
                "\t", Integer.toString(jar), measure, caseName, metric, Double.toString(value));
    }

    void add(int jar, String measure, String caseName, String metric, double value) {
        double[] pair =
                byMeasure
                        .computeIfAbsent(measure, key -> new LinkedHashMap<>())
                        .computeIfAbsent(caseName, key -> new LinkedHashMap<>())
                        .computeIfAbsent(metric, key -> new double[] {Double.NaN, Double.NaN});
        pair[jar] = Double.isNaN(pair[jar]) ? value : Math.min(pair[jar], value);
    }

    List<String> measures() {
        return new ArrayList<>(byMeasure.keySet());
    }

    /** The cases of a measure, by the numbers in them; what has none, as it was taken. */
    List<String> cases(String measure) {
        List<String> cases =
                new ArrayList<>(byMeasure.getOrDefault(measure, Collections.emptyMap()).keySet());
        cases.sort(Comparator.comparing(Values::numbers));
        return cases;
    }

    /** The numbers in a case, at equal width, so that their texts compare as they do. */
    private static String numbers(String caseName) {
        StringBuilder numbers = new StringBuilder();
        Matcher number = NUMBER.matcher(caseName);
        while (number.find()) {
            numbers.append(String.format("%12s", number.group()));
        }
        return numbers.toString();
    }

    /** The number of writers of a case that begins with it. */
    static int writers(String caseName) {
        return Integer.parseInt(caseName.substring(0, caseName.indexOf(' ')));
    }

    static boolean oneFileEach(String caseName) {
        return caseName.endsWith(", 1 files");
    }

    Map<String, double[]> metrics(String measure, String caseName) {
        return byMeasure
                .getOrDefault(measure, Collections.emptyMap())
                .getOrDefault(caseName, Collections.emptyMap());
    }

    /** The values of both jars, NaN where one has none; null when neither has. */
    @Nullable
    double[] find(String measure, String caseName, String metric) {
        return metrics(measure, caseName).get(metric);
    }
}
