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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import static org.apache.paimon.flink.cluster.KafkaPipeline.options;
import static org.apache.paimon.flink.cluster.KafkaPipeline.with;

/** One job of a {@link KafkaPipeline}, described step by step, and submitted by the SQL client. */
public final class PipelineJob {

    private final String catalog;
    private final String bootstrapServers;
    private final Function<String, SqlOutput> client;
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private final Map<String, Object> tableOptions = new LinkedHashMap<>();
    private final Map<String, Object> sourceOptions = new LinkedHashMap<>();
    private final Map<String, String> tables = new LinkedHashMap<>();

    /**
     * @param catalog the statements that make the catalog and use it
     * @param client runs a script
     */
    PipelineJob(String catalog, String bootstrapServers, Function<String, SqlOutput> client) {
        this.catalog = catalog;
        this.bootstrapServers = bootstrapServers;
        this.client = client;
        settings.put("execution.checkpointing.interval", "1 s");
        settings.put("parallelism.default", 2);
        tableOptions.put("bucket", -1);
        tableOptions.put("write-only", true);
        tableOptions.put("sink.coordinator-commit.enabled", true);
        tableOptions.put("sink.savepoint.auto-tag", true);
    }

    /** One more sink: from another topic, into the same table or another one. */
    public PipelineJob into(String topic, String table) {
        tables.put(topic, table);
        return this;
    }

    public PipelineJob parallelism(int parallelism) {
        settings.put("parallelism.default", parallelism);
        return this;
    }

    /** An option of Flink. */
    public PipelineJob set(String key, Object value) {
        settings.put(key, value);
        return this;
    }

    /** An option of the table; it counts for this job alone, if the table is there already. */
    public PipelineJob option(String key, Object value) {
        tableOptions.put(key, value);
        return this;
    }

    /** The source ends at the records that are there now. */
    public PipelineJob bounded() {
        sourceOptions.put("scan.bounded.mode", "latest-offset");
        return this;
    }

    /** Goes on from a savepoint. */
    public PipelineJob restore(String savepoint, ClaimMode mode) {
        settings.put("execution.state-recovery.path", savepoint);
        settings.put("execution.state-recovery.claim-mode", mode);
        return this;
    }

    /** Submits the job and returns its id; its tasks may not run yet. */
    public String submit() {
        List<String> jobs = client.apply(script()).jobs();
        if (jobs.size() != 1) {
            throw new ClusterException(
                    "the SQL client submitted " + jobs.size() + " jobs instead of 1: " + jobs);
        }
        return jobs.get(0);
    }

    /** What the SQL client runs. */
    private String script() {
        StringBuilder text = new StringBuilder();
        settings.forEach((key, value) -> text.append(KafkaPipeline.set(key, value)));
        text.append(tables()).append("EXECUTE STATEMENT SET BEGIN\n");
        tables.forEach((topic, table) -> text.append(insert(topic, table)));
        return text.append("END;\n").toString();
    }

    /** The job as a {@link SqlApplication}, which takes its settings from the cluster. */
    public String application() {
        StringBuilder text = new StringBuilder(tables());
        tables.forEach((topic, table) -> text.append(insert(topic, table)));
        return text.toString();
    }

    private String tables() {
        StringBuilder text = new StringBuilder(catalog);
        tables.keySet().forEach(topic -> text.append(source(topic)));
        tables.values().stream().distinct().forEach(table -> text.append(table(table)));
        return text.toString();
    }

    private String source(String topic) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("connector", "kafka");
        options.put("topic", topic);
        options.put("properties.bootstrap.servers", bootstrapServers);
        options.put("properties.group.id", topic);
        options.put("scan.startup.mode", "earliest-offset");
        options.put("format", "json");
        options.putAll(sourceOptions);
        return "CREATE TEMPORARY TABLE kafka_" + topic + " (part INT, id BIGINT)" + with(options);
    }

    private String table(String table) {
        return "CREATE TABLE IF NOT EXISTS "
                + table
                + " (part INT, id BIGINT) PARTITIONED BY (part)"
                + with(tableOptions);
    }

    /** The names of the sinks' operators come from their topics, so that states are found again. */
    private String insert(String topic, String table) {
        Map<String, Object> hints = new LinkedHashMap<>(tableOptions);
        hints.remove("bucket");
        hints.put("sink.operator-uid.suffix", topic);
        return "INSERT INTO "
                + table
                + " /*+ OPTIONS"
                + options(hints)
                + " */ (part, id) SELECT part, id FROM kafka_"
                + topic
                + ";\n";
    }

    /** Who owns the files of the savepoint after a restore. */
    public enum ClaimMode {
        CLAIM,
        NO_CLAIM
    }
}
