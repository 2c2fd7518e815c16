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

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Flink's command line client, {@code bin/flink}, as an operator calls it: one process per command.
 * A command that fails or hangs is a {@link ClusterException}.
 */
public final class Cli {

    private static final String MAIN = "org.apache.flink.client.cli.CliFrontend";
    private static final Pattern PATH = Pattern.compile("Savepoint completed\\. Path: (\\S+)");

    private final FlinkCluster cluster;

    public Cli(FlinkCluster cluster) {
        this.cluster = cluster;
    }

    /** {@code flink savepoint}. */
    public RestClient.Savepoint savepoint(String job, Path directory, Duration limit) {
        return savepoint(job, directory.toUri(), limit);
    }

    /** {@code flink savepoint}. */
    public RestClient.Savepoint savepoint(String job, URI directory, Duration limit) {
        return savepoint(job, run(limit, "savepoint", job, directory.toString()), limit);
    }

    /** {@code flink stop}, or {@code flink stop --drain}. */
    public RestClient.Savepoint stop(
            String job, Path directory, RestClient.StopMode mode, Duration limit) {
        return stop(job, directory.toUri(), mode, limit);
    }

    /** {@code flink stop}, or {@code flink stop --drain}. */
    public RestClient.Savepoint stop(
            String job, URI directory, RestClient.StopMode mode, Duration limit) {
        String target = directory.toString();
        return savepoint(
                job,
                mode == RestClient.StopMode.DRAIN
                        ? run(limit, "stop", "--drain", "--savepointPath", target, job)
                        : run(limit, "stop", "--savepointPath", target, job),
                limit);
    }

    private RestClient.Savepoint savepoint(String job, String printed, Duration limit) {
        Matcher matcher = PATH.matcher(printed);
        if (!matcher.find()) {
            throw new ClusterException("the command line client named no savepoint: " + printed);
        }
        return cluster.rest().savepointAt(job, matcher.group(1), limit);
    }

    /** Runs {@code flink ARGUMENTS} and returns what it printed. */
    public String run(Duration limit, String... arguments) {
        String name = cluster.clientName("cli", arguments[0]);
        FlinkProcess client =
                cluster.start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.CLIENT,
                                        name,
                                        cluster.withLibJars(
                                                cluster.distribution().clusterClassPath()),
                                        MAIN)
                                .jvm("-Xmx256m")
                                .environment("FLINK_CONF_DIR", cluster.conf())
                                .arguments(arguments));
        int exitCode = cluster.awaitExit(client, limit);
        if (exitCode != 0) {
            throw new ClusterException(
                    String.format(
                            "'flink %s' ended with exit code %d: %s; look at %s and %s",
                            String.join(" ", arguments),
                            exitCode,
                            Tail.of(client.out(), 3),
                            client.out(),
                            client.log()));
        }
        return Tail.text(client.out());
    }
}
