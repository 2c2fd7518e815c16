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

import org.apache.flink.metrics.CharacterFilter;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.HistogramStatistics;
import org.apache.flink.metrics.Meter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * A metric group in which a metric of a name that is registered again takes the place of the
 * earlier one.
 *
 * <p>Flink keeps the earlier one and warns of a name collision. The coordinator's metric group
 * outlives the committers of its sessions, each of which registers the same metrics.
 *
 * <p>Threads: any.
 */
final class ReplacingMetricGroup implements MetricGroup {

    private final MetricGroup group;
    private final Map<String, Replaceable<?>> metrics = new HashMap<>();
    private final Map<String, ReplacingMetricGroup> groups = new HashMap<>();

    ReplacingMetricGroup(MetricGroup group) {
        this.group = group;
    }

    @Override
    public Counter counter(String name) {
        return counter(name, new SimpleCounter());
    }

    @Override
    public <C extends Counter> C counter(String name, C counter) {
        return register(name, counter, CurrentCounter::new, group::counter);
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        return register(name, gauge, CurrentGauge<T>::new, group::gauge);
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        return register(name, histogram, CurrentHistogram::new, group::histogram);
    }

    @Override
    public <M extends Meter> M meter(String name, M meter) {
        return register(name, meter, CurrentMeter::new, group::meter);
    }

    @Override
    public synchronized MetricGroup addGroup(String name) {
        return groups.computeIfAbsent(
                name, added -> new ReplacingMetricGroup(group.addGroup(added)));
    }

    @Override
    public synchronized MetricGroup addGroup(String key, String value) {
        return groups.computeIfAbsent(
                key + '=' + value, added -> new ReplacingMetricGroup(group.addGroup(key, value)));
    }

    @Override
    public String[] getScopeComponents() {
        return group.getScopeComponents();
    }

    @Override
    public Map<String, String> getAllVariables() {
        return group.getAllVariables();
    }

    @Override
    public String getMetricIdentifier(String name) {
        return group.getMetricIdentifier(name);
    }

    @Override
    public String getMetricIdentifier(String name, CharacterFilter filter) {
        return group.getMetricIdentifier(name, filter);
    }

    /**
     * @param wrap makes what is registered when the name is new
     */
    @SuppressWarnings("unchecked")
    private synchronized <M, S extends M, R extends Replaceable<M>> S register(
            String name, S metric, Function<M, R> wrap, Registration<R> registration) {
        Replaceable<?> present = metrics.get(name);
        R wrapped = wrap.apply(metric);
        if (present != null && present.getClass() == wrapped.getClass()) {
            ((Replaceable<M>) present).current = metric;
        } else {
            metrics.put(name, wrapped);
            registration.register(name, wrapped);
        }
        return metric;
    }

    private interface Registration<R> {

        void register(String name, R metric);
    }

    /** What is registered in Flink, for as long as its group exists. */
    private abstract static class Replaceable<M> {

        volatile M current;

        Replaceable(M metric) {
            current = metric;
        }
    }

    private static final class CurrentCounter extends Replaceable<Counter> implements Counter {

        private CurrentCounter(Counter counter) {
            super(counter);
        }

        @Override
        public void inc() {
            current.inc();
        }

        @Override
        public void inc(long n) {
            current.inc(n);
        }

        @Override
        public void dec() {
            current.dec();
        }

        @Override
        public void dec(long n) {
            current.dec(n);
        }

        @Override
        public long getCount() {
            return current.getCount();
        }
    }

    private static final class CurrentGauge<T> extends Replaceable<Gauge<T>> implements Gauge<T> {

        private CurrentGauge(Gauge<T> gauge) {
            super(gauge);
        }

        @Override
        public T getValue() {
            return current.getValue();
        }
    }

    private static final class CurrentHistogram extends Replaceable<Histogram>
            implements Histogram {

        private CurrentHistogram(Histogram histogram) {
            super(histogram);
        }

        @Override
        public void update(long value) {
            current.update(value);
        }

        @Override
        public long getCount() {
            return current.getCount();
        }

        @Override
        public HistogramStatistics getStatistics() {
            return current.getStatistics();
        }
    }

    private static final class CurrentMeter extends Replaceable<Meter> implements Meter {

        private CurrentMeter(Meter meter) {
            super(meter);
        }

        @Override
        public void markEvent() {
            current.markEvent();
        }

        @Override
        public void markEvent(long n) {
            current.markEvent(n);
        }

        @Override
        public double getRate() {
            return current.getRate();
        }

        @Override
        public long getCount() {
            return current.getCount();
        }
    }
}
