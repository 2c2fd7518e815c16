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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.Meter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.OperatorCoordinatorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

import java.util.Map;
import java.util.TreeMap;

/** A metric group that fails where Flink's would warn of a name collision. */
public final class RecordedMetrics extends UnregisteredMetricsGroup
        implements OperatorCoordinatorMetricGroup {

    private final String prefix;
    private final Map<String, Metric> metrics;

    public RecordedMetrics() {
        this("", new TreeMap<>());
    }

    private RecordedMetrics(String prefix, Map<String, Metric> metrics) {
        this.prefix = prefix;
        this.metrics = metrics;
    }

    /** All of them by name, those of inner groups behind the group's. */
    public Map<String, Metric> metrics() {
        return metrics;
    }

    public long value(String name) {
        Metric metric = metrics.get(name);
        if (metric instanceof Counter) {
            return ((Counter) metric).getCount();
        }
        if (metric instanceof Gauge) {
            return ((Number) ((Gauge<?>) metric).getValue()).longValue();
        }
        throw new AssertionError(name + " is " + metric + ", of " + metrics.keySet());
    }

    private <M extends Metric> M record(String name, M metric) {
        if (metrics.putIfAbsent(prefix + name, metric) != null) {
            throw new AssertionError("Name collision: " + prefix + name);
        }
        return metric;
    }

    @Override
    public <C extends Counter> C counter(String name, C counter) {
        return record(name, counter);
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        return record(name, gauge);
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        return record(name, histogram);
    }

    @Override
    public <M extends Meter> M meter(String name, M meter) {
        return record(name, meter);
    }

    @Override
    public MetricGroup addGroup(String name) {
        return new RecordedMetrics(prefix + name + ".", metrics);
    }

    @Override
    public MetricGroup addGroup(String key, String value) {
        return addGroup(key).addGroup(value);
    }
}
