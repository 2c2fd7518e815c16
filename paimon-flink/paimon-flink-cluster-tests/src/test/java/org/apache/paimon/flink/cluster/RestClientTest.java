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

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class RestClientTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final Map<String, String> answers = new HashMap<>();
    private HttpServer server;
    private RestClient rest;

    @BeforeEach
    void startServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByName(Ports.HOST), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    String call = exchange.getRequestMethod() + " " + exchange.getRequestURI();
                    String answer =
                            answers.getOrDefault(
                                    call, "{\"errors\": [\"Not found.\", \"no " + call + "\"]}");
                    byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(
                            answers.containsKey(call) ? 200 : 404, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        server.start();
        rest = new RestClient(URI.create("http://" + Ports.HOST + ":" + port()));
    }

    @AfterEach
    void stopServer() {
        server.stop(0);
    }

    private int port() {
        return server.getAddress().getPort();
    }

    @Test
    void anAnswerThatIsNot2xxSaysRequestStatusAndFlinksLastWord() {
        assertThatThrownBy(() -> rest.jobState("abc"))
                .isInstanceOf(ClusterException.class)
                .hasMessageContainingAll("GET", "/jobs/abc", "404", "no GET /jobs/abc");
    }

    @Test
    void anAnswerWithoutAFieldThatMustBeThereSaysWhich() {
        answers.put("GET /overview", "{\"taskmanagers\": 2}");

        assertThatThrownBy(rest::overview).hasMessageContaining("slots-total");
    }

    @Test
    void aServerThatIsNotThereIsNamed() {
        server.stop(0);

        assertThatThrownBy(rest::overview)
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining(":" + port());
    }

    @Test
    void aSavepointGetsItsCheckpointIdFromTheStatistics() {
        answers.put("POST /jobs/j/savepoints", "{\"request-id\": \"r\"}");
        answers.put(
                "GET /jobs/j/savepoints/r",
                "{\"status\": {\"id\": \"COMPLETED\"}, \"operation\": {\"location\": \"file:/s\"}}");
        answers.put(
                "GET /jobs/j/checkpoints",
                "{\"counts\": {\"completed\": 3}, \"latest\": {\"restored\": {\"id\": 4}},"
                        + " \"history\": ["
                        + "{\"id\": 7, \"status\": \"COMPLETED\", \"is_savepoint\": true,"
                        + " \"external_path\": \"file:/s\"},"
                        + "{\"id\": 6, \"status\": \"FAILED\", \"is_savepoint\": false},"
                        + "{\"id\": 5, \"status\": \"COMPLETED\", \"is_savepoint\": false}]}");

        RestClient.Savepoint savepoint = rest.savepoint("j", Paths.get("savepoints"), LONG);

        assertThat(savepoint.checkpointId()).isEqualTo(7);
        assertThat(savepoint.location()).isEqualTo("file:/s");
        assertThat(rest.checkpoints("j").latestCheckpoint()).isEqualTo(5);
        assertThat(rest.checkpoints("j").restored()).contains(4L);
    }

    @Test
    void aFailedSavepointIsAnErrorWithFlinksReason() {
        answers.put("POST /jobs/j/savepoints", "{\"request-id\": \"r\"}");
        answers.put(
                "GET /jobs/j/savepoints/r",
                "{\"status\": {\"id\": \"COMPLETED\"}, \"operation\": {\"failure-cause\":"
                        + " {\"stack-trace\": \"CheckpointException: declined\\n  at x\"}}}");

        assertThatThrownBy(() -> rest.savepoint("j", Paths.get("savepoints"), LONG))
                .hasMessageContaining("CheckpointException: declined")
                .hasMessageNotContaining("at x");
    }

    @Test
    void aJobThatEndedOtherwiseEndsTheWaitWithItsRootCause() {
        answers.put("GET /jobs/j", "{\"state\": \"FAILED\"}");
        answers.put(
                "GET /jobs/j/exceptions",
                "{\"exceptionHistory\": {\"entries\": [{\"stacktrace\":"
                        + " \"JobException: no restart\\n at y\\nCaused by: IOException: disk\"}]}}");

        assertThatThrownBy(() -> rest.awaitJobState("j", "RUNNING", LONG))
                .hasMessageContainingAll("FAILED", "RUNNING", "IOException: disk");
    }

    @Test
    void subtasksCarryTheirAttemptAndTheNameOfTheirProcess() {
        answers.put("GET /jobs/j", "{\"vertices\": [{\"id\": \"v\", \"name\": \"Writer\"}]}");
        answers.put(
                "GET /jobs/j/vertices/v",
                "{\"subtasks\": [{\"subtask\": 0, \"attempt\": 1, \"status\": \"RUNNING\","
                        + " \"taskmanager-id\": \"tm-2\"},"
                        + "{\"subtask\": 1, \"attempt\": 0, \"status\": \"SCHEDULED\"}]}");

        assertThat(rest.subtasks("j"))
                .extracting(Object::toString)
                .containsExactly(
                        "subtask 0: attempt 1 RUNNING on tm-2",
                        "subtask 1: attempt 0 SCHEDULED on (unassigned)");
    }
}
