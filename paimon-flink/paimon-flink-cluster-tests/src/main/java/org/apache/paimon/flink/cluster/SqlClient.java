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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Flink's SQL client as a user starts it: one process per script. A statement that failed, a client
 * that hangs and one that dies are all a {@link ClusterException}.
 */
public final class SqlClient {

    private static final String MAIN = "org.apache.flink.table.client.SqlClient";

    private final FlinkCluster cluster;
    private final Path scripts;

    public SqlClient(FlinkCluster cluster) {
        this.cluster = cluster;
        this.scripts = cluster.directory().resolve("sql");
    }

    /**
     * Runs the script and returns what the client printed.
     *
     * @param purpose a word for the names of the script and its logs
     */
    public SqlOutput run(String purpose, String script, Duration limit) {
        String name = cluster.clientName("sql", purpose);
        Path file = scripts.resolve(name + ".sql");
        try {
            Files.createDirectories(scripts);
            Files.write(file, script.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write " + file, e);
        }
        FlinkProcess client =
                cluster.start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.CLIENT,
                                        name,
                                        cluster.withLibJars(
                                                cluster.distribution().sqlClientClassPath()),
                                        MAIN)
                                .jvm("-Xmx512m")
                                .environment("FLINK_CONF_DIR", cluster.conf())
                                .arguments("embedded")
                                .arguments("-hist", scripts.resolve("history").toString())
                                .arguments("-f", file.toString()));
        int exitCode = cluster.awaitExit(client, limit);
        SqlOutput output = new SqlOutput(Tail.text(client.out()));
        List<String> errors = output.errors();
        if (exitCode != 0 || !errors.isEmpty()) {
            throw new ClusterException(
                    String.format(
                            "the SQL client failed on %s (exit code %d): %s; look at %s and %s",
                            file,
                            exitCode,
                            errors.isEmpty() ? Tail.of(client.out(), 3) : errors,
                            client.out(),
                            client.log()));
        }
        return output;
    }
}
