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

/** What a value must reach: by itself, or compared with another one. */
final class Target {

    /** The value is only reported. */
    static final Target NONE = new Target("", false, null);

    private final String text;
    private final boolean relative;

    /** Null when the value is only reported. */
    @Nullable private final Rule rule;

    private Target(String text, boolean relative, @Nullable Rule rule) {
        this.text = text;
        this.relative = relative;
        this.rule = rule;
    }

    /** Two equal measurements differ too much for a target: the value is only reported. */
    static Target reported(double noise) {
        return new Target("none, noise " + percent(noise), false, null);
    }

    /** At most so many times what it is compared with. */
    static Target atMost(double most) {
        return new Target(
                "<= " + Numbers.format(most) + "x", true, (value, c, ratio) -> ratio <= most);
    }

    /** Not more than what it is compared with, but for what two equal measurements differ by. */
    static Target notMore(double noise) {
        return new Target(
                "<= 1.00x, noise " + percent(noise), true, (value, c, ratio) -> ratio <= 1 + noise);
    }

    /** Not less than what it is compared with, but for what two equal measurements differ by. */
    static Target notLess(double noise) {
        return new Target(
                ">= 1.00x, noise " + percent(noise),
                true,
                (value, c, ratio) -> ratio >= 1 / (1 + noise));
    }

    /** Larger by exactly so much than what it is compared with. */
    static Target larger(double difference, String text) {
        return new Target(text, true, (value, compared, r) -> value - compared == difference);
    }

    /** At most twice what it is compared with, and so many: each thing may be read once more. */
    static Target onceMore(double more) {
        return new Target(
                "<= 2x + " + Numbers.format(more),
                true,
                (value, compared, r) -> value <= 2 * compared + more);
    }

    /** A bound of the value alone. */
    static Target within(double bound, String text) {
        return new Target(text, false, (value, c, r) -> value <= bound);
    }

    static Target exactly(double expected, String text) {
        return new Target(text, false, (value, c, r) -> value == expected);
    }

    private static String percent(double share) {
        return Numbers.format(Math.rint(1_000 * share) / 10) + " %";
    }

    /** {@code met}, {@code MISSED}, {@code reported}, or why that cannot be said. */
    String verdict(double value, double compared, double ratio) {
        if (rule == null) {
            return "reported";
        }
        if (Double.isNaN(value) || (relative && Double.isNaN(ratio))) {
            return "not measured";
        }
        return rule.isMet(value, compared, ratio) ? "met" : "MISSED";
    }

    @Override
    public String toString() {
        return text;
    }

    private interface Rule {
        boolean isMet(double value, double compared, double ratio);
    }
}
