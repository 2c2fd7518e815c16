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

package org.apache.paimon.flink.cluster.demo;

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.Cli;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.FlinkCluster;
import org.apache.paimon.flink.cluster.FlinkClusterOptions;
import org.apache.paimon.flink.cluster.FlinkDistribution;
import org.apache.paimon.flink.cluster.PrometheusReporter;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.SqlClient;
import org.apache.paimon.flink.cluster.SqlOutput;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What the steps share: the cluster, its clients, the table, the job that runs now, and the story.
 * Used from the thread that tells the story, except {@link #close()} and {@link #isStarted()}.
 */
final class DemoContext implements AutoCloseable {

    static final int PARALLELISM = 4;

    /** How many numbers the source has. */
    static final long RECORDS = 600_000;

    static final Duration LIMIT = Duration.ofSeconds(120);

    private static final Duration CLUSTER_LIMIT = Duration.ofSeconds(180);
    private static final Duration SQL_LIMIT = Duration.ofSeconds(180);
    private static final int TASK_MANAGERS = 2;
    private static final int SLOTS = 4;

    private final DemoOptions options;
    private final Story story;
    private final DemoSql sql;
    private final TableDirectory table;

    private volatile FlinkCluster cluster;
    private PrometheusReporter prometheus;
    private SqlClient sqlClient;
    private Cli cli;
    private String job;
    private String lastFailure = "";

    DemoContext(DemoOptions options, Story story) {
        Path warehouse = options.directory().resolve("warehouse");
        this.options = options;
        this.story = story;
        this.sql = new DemoSql(warehouse);
        this.table = new TableDirectory(warehouse.resolve("default.db").resolve(DemoSql.TABLE));
    }

    // ------------------------------------------------------------------------------------------
    //  Cluster
    // ------------------------------------------------------------------------------------------

    void startCluster() {
        FlinkDistribution distribution = new FlinkDistribution(options.flink(), options.jar());
        prometheus = new PrometheusReporter(distribution, 1 + TASK_MANAGERS);
        FlinkClusterOptions wanted =
                FlinkCluster.builder(distribution, options.directory())
                        .taskManagers(TASK_MANAGERS)
                        .slotsPerTaskManager(SLOTS)
                        .restPort(options.port())
                        .config("restart-strategy.type", "fixed-delay")
                        .config("restart-strategy.fixed-delay.attempts", 20)
                        .config("restart-strategy.fixed-delay.delay", "500 ms")
                        .listener(story::tell);
        cluster = prometheus.addTo(wanted).start(CLUSTER_LIMIT);
        sqlClient = new SqlClient(cluster);
        cli = new Cli(cluster);
        story.tell("%s", rest().overview());
    }

    boolean isStarted() {
        return cluster != null;
    }

    /** Ends every process. */
    @Override
    public void close() {
        FlinkCluster running = cluster;
        if (running != null) {
            running.close();
        }
    }

    FlinkCluster cluster() {
        return cluster;
    }

    RestClient rest() {
        return cluster.rest();
    }

    Cli cli() {
        return cli;
    }

    PrometheusReporter prometheus() {
        return prometheus;
    }

    /** The REST endpoint of the JobManager as {@code host:port}. */
    String jobManager() {
        URI address = rest().address();
        return address.getHost() + ":" + address.getPort();
    }

    Path savepoints() {
        return cluster.savepoints();
    }

    Path logs() {
        return options.directory().resolve("log");
    }

    // ------------------------------------------------------------------------------------------
    //  Table
    // ------------------------------------------------------------------------------------------

    DemoSql sql() {
        return sql;
    }

    /**
     * Runs a script in the SQL client.
     *
     * @param purpose a word for the names of the script and its logs
     */
    SqlOutput run(String purpose, String script) {
        return sqlClient.run(purpose, script, SQL_LIMIT);
    }

    TableDirectory table() {
        return table;
    }

    /** The table's newest snapshot. */
    TableDirectory.Snapshot head() {
        return table.latest().orElseThrow(() -> new ClusterException("the table has no snapshot"));
    }

    // ------------------------------------------------------------------------------------------
    //  Job
    // ------------------------------------------------------------------------------------------

    /**
     * Submits the job that writes the table.
     *
     * @param settings SET statements of the SQL client
     */
    void submit(String settings, long recordsPerSecond) {
        String script = sql.insert(settings, PARALLELISM, RECORDS, recordsPerSecond);
        List<String> jobs = run("submit", script).jobs();
        require(
                jobs.size() == 1,
                "the SQL client submitted %d jobs instead of 1: %s",
                jobs.size(),
                jobs);
        job = jobs.get(0);
    }

    /** The id of the job that was submitted last. */
    String job() {
        return job;
    }

    void cancel() {
        cluster.cancel(job, DemoSql.TABLE, LIMIT);
        rest().awaitJobState(job, "CANCELED", LIMIT);
    }

    /** A wait that ends when the job has ended. */
    Await awaiting(String what) {
        return awaitingInAnyCase(what).unless(this::requireJobAlive);
    }

    /** A wait that the end of the job does not end. */
    Await awaitingInAnyCase(String what) {
        return Await.until(what, LIMIT).lookAt(logs()).telling(this::tellWait);
    }

    private void requireJobAlive() {
        if (hasEnded()) {
            throw new ClusterException(
                    "job " + job + " is " + rest().jobState(job) + ": " + rest().rootCause(job));
        }
    }

    boolean hasEnded() {
        String state = rest().jobState(job);
        return "FAILED".equals(state) || "FINISHED".equals(state) || "CANCELED".equals(state);
    }

    /** The failure that the job has had was wanted; only another one is news. */
    void expectNoOtherFailure() {
        lastFailure = rest().rootCause(job);
    }

    /** A wait goes on; if the job failed meanwhile, that is probably why. */
    private void tellWait(String line) {
        story.tell("%s", line);
        String failure = rest().rootCause(job);
        if (!failure.isEmpty() && !failure.equals(lastFailure)) {
            lastFailure = failure;
            story.tell("the job has failed and restarts: %s", failure);
        }
    }

    // ------------------------------------------------------------------------------------------
    //  Story
    // ------------------------------------------------------------------------------------------

    void tell(String format, Object... arguments) {
        story.tell(format, arguments);
    }

    void tellLines(List<String> lines) {
        lines.forEach(line -> story.tell("%s", line));
    }

    static void require(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new ClusterException(String.format(message, arguments));
        }
    }
}
