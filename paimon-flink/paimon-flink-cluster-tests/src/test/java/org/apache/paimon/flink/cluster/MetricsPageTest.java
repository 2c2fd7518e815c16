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

import org.junit.jupiter.api.Test;

import java.net.URI;

import static org.assertj.core.api.Assertions.assertThat;

class MetricsPageTest {

    private static final URI ADDRESS = URI.create("http://127.0.0.1:9249/metrics");

    private static MetricsPage page(String... lines) {
        return new MetricsPage(ADDRESS, String.join("\n", lines) + "\n");
    }

    @Test
    void metricsAreFoundByTheirPrefix() {
        MetricsPage page =
                page(
                        "# HELP flink_job_numCommits numCommits (scope: flink_job)",
                        "# TYPE flink_job_numCommits gauge",
                        "flink_job_numCommits{job_id=\"a\",} 12.0",
                        "flink_other{job_id=\"a\",} 1.0",
                        "flink_job_bare 1.5E9");

        assertThat(page.values("flink_job_"))
                .containsOnlyKeys("numCommits", "bare")
                .containsEntry("numCommits", 12.0)
                .containsEntry("bare", 1.5e9);
        assertThat(page.address()).isEqualTo(ADDRESS);
    }

    @Test
    void metricsOfOneJobAreFoundByItsLabel() {
        MetricsPage page =
                page(
                        "flink_job_n{host=\"localhost\",job_id=\"a\",} 1.0",
                        "flink_job_n{host=\"localhost\",job_id=\"b\",} 2.0",
                        "flink_job_n{other_job_id=\"b\",} 3.0",
                        "flink_job_m 4.0");

        assertThat(page.values("flink_job_", "job_id", "b")).containsOnlyKeys("n");
        assertThat(page.values("flink_job_", "job_id", "b")).containsEntry("n", 2.0);
        assertThat(page.values("flink_job_", "job_id", "c")).isEmpty();
    }

    @Test
    void aLabelMayHoldBracesAndQuotes() {
        MetricsPage page = page("n{task_name=\"Source: {x} \\\"T\\\" 1, 2\",job_id=\"a\"} 7.0");

        assertThat(page.values("", "job_id", "a")).containsEntry("n", 7.0);
    }

    @Test
    void valuesThatAreNoNumbersAreUnderstood() {
        MetricsPage page = page("a NaN", "b +Inf", "c -Inf");

        assertThat(page.values(""))
                .containsEntry("a", Double.NaN)
                .containsEntry("b", Double.POSITIVE_INFINITY)
                .containsEntry("c", Double.NEGATIVE_INFINITY);
    }
}
