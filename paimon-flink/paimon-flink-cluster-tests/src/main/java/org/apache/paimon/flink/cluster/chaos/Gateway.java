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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.FlinkCluster;
import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.Ports;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** Flink's SQL gateway, which submits a job in a fraction of the SQL client's time. */
final class Gateway {

    private static final String MAIN = "org.apache.flink.table.gateway.SqlGateway";
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI address;
    private final FlinkProcess process;

    private Gateway(URI address, FlinkProcess process) {
        this.address = address;
        this.process = process;
    }

    /** Starts it; it ends with the cluster. */
    static Gateway start(FlinkCluster cluster) {
        int port = new Ports(line -> {}).pick();
        FlinkProcess process =
                cluster.start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.SERVICE,
                                        "sql-gateway",
                                        cluster.distribution().sqlClientClassPath(),
                                        MAIN)
                                .jvm("-Xmx512m")
                                .environment("FLINK_CONF_DIR", cluster.conf())
                                .arguments("-Dsql-gateway.endpoint.rest.address=" + Ports.HOST)
                                .arguments("-Dsql-gateway.endpoint.rest.port=" + port));
        Gateway gateway = new Gateway(URI.create("http://" + Ports.HOST + ":" + port), process);
        Await.until("the SQL gateway to serve", LIMIT)
                .unless(process::requireAlive)
                .lookAt(process.log())
                .holds(() -> gateway.send("GET", "/v2/info", null), answer -> true);
        return gateway;
    }

    /** Runs the statements in a session of their own and returns the job id of the last one. */
    String run(List<String> statements) {
        ObjectNode open = JSON.createObjectNode();
        open.putObject("properties");
        String session =
                "/v2/sessions/" + send("POST", "/v2/sessions", open).path("sessionHandle").asText();
        JsonNode result = JSON.createObjectNode();
        try {
            for (String statement : statements) {
                result = run(session, statement);
            }
        } finally {
            send("DELETE", session, null);
        }
        return result.path("jobID").asText();
    }

    private JsonNode run(String session, String statement) {
        ObjectNode body = JSON.createObjectNode();
        body.put("statement", statement);
        String operation =
                send("POST", session + "/statements", body).path("operationHandle").asText();
        String base = session + "/operations/" + operation;
        String status =
                Await.until("the gateway to run: " + statement, LIMIT)
                        .unless(process::requireAlive)
                        .lookAt(process.log())
                        .holds(
                                () -> send("GET", base + "/status", null).path("status").asText(),
                                seen -> !"RUNNING".equals(seen) && !"PENDING".equals(seen));
        JsonNode result = send("GET", base + "/result/0", null);
        if (!"FINISHED".equals(status)) {
            throw new ClusterException(
                    "the gateway ended '" + statement + "' with " + status + ": " + result);
        }
        return result;
    }

    private JsonNode send(String method, String path, JsonNode body) {
        HttpRequest request =
                HttpRequest.newBuilder(address.resolve(path))
                        .timeout(Duration.ofSeconds(30))
                        .header("Content-Type", "application/json")
                        .method(
                                method,
                                body == null
                                        ? HttpRequest.BodyPublishers.noBody()
                                        : HttpRequest.BodyPublishers.ofString(body.toString()))
                        .build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 != 2) {
                String text = answer.body();
                throw new ClusterException(
                        method
                                + " "
                                + path
                                + " at the SQL gateway: "
                                + answer.statusCode()
                                + " "
                                + text.substring(0, Math.min(1500, text.length())));
            }
            return JSON.readTree(answer.body());
        } catch (IOException e) {
            throw new ClusterException(method + " " + path + " at the SQL gateway: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while asking the SQL gateway", e);
        }
    }
}
