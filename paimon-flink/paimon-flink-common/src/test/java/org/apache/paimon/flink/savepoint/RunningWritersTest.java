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

package org.apache.paimon.flink.savepoint;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Issue 13: which jobs of a JobManager write a table. */
class RunningWritersTest {

    private static final Set<String> NONE = Collections.emptySet();

    private final Map<String, String> answers = new HashMap<>();
    private HttpServer server;

    @BeforeEach
    void startServer() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    String answer = answers.get(exchange.getRequestURI().getPath());
                    byte[] bytes = String.valueOf(answer).getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(answer == null ? 404 : 200, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
        server.start();
    }

    @AfterEach
    void stopServer() {
        server.stop(0);
    }

    private String address() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    private List<String> running(String table, Set<String> jobIds) {
        return new RunningWriters(address()).of(table, jobIds);
    }

    private void job(String id, String state, String vertex) {
        answers.merge(
                "/jobs/overview",
                String.format("{'jid':'%s','name':'n','state':'%s'}", id, state),
                (a, b) -> a + "," + b);
        answers.put(
                "/jobs/" + id,
                String.format("{'vertices':[{'name':'%s'}],'plan':{}}", vertex).replace('\'', '"'));
    }

    private void complete() {
        answers.computeIfPresent(
                "/jobs/overview", (path, jobs) -> ("{'jobs':[" + jobs + "]}").replace('\'', '"'));
    }

    @Test
    @DisplayName("issue 13: jobs that the snapshots name, and jobs with a writer of the table")
    void findsWriters() {
        job("aa", "RUNNING", "Source -> Map");
        job("bb", "RESTARTING", "Source: x -> Writer(write-only) : t -> end: Writer");
        job("cc", "RUNNING", "Global Committer : t -> end");
        job("dd", "RUNNING", "Writer(write-only) : t2");
        job("ee", "RUNNING", "Source: t -> Writer(write-only) : u");
        job("ff", "CANCELED", "Writer(write-only) : t");
        complete();

        assertThat(running("t", Collections.singleton("aa")))
                .satisfiesExactly(
                        aa -> assertThat(aa).contains("job aa", "snapshots name"),
                        bb -> assertThat(bb).contains("job bb", "RESTARTING"),
                        cc -> assertThat(cc).contains("job cc"));
        assertThat(running("u", NONE)).hasSize(1);
        assertThat(running("v", NONE)).isEmpty();
    }

    @Test
    @DisplayName("issue 13: the plan is asked where the name of a vertex is cut short")
    void readsThePlan() {
        job("aa", "RUNNING", "Source -> ...");
        answers.put(
                "/jobs/aa",
                "{\"vertices\":[],\"plan\":{\"nodes\":[{\"description\":"
                        + "\"Source<br/>+- Writer(write-only) : t<br/>\"}]}}");
        complete();

        assertThat(running("t", NONE)).hasSize(1);
    }

    @Test
    @DisplayName("issue 13: a JobManager that cannot be asked is no permission")
    void unreachableJobManager() {
        String address = address();
        assertThatThrownBy(() -> running("t", NONE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(address)
                .hasMessageContaining("404");
        answers.put("/jobs/overview", "no JSON");
        assertThatThrownBy(() -> running("t", NONE)).isInstanceOf(IllegalStateException.class);
        server.stop(0);

        assertThatThrownBy(() -> running("t", NONE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("host and port of its REST endpoint");
        assertThatThrownBy(() -> new RunningWriters("ftp://x:y").of("t", NONE))
                .isInstanceOf(IllegalStateException.class);
    }
}
