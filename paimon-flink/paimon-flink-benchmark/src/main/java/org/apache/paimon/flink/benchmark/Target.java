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

import java.util.Arrays;
import java.util.List;

/** What a value of this distribution may be, compared with the other jar's. */
final class Target {

    /** File system calls of one tag. */
    private static final double MOST_CALLS = 16;

    /** What two equal whole jobs differ by. */
    private static final double NOISE = 0.05;

    private static final List<Target> ALL =
            Arrays.asList(
                    new Target("heap", "heap held per file", 0.45),
                    new Target("heap", "highest heap per file", 1.1),
                    new Target("checkpoint", "allocated bytes per file", 0.6),
                    new Target("checkpoint", "intake CPU us per report", 0.1),
                    new Target("checkpoint", "total CPU us per report", 1.05),
                    new Target("serializer", "serialize us/op", 1.05),
                    new Target("serializer", "deserialize us/op", 1.05));

    private final String measure;
    private final String metric;
    private final double highestRatio;

    private Target(String measure, String metric, double highestRatio) {
        this.measure = measure;
        this.metric = metric;
        this.highestRatio = highestRatio;
    }

    static String verdict(
            String measure, String caseName, String metric, double ours, double other) {
        for (Target target : ALL) {
            if (target.measure.equals(measure) && target.metric.equals(metric)) {
                return verdict(ours / other <= target.highestRatio, "<= " + target.highestRatio);
            }
        }
        if (measure.equals("restore")
                && caseName.startsWith("30000 ")
                && metric.equals("restore CPU ms")) {
            return verdict(ours / other <= 0.1, "<= 0.1");
        }
        if (measure.equals("serializer") && metric.equals("bytes")) {
            return verdict(ours - other == 1, "one byte more");
        }
        if (measure.equals("checkpoint") && metric.equals("loop CPU ms")) {
            return verdict(ours < 1_000, "< 10 % of 10 s");
        }
        if (metric.equals("times the CPU time")) {
            return verdict(ours <= 12, "<= 12");
        }
        if (measure.equals("tag") && metric.endsWith("calls")) {
            return verdict(ours <= MOST_CALLS, "constant, <= " + MOST_CALLS);
        }
        if (measure.equals("frame") && metric.startsWith("share")) {
            return verdict(ours == 1, "all");
        }
        if (measure.equals("writer") && caseName.contains("on/off")) {
            return verdict(ours <= 1 + NOISE, "1.00 within " + NOISE);
        }
        if (measure.equals("job")
                && caseName.contains("on/off")
                && !metric.equals("synchronous part")) {
            return metric.equals("records/s")
                    ? verdict(ours >= 1 - NOISE, "1.00 within " + NOISE)
                    : verdict(ours <= 1 + NOISE, "1.00 within " + NOISE);
        }
        if (measure.equals("job") && caseName.startsWith("on, coordinator/operator")) {
            return metric.equals("records/s")
                    ? verdict(ours >= 1 - NOISE, "not slower, within " + NOISE)
                    : verdict(ours <= 1 + NOISE, "not slower, within " + NOISE);
        }
        return "reported";
    }

    private static String verdict(boolean met, String target) {
        return (met ? "met" : "MISSED") + " (" + target + ")";
    }
}
