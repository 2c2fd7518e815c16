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

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Flink's reporter for Prometheus in a cluster that is to be started, and the scrape of its
 * processes. Each process takes the first free port of a range.
 */
public final class PrometheusReporter {

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(2);
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newBuilder().connectTimeout(CONNECT_LIMIT).build();
    private final Path jar;
    private final int firstPort = new Ports(line -> {}).pick();
    private final int lastPort;

    /**
     * @param processes JobManagers and TaskManagers that run at a time
     */
    public PrometheusReporter(FlinkDistribution distribution, int processes) {
        this.jar = jar(distribution);
        // Others may have taken some.
        this.lastPort = firstPort + 2 * processes;
    }

    private static Path jar(FlinkDistribution distribution) {
        try (Stream<Path> jars = Files.list(distribution.metricReporters())) {
            return jars.findFirst()
                    .orElseThrow(() -> new ClusterException("there is no metric reporter"));
        } catch (IOException e) {
            throw new ClusterException("cannot list the metric reporters", e);
        }
    }

    /** Every process of the cluster gets it. */
    public FlinkClusterOptions addTo(FlinkClusterOptions cluster) {
        return cluster.libJar(jar)
                .config(
                        "metrics.reporter.prom.factory.class",
                        "org.apache.flink.metrics.prometheus.PrometheusReporterFactory")
                .config("metrics.reporter.prom.port", firstPort + "-" + lastPort);
    }

    /** Scrapes every process that answers. */
    public List<MetricsPage> scrape() {
        List<MetricsPage> pages = new ArrayList<>();
        for (int port = firstPort; port <= lastPort; port++) {
            URI address = URI.create("http://" + Ports.HOST + ":" + port + "/metrics");
            try {
                HttpResponse<String> response =
                        http.send(
                                HttpRequest.newBuilder(address).timeout(REQUEST_LIMIT).build(),
                                HttpResponse.BodyHandlers.ofString());
                if (response.statusCode() == 200) {
                    pages.add(new MetricsPage(address, response.body()));
                }
            } catch (IOException e) {
                // Nobody serves there, or something else than metrics.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ClusterException("the scrape of " + address + " was interrupted", e);
            }
        }
        return pages;
    }
}
