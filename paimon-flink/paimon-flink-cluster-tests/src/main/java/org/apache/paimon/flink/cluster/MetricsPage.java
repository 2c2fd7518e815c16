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

package org.apache.paimon.flink.cluster;

import java.net.URI;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What one process serves to Prometheus, in its text format. */
public final class MetricsPage {

    private static final Pattern LABEL =
            Pattern.compile("(\\w+)=\"([^\"\\\\]*(?:\\\\.[^\"\\\\]*)*)\",?");

    /** Name, labels and value. A label may hold any character. */
    private static final Pattern SAMPLE =
            Pattern.compile("(?m)^(\\w+)(?:\\{((?:" + LABEL.pattern() + ")*)})? (\\S+)");

    private static final int VALUE = 5;

    private final URI address;
    private final String text;

    MetricsPage(URI address, String text) {
        this.address = address;
        this.text = text;
    }

    /** Where it was read. */
    public URI address() {
        return address;
    }

    /** Values by the rest of the name behind a prefix. */
    public Map<String, Double> values(String prefix) {
        return values(prefix, null, null);
    }

    /** The same, of the metrics that carry a label with this value. */
    public Map<String, Double> values(String prefix, String label, String labelValue) {
        Map<String, Double> values = new TreeMap<>();
        Matcher sample = SAMPLE.matcher(text);
        while (sample.find()) {
            String name = sample.group(1);
            if (name.startsWith(prefix)
                    && (label == null || hasLabel(sample.group(2), label, labelValue))) {
                values.put(name.substring(prefix.length()), number(sample.group(VALUE)));
            }
        }
        return values;
    }

    private static boolean hasLabel(String labels, String name, String value) {
        Matcher label = LABEL.matcher(labels == null ? "" : labels);
        while (label.find()) {
            if (label.group(1).equals(name)) {
                return label.group(2).equals(value);
            }
        }
        return false;
    }

    private static double number(String text) {
        return Double.parseDouble(text.replace("Inf", "Infinity"));
    }
}
