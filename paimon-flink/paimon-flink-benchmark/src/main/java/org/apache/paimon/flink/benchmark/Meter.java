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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values beside the time that JMH takes: CPU time and allocation of the threads at work. On a
 * machine with other load they are what can be trusted; waiting for a core does not count.
 */
public final class Meter {

    private static final Map<String, List<Double>> SAMPLES = new LinkedHashMap<>();

    private Meter() {}

    static synchronized void add(String metric, double value) {
        SAMPLES.computeIfAbsent(metric, m -> new ArrayList<>()).add(value);
    }

    static synchronized void clear() {
        SAMPLES.clear();
    }

    /** The smallest value of each metric, which disturbances can only raise. */
    static synchronized Map<String, Double> smallest() {
        Map<String, Double> smallest = new LinkedHashMap<>();
        SAMPLES.forEach((metric, values) -> smallest.put(metric, Collections.min(values)));
        return smallest;
    }
}
