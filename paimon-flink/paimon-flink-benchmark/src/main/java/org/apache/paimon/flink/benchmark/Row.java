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

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One line of the {@link Table}. */
final class Row {

    private static final Pattern LONG_NUMBER = Pattern.compile("\\d{4,}");

    final String measure;
    final String at;
    final String unit;
    final double value;

    /** What {@link #compared} is the value of. */
    final String against;

    final double compared;
    final double ratio;
    final Target target;

    Row(
            String measure,
            String at,
            String unit,
            double value,
            String against,
            double compared,
            Target target) {
        this(measure, at, unit, value, against, compared, ratio(value, compared), target);
    }

    /**
     * @param ratio of the value to what it is compared with, where that is not their quotient
     */
    Row(
            String measure,
            String at,
            String unit,
            double value,
            String against,
            double compared,
            double ratio,
            Target target) {
        this.measure = measure;
        this.at = readable(at);
        this.unit = unit;
        this.value = value;
        this.against = against;
        this.compared = compared;
        this.ratio = ratio;
        this.target = target;
    }

    /** NaN when there is nothing to divide by. */
    static double ratio(double value, double compared) {
        return compared == 0 ? Double.NaN : value / compared;
    }

    String verdict() {
        return target.verdict(value, compared, ratio);
    }

    String ratioText() {
        String text = Numbers.format(ratio);
        return text.equals("-") ? text : text + "x";
    }

    /** With separators between thousands, and in the singular where there is one. */
    private static String readable(String at) {
        Matcher number = LONG_NUMBER.matcher(at.replaceAll("\\b1 files\\b", "1 file"));
        StringBuffer text = new StringBuffer();
        while (number.find()) {
            number.appendReplacement(text, Numbers.format(Integer.parseInt(number.group())));
        }
        return number.appendTail(text).toString();
    }
}
