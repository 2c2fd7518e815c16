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
import org.apache.flink.metrics.Meter;
import org.apache.flink.metrics.MeterView;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Metrics of a committer that is opened again in one metric group. */
class ReplacingMetricGroupTest {

    private final RecordedMetrics registered = new RecordedMetrics();
    private final ReplacingMetricGroup group = new ReplacingMetricGroup(registered);

    @Test
    @DisplayName("A gauge that is registered again is read from then on, and registered once")
    void laterGaugeIsRead() {
        group.gauge("size", (Gauge<Integer>) () -> 1);
        assertThat(registered.value("size")).isEqualTo(1);

        group.gauge("size", (Gauge<Integer>) () -> 2);
        assertThat(registered.value("size")).isEqualTo(2);
    }

    @Test
    @DisplayName("A counter that is registered again is read and counted on from then on")
    void laterCounterIsRead() {
        Counter first = group.counter("commits");
        first.inc(5);
        assertThat(registered.value("commits")).isEqualTo(5);

        Counter second = group.counter("commits", new SimpleCounter());
        second.inc();
        ((Counter) registered.metrics().get("commits")).inc(2);
        assertThat(second.getCount()).isEqualTo(3);
        assertThat(registered.value("commits")).isEqualTo(3);
    }

    @Test
    @DisplayName("Histograms and meters are replaced as well")
    void laterHistogramAndMeterAreRead() {
        group.histogram("durations", new DescriptiveStatisticsHistogram(10)).update(1);
        Histogram later = group.histogram("durations", new DescriptiveStatisticsHistogram(10));
        later.update(7);
        later.update(9);
        Histogram shown = (Histogram) registered.metrics().get("durations");
        assertThat(shown.getCount()).isEqualTo(2);
        assertThat(shown.getStatistics().getMax()).isEqualTo(9);

        group.meter("rate", new MeterView(10)).markEvent();
        Meter second = group.meter("rate", new MeterView(10));
        second.markEvent(4);
        assertThat(((Meter) registered.metrics().get("rate")).getCount()).isEqualTo(4);
    }

    @Test
    @DisplayName("The same holds in inner groups, which are one however often they are added")
    void innerGroupsAreKept() {
        MetricGroup inner = group.addGroup("paimon").addGroup("table", "t");
        inner.gauge("files", (Gauge<Integer>) () -> 1);
        MetricGroup again = group.addGroup("paimon").addGroup("table", "t");
        again.gauge("files", (Gauge<Integer>) () -> 2);

        assertThat(again).isSameAs(inner);
        assertThat(registered.metrics()).containsOnlyKeys("paimon.table.t.files");
        assertThat(registered.value("paimon.table.t.files")).isEqualTo(2);
    }

    @Test
    @DisplayName("What Flink shows counts on the metric that was registered last")
    void countsOnTheLaterMetric() {
        group.counter("commits");
        Counter counter = group.counter("commits");
        Counter shownCounter = (Counter) registered.metrics().get("commits");
        shownCounter.inc();
        assertThat(counter.getCount()).isEqualTo(1);
        shownCounter.inc(9);
        shownCounter.dec();
        assertThat(counter.getCount()).isEqualTo(9);
        shownCounter.dec(4);
        assertThat(counter.getCount()).isEqualTo(5);

        group.histogram("durations", new DescriptiveStatisticsHistogram(10));
        Histogram histogram = group.histogram("durations", new DescriptiveStatisticsHistogram(10));
        ((Histogram) registered.metrics().get("durations")).update(7);
        assertThat(histogram.getStatistics().getValues()).containsExactly(7);
    }

    @Test
    @DisplayName("A meter that is registered again is marked, and shows its rate, from then on")
    void laterMeterIsRead() {
        group.meter("rate", new MeterView(10));
        MeterView later = group.meter("rate", new MeterView(10));
        Meter shown = (Meter) registered.metrics().get("rate");
        shown.markEvent();
        assertThat(later.getCount()).isEqualTo(1);
        shown.markEvent(19);
        assertThat(later.getCount()).isEqualTo(20);

        later.update();
        assertThat(later.getRate()).isEqualTo(2);
        assertThat(shown.getRate()).isEqualTo(2);
    }

    @Test
    @DisplayName("Whoever registers a metric gets that very metric")
    void handsTheMetricBack() {
        Gauge<Integer> gauge = () -> 1;
        Counter counter = new SimpleCounter();
        Histogram histogram = new DescriptiveStatisticsHistogram(10);
        Meter meter = new MeterView(10);
        for (int session = 0; session < 2; session++) {
            assertThat(group.<Integer, Gauge<Integer>>gauge("size", gauge)).isSameAs(gauge);
            assertThat(group.counter("commits", counter)).isSameAs(counter);
            assertThat(group.histogram("durations", histogram)).isSameAs(histogram);
            assertThat(group.meter("rate", meter)).isSameAs(meter);
        }
    }

    @Test
    @DisplayName("Scope, variables and identifiers are those of the group beneath")
    void namesOfTheGroupBeneath() {
        MetricGroup named =
                new ReplacingMetricGroup(
                        new UnregisteredMetricsGroup() {
                            @Override
                            public String[] getScopeComponents() {
                                return new String[] {"host", "job"};
                            }

                            @Override
                            public Map<String, String> getAllVariables() {
                                return Collections.singletonMap("<job_name>", "job");
                            }

                            @Override
                            public String getMetricIdentifier(String name) {
                                return "host.job." + name;
                            }

                            @Override
                            public String getMetricIdentifier(String name, CharacterFilter filter) {
                                return "host.job." + filter.filterCharacters(name);
                            }
                        });

        assertThat(named.getScopeComponents()).containsExactly("host", "job");
        assertThat(named.getAllVariables()).containsOnlyKeys("<job_name>");
        assertThat(named.getMetricIdentifier("commits")).isEqualTo("host.job.commits");
        assertThat(named.getMetricIdentifier("my commits", name -> name.replace(' ', '_')))
                .isEqualTo("host.job.my_commits");
    }
}
