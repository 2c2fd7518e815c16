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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Asks a JobManager through REST which of its jobs write a table: those whose id the snapshots of
 * the table name (L1), and those with a writer or committer that has the table's name.
 */
final class RunningWriters {

    private static final Set<String> ENDED =
            new HashSet<>(Arrays.asList("FINISHED", "CANCELED", "FAILED"));
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final String address;
    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * @param jobManager {@code host:port}, or the URL of the web UI
     */
    RunningWriters(String jobManager) {
        String url = jobManager.trim();
        if (!url.contains("://")) {
            url = "http://" + url;
        }
        this.address = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    /**
     * @param tableName without its database
     * @param jobIds of the jobs that the table's snapshots name
     * @return the running jobs that write it, in words
     * @throws IllegalStateException when the JobManager does not answer
     */
    List<String> of(String tableName, Set<String> jobIds) {
        List<String> running = new ArrayList<>();
        for (JsonNode job : get("/jobs/overview").path("jobs")) {
            if (ENDED.contains(job.path("state").asText())) {
                continue;
            }
            String id = job.path("jid").asText();
            if (jobIds.contains(id)) {
                running.add(describe(job) + ", which the table's snapshots name");
            } else if (writes(get("/jobs/" + id), tableName)) {
                running.add(describe(job) + ", which has a writer of a table of this name");
            }
        }
        return running;
    }

    private static String describe(JsonNode job) {
        return String.format(
                "job %s '%s' (%s)",
                job.path("jid").asText(), job.path("name").asText(), job.path("state").asText());
    }

    private static boolean writes(JsonNode job, String tableName) {
        Pattern writer =
                Pattern.compile(
                        "(Writer|Committer)[^<]* : " + Pattern.quote(tableName) + "(?![\\w$.])");
        for (JsonNode vertex : job.path("vertices")) {
            if (writer.matcher(vertex.path("name").asText()).find()) {
                return true;
            }
        }
        for (JsonNode node : job.path("plan").path("nodes")) {
            if (writer.matcher(node.path("description").asText()).find()) {
                return true;
            }
        }
        return false;
    }

    private JsonNode get(String path) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) new URL(address + path).openConnection();
            connection.setConnectTimeout((int) TIMEOUT.toMillis());
            connection.setReadTimeout((int) TIMEOUT.toMillis());
            try {
                if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                    throw new IOException(
                            "it answers " + path + " with " + connection.getResponseCode());
                }
                try (InputStream in = connection.getInputStream()) {
                    JsonNode answer = mapper.readTree(in);
                    if (answer == null || !answer.isObject()) {
                        throw new IOException("it answers " + path + " with no JSON object");
                    }
                    return answer;
                }
            } finally {
                connection.disconnect();
            }
        } catch (IOException | ClassCastException | IllegalArgumentException e) {
            throw new IllegalStateException(
                    String.format(
                            "The JobManager at %s cannot be asked for its jobs: %s. Give host and"
                                    + " port of its REST endpoint, or leave out job_manager and"
                                    + " see to it that no job writes the table.",
                            address, e.getMessage() == null ? e : e.getMessage()),
                    e);
        }
    }
}
