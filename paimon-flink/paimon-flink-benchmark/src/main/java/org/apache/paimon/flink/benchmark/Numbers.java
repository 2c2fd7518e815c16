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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How numbers are shown: three digits, or all of them before the point. */
final class Numbers {

    private Numbers() {}

    static String format(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return "-";
        }
        double size = Math.abs(value);
        if (size == Math.rint(size)) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }

    static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /**
     * By how much the median of as many further values would differ, by the spread of these: their
     * median absolute deviation, which one odd value does not change, scaled as for a normal
     * distribution.
     */
    static double standardErrorOfMedian(List<Double> values) {
        double median = median(values);
        List<Double> deviations = new ArrayList<>();
        for (double value : values) {
            deviations.add(Math.abs(value - median));
        }
        double standardDeviation = 1.4826 * median(deviations);
        return Math.sqrt(Math.PI / 2) * standardDeviation / Math.sqrt(values.size());
    }
}
