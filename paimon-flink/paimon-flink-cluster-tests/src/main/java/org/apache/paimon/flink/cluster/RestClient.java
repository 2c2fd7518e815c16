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
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import static org.apache.paimon.flink.cluster.JsonHttp.firstLine;
import static org.apache.paimon.flink.cluster.JsonHttp.required;
import static org.apache.paimon.flink.cluster.JsonHttp.text;

/**
 * Flink's REST interface as far as the cluster tests need it; errors are told as {@link JsonHttp}
 * tells them. Thread-safe.
 *
 * <p>Flink caches job details for {@code web.refresh-interval}; {@link FlinkCluster} sets it low
 * enough for a short failover to be seen.
 */
public final class RestClient {

    private static final ObjectMapper JSON = new ObjectMapper();
    private final JsonHttp http;

    public RestClient(URI address) {
        this(() -> address);
    }

    /**
     * @param leader asked for the address of the JobManager that leads, at the first request and
     *     after each that got no answer
     */
    public RestClient(Supplier<URI> leader) {
        this.http = new JsonHttp(leader);
    }

    /** The address of the Web UI. */
    public URI address() {
        return http.address();
    }

    // ------------------------------------------------------------------------------------------
    //  Cluster
    // ------------------------------------------------------------------------------------------

    public Overview overview() {
        JsonNode node = get("/overview");
        return new Overview(
                required(node, "taskmanagers").asInt(),
                required(node, "slots-total").asInt(),
                required(node, "slots-available").asInt());
    }

    /** Resource ids of the registered TaskManagers. */
    public List<String> taskManagers() {
        List<String> ids = new ArrayList<>();
        required(get("/taskmanagers"), "taskmanagers").forEach(tm -> ids.add(text(tm, "id")));
        return ids;
    }

    // ------------------------------------------------------------------------------------------
    //  Jobs
    // ------------------------------------------------------------------------------------------

    /** State by job id, newest job last. */
    public Map<String, String> jobs() {
        Map<String, String> states = new LinkedHashMap<>();
        required(get("/jobs"), "jobs")
                .forEach(job -> states.put(text(job, "id"), text(job, "status")));
        return states;
    }

    public String jobState(String job) {
        return text(get("/jobs/" + job), "state");
    }

    /** Waits until the job is in the state; a job that ended otherwise ends the wait. */
    public void awaitJobState(String job, String state, Duration limit) {
        Await.until("job " + job + " to be " + state, limit)
                .unless(
                        () -> {
                            String now = jobState(job);
                            if (isTerminal(now) && !now.equals(state)) {
                                throw new ClusterException(
                                        String.format(
                                                "job %s is %s and should become %s; root cause: %s",
                                                job, now, state, rootCause(job)));
                            }
                        })
                .holds(() -> jobState(job), state::equals);
    }

    /** The innermost cause of the job's latest failure in one line; empty if it never failed. */
    public String rootCause(String job) {
        JsonNode entries = get("/jobs/" + job + "/exceptions").path("exceptionHistory");
        JsonNode latest = entries.path("entries").path(0);
        if (latest.isMissingNode()) {
            return "";
        }
        String trace = latest.path("stacktrace").asText();
        String cause = trace.split("\\R")[0];
        for (String line : trace.split("\\R")) {
            if (line.startsWith("Caused by: ")) {
                cause = line;
            }
        }
        return cause;
    }

    /** All that Flink says of the job's failures, as text. */
    public String failures(String job) {
        return get("/jobs/" + job + "/exceptions").toString();
    }

    /** Current attempt of each subtask of each vertex. */
    public List<Subtask> subtasks(String job) {
        List<Subtask> all = new ArrayList<>();
        for (JsonNode vertex : required(get("/jobs/" + job), "vertices")) {
            String id = text(vertex, "id");
            JsonNode details = get("/jobs/" + job + "/vertices/" + id);
            for (JsonNode subtask : required(details, "subtasks")) {
                all.add(
                        new Subtask(
                                id,
                                text(vertex, "name"),
                                required(subtask, "subtask").asInt(),
                                required(subtask, "attempt").asInt(),
                                text(subtask, "status"),
                                subtask.path("taskmanager-id").asText("(unassigned)")));
            }
        }
        return all;
    }

    /** Cancels the job; returns before it is cancelled. */
    public void cancel(String job) {
        send("PATCH", "/jobs/" + job + "?mode=cancel", null);
    }

    // ------------------------------------------------------------------------------------------
    //  Checkpoints and savepoints
    // ------------------------------------------------------------------------------------------

    public Checkpoints checkpoints(String job) {
        JsonNode node = get("/jobs/" + job + "/checkpoints");
        List<Checkpoint> history = new ArrayList<>();
        for (JsonNode entry : required(node, "history")) {
            history.add(checkpoint(entry));
        }
        JsonNode restored = node.path("latest").path("restored");
        return new Checkpoints(
                required(node, "counts").path("completed").asLong(),
                restored.isObject()
                        ? Optional.of(required(restored, "id").asLong())
                        : Optional.<Long>empty(),
                history);
    }

    private static Checkpoint checkpoint(JsonNode entry) {
        return new Checkpoint(
                required(entry, "id").asLong(),
                text(entry, "status"),
                entry.path("is_savepoint").asBoolean(),
                entry.path("external_path").asText(""));
    }

    /** Takes an asynchronous savepoint and waits until it is complete. */
    public Savepoint savepoint(String job, Path directory, Duration limit) {
        return savepoint(job, directory.toUri(), limit);
    }

    /** Takes an asynchronous savepoint and waits until it is complete. */
    public Savepoint savepoint(String job, URI directory, Duration limit) {
        return awaitSavepoint(job, triggerSavepoint(job, directory), limit);
    }

    /** Asks for an asynchronous savepoint and returns at once the id of the request. */
    public String triggerSavepoint(String job, URI directory) {
        ObjectNode body = JSON.createObjectNode();
        body.put("target-directory", directory.toString());
        body.put("cancel-job", false);
        return text(send("POST", "/jobs/" + job + "/savepoints", body), "request-id");
    }

    /** Stops the job with a synchronous savepoint and waits until that is complete. */
    public Savepoint stop(String job, Path directory, StopMode mode, Duration limit) {
        return stop(job, directory.toUri(), mode, limit);
    }

    /** Stops the job with a synchronous savepoint and waits until that is complete. */
    public Savepoint stop(String job, URI directory, StopMode mode, Duration limit) {
        return awaitSavepoint(job, triggerStop(job, directory, mode), limit);
    }

    /** Asks for a stop and returns at once the id of the request. */
    public String triggerStop(String job, URI directory, StopMode mode) {
        ObjectNode body = JSON.createObjectNode();
        body.put("targetDirectory", directory.toString());
        body.put("drain", mode == StopMode.DRAIN);
        return text(send("POST", "/jobs/" + job + "/stop", body), "request-id");
    }

    /** Waits until the savepoint that was asked for is complete. */
    public Savepoint awaitSavepoint(String job, String request, Duration limit) {
        String path = "/jobs/" + job + "/savepoints/" + request;
        JsonNode done =
                Await.until("the savepoint of job " + job, limit)
                        .lookAt(address().resolve(path))
                        .holds(
                                () -> get(path),
                                node ->
                                        "COMPLETED"
                                                .equals(node.path("status").path("id").asText()));
        JsonNode operation = required(done, "operation");
        if (operation.has("failure-cause")) {
            throw new ClusterException(
                    "the savepoint of job "
                            + job
                            + " failed: "
                            + firstLine(operation.path("failure-cause").path("stack-trace")));
        }
        return savepointAt(job, text(operation, "location"), limit);
    }

    /**
     * Finds out which checkpoint id a completed savepoint has: the statistics know, by its path.
     */
    public Savepoint savepointAt(String job, String location, Duration limit) {
        long id =
                Await.until("savepoint " + location + " in the statistics of job " + job, limit)
                        .holds(() -> checkpoints(job).at(location), Optional::isPresent)
                        .get()
                        .id();
        return new Savepoint(id, location);
    }

    // ------------------------------------------------------------------------------------------
    //  HTTP
    // ------------------------------------------------------------------------------------------

    /** Any GET, for what has no method here. */
    public JsonNode get(String path) {
        return send("GET", path, null);
    }

    private JsonNode send(String method, String path, JsonNode body) {
        return http.send(method, path, body);
    }

    static boolean isTerminal(String state) {
        return "FINISHED".equals(state) || "CANCELED".equals(state) || "FAILED".equals(state);
    }

    // ------------------------------------------------------------------------------------------
    //  Answers
    // ------------------------------------------------------------------------------------------

    /** Whether a stop flushes event time to its end before the savepoint. */
    public enum StopMode {
        NO_DRAIN,
        DRAIN
    }

    /** The current attempt of one subtask. */
    public static final class Subtask {
        private final String vertex;
        private final String vertexName;
        private final int index;
        private final int attempt;
        private final String status;
        private final String taskManager;

        Subtask(
                String vertex,
                String vertexName,
                int index,
                int attempt,
                String status,
                String taskManager) {
            this.vertex = vertex;
            this.vertexName = vertexName;
            this.index = index;
            this.attempt = attempt;
            this.status = status;
            this.taskManager = taskManager;
        }

        public String vertexName() {
            return vertexName;
        }

        /** Names the subtask over its attempts. */
        public String key() {
            return vertex + "/" + index;
        }

        public int index() {
            return index;
        }

        /** Counts from 0. */
        public int attempt() {
            return attempt;
        }

        public String status() {
            return status;
        }

        public boolean isRunning() {
            return "RUNNING".equals(status);
        }

        /** Resource id of its TaskManager, which is the name of its {@link FlinkProcess}. */
        public String taskManager() {
            return taskManager;
        }

        @Override
        public String toString() {
            return String.format(
                    "subtask %d: attempt %d %s on %s", index, attempt, status, taskManager);
        }
    }

    /** One entry of the checkpoint history. */
    public static final class Checkpoint {
        private final long id;
        private final String status;
        private final boolean isSavepoint;
        private final String path;

        Checkpoint(long id, String status, boolean isSavepoint, String path) {
            this.id = id;
            this.status = status;
            this.isSavepoint = isSavepoint;
            this.path = path;
        }

        public long id() {
            return id;
        }

        public boolean isCompleted() {
            return "COMPLETED".equals(status);
        }

        public boolean isPending() {
            return "IN_PROGRESS".equals(status);
        }

        public boolean isSavepoint() {
            return isSavepoint;
        }

        public String path() {
            return path;
        }

        @Override
        public String toString() {
            return (isSavepoint ? "savepoint " : "checkpoint ") + id + " " + status;
        }
    }

    /** A completed savepoint. */
    public static final class Savepoint {
        private final long checkpointId;
        private final String location;

        Savepoint(long checkpointId, String location) {
            this.checkpointId = checkpointId;
            this.location = location;
        }

        public long checkpointId() {
            return checkpointId;
        }

        public String location() {
            return location;
        }

        @Override
        public String toString() {
            return "savepoint " + checkpointId + " at " + location;
        }
    }
}
