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

import static org.apache.paimon.flink.cluster.KafkaPipeline.with;

/** One job of a {@link KafkaPipeline}, described step by step, and submitted by the SQL client. */
public final class PipelineJob {

    private final KafkaPipeline pipeline;
    private final StringBuilder statements = new StringBuilder();
    private final StringBuilder inserts = new StringBuilder();
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private final Map<String, Object> tableOptions = new LinkedHashMap<>();
    private final Map<String, Object> sourceOptions = new LinkedHashMap<>();
    private final Map<String, String> tables = new LinkedHashMap<>();

    PipelineJob(KafkaPipeline pipeline) {
        this.pipeline = pipeline;
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
        List<String> jobs = pipeline.run("submit", script()).jobs();
        if (jobs.size() != 1) {
            throw new ClusterException(
                    "the SQL client submitted " + jobs.size() + " jobs instead of 1: " + jobs);
        }
        return jobs.get(0);
    }

    /** The statements behind those of the catalog. */
    public String script() {
        settings.forEach((key, value) -> statements.append(KafkaPipeline.set(key, value)));
        tables.forEach(this::source);
        tables.values().stream().distinct().forEach(this::table);
        tables.forEach(this::insert);
        statements.append("EXECUTE STATEMENT SET BEGIN\n").append(inserts).append("END;\n");
        return statements.toString();
    }

    private void source(String topic, String table) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("connector", "kafka");
        options.put("topic", topic);
        options.put("properties.bootstrap.servers", pipeline.bootstrapServers());
        options.put("properties.group.id", topic);
        options.put("scan.startup.mode", "earliest-offset");
        options.put("format", "json");
        options.putAll(sourceOptions);
        statements
                .append("CREATE TEMPORARY TABLE kafka_")
                .append(topic)
                .append(" (part INT, id BIGINT)")
                .append(with(options));
    }

    private void table(String table) {
        statements
                .append("CREATE TABLE IF NOT EXISTS ")
                .append(table)
                .append(" (part INT, id BIGINT) PARTITIONED BY (part)")
                .append(with(tableOptions));
    }

    /** The names of the sinks' operators come from their topics, so that states are found again. */
    private void insert(String topic, String table) {
        Map<String, Object> hints = new LinkedHashMap<>(tableOptions);
        hints.remove("bucket");
        hints.put("sink.operator-uid.suffix", topic);
        inserts.append("INSERT INTO ")
                .append(table)
                .append(" /*+ OPTIONS")
                .append(with(hints).replaceFirst(" WITH ", "").replace(";\n", ""))
                .append(" */ (part, id) SELECT part, id FROM kafka_")
                .append(topic)
                .append(";\n");
    }

    /** Who owns the files of the savepoint after a restore. */
    public enum ClaimMode {
        CLAIM,
        NO_CLAIM
    }
}
