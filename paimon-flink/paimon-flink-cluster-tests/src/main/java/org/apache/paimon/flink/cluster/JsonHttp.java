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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * JSON over HTTP. Each request has a deadline; an answer that is not 2xx is a {@link
 * ClusterException} with the request, the status and the server's own words. Thread-safe.
 *
 * <p>A request that got no answer is not repeated, but the next one asks anew where the server is:
 * the JobManager that led may be dead, or paused.
 */
final class JsonHttp {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);

    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(5))
                    .build();
    private final Supplier<URI> server;

    /** Where the last answer came from; null if the next request has to ask. */
    private volatile URI known;

    JsonHttp(Supplier<URI> server) {
        this.server = server;
    }

    URI address() {
        URI address = known;
        if (address == null) {
            address = server.get();
            known = address;
        }
        return address;
    }

    JsonNode send(String method, String path, JsonNode body) {
        URI uri = address().resolve(path);
        HttpRequest request =
                HttpRequest.newBuilder(uri)
                        .timeout(REQUEST_LIMIT)
                        .header("Content-Type", "application/json")
                        .method(
                                method,
                                body == null
                                        ? HttpRequest.BodyPublishers.noBody()
                                        : HttpRequest.BodyPublishers.ofString(body.toString()))
                        .build();
        HttpResponse<String> response;
        try {
            response = http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            known = null;
            throw new ClusterException(method + " " + uri + " got no answer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException(method + " " + uri + " was interrupted", e);
        }
        try {
            JsonNode answer = JSON.readTree(response.body());
            if (response.statusCode() / 100 == 2) {
                return answer;
            }
            if (response.statusCode() == 503) {
                // It knows no leader, or is not one.
                known = null;
            }
            JsonNode last = answer.path("errors").path(answer.path("errors").size() - 1);
            throw new ClusterException(
                    String.format(
                            "%s %s answered %d: %s",
                            method, uri, response.statusCode(), firstLine(last)));
        } catch (IOException e) {
            throw new ClusterException(
                    String.format(
                            "%s %s answered %d with something that is not JSON",
                            method, uri, response.statusCode()),
                    e);
        }
    }

    static String firstLine(JsonNode node) {
        return node.asText("").trim().split("\\R")[0];
    }

    static String text(JsonNode node, String field) {
        return required(node, field).asText();
    }

    static JsonNode required(JsonNode node, String field) {
        JsonNode value = node.get(field);
        if (value == null) {
            throw new ClusterException("field '" + field + "' is missing in the answer " + node);
        }
        return value;
    }
}
