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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Jobs as operators run them: Kafka to Flink SQL to a partitioned append table without buckets,
 * committed by the coordinator, with a tag for each savepoint.
 *
 * <p>A record has the partition of its topic and its number in there ({@link KafkaProcess}); the
 * table is partitioned by the former. Exactly once is then easy to see: in each partition, the
 * numbers from 0 on, each once, without a gap.
 */
public final class KafkaPipeline {

    private final SqlClient sql;
    private final KafkaProcess kafka;
    private final URI warehouse;
    private final Duration limit;

    /**
     * @param limit how long a call of the SQL client may take
     */
    public KafkaPipeline(FlinkCluster cluster, KafkaProcess kafka, URI warehouse, Duration limit) {
        this.sql = new SqlClient(cluster);
        this.kafka = kafka;
        this.warehouse = warehouse;
        this.limit = limit;
    }

    /** A job to submit that reads a topic into a table, which is created if it is missing. */
    public PipelineJob job(String topic, String table) {
        return new PipelineJob(
                        catalog(warehouse),
                        kafka.bootstrapServers(),
                        script -> sql.run("submit", script, limit))
                .into(topic, table);
    }

    /** The statements of the same job for a cluster in application mode. */
    public static String application(
            KafkaProcess kafka, URI warehouse, String topic, String table) {
        return new PipelineJob(
                        createCatalog(warehouse),
                        kafka.bootstrapServers(),
                        script -> {
                            throw new ClusterException(
                                    "an application is submitted by its cluster");
                        })
                .into(topic, table)
                .application();
    }

    /** Where a table of {@link #job} lies. */
    public URI tableLocation(String table) {
        return URI.create(warehouse + "/default.db/" + table);
    }

    /** Runs statements in the catalog of the tables. */
    public SqlOutput run(String purpose, String statements) {
        return sql.run(purpose, catalog(warehouse) + statements, limit);
    }

    /** What there is of a table in each of its partitions. */
    public Map<Integer, Numbers> count(String table) {
        return countFrom(table);
    }

    /** What there is at a tag of a table in each of its partitions. */
    public Map<Integer, Numbers> countAt(String table, String tag) {
        return countFrom(table + " /*+ OPTIONS('scan.tag-name' = '" + tag + "') */");
    }

    private Map<Integer, Numbers> countFrom(String table) {
        List<SqlTable> found =
                run(
                                "count",
                                set("execution.runtime-mode", "batch")
                                        + set("parallelism.default", 1)
                                        + "SELECT part, COUNT(*) AS n, COUNT(DISTINCT id) AS d,"
                                        + " MIN(id) AS a, MAX(id) AS z FROM "
                                        + table
                                        + " GROUP BY part;\n")
                        .tables();
        Map<Integer, Numbers> counted = new TreeMap<>();
        if (!found.isEmpty()) {
            for (List<String> row : found.get(0).rows()) {
                counted.put(
                        Integer.parseInt(row.get(0)),
                        new Numbers(
                                Long.parseLong(row.get(1)),
                                Long.parseLong(row.get(2)),
                                Long.parseLong(row.get(3)),
                                Long.parseLong(row.get(4))));
            }
        }
        return counted;
    }

    /** Rolls a table back to a tag. */
    public void rollback(String table, String tag) {
        run(
                "rollback",
                "CALL sys.rollback_to(`table` => 'default."
                        + table
                        + "', tag => '"
                        + tag
                        + "');\n");
    }

    private static String catalog(URI warehouse) {
        return set("sql-client.execution.result-mode", "tableau") + createCatalog(warehouse);
    }

    private static String createCatalog(URI warehouse) {
        Map<String, Object> options = new LinkedHashMap<>();
        options.put("type", "paimon");
        options.put("warehouse", warehouse);
        return "CREATE CATALOG paimon" + with(options) + "USE CATALOG paimon;\n";
    }

    static String with(Map<String, ?> options) {
        return " WITH " + options(options) + ";\n";
    }

    /** In parentheses, as in a WITH clause or a hint. */
    static String options(Map<String, ?> options) {
        return options.entrySet().stream()
                .map(option -> "'" + option.getKey() + "' = '" + option.getValue() + "'")
                .collect(Collectors.joining(", ", "(", ")"));
    }

    static String set(String key, Object value) {
        return "SET '" + key + "' = '" + value + "';\n";
    }

    /** The numbers of one partition. */
    public static final class Numbers {
        private final long count;
        private final long distinct;
        private final long first;
        private final long last;

        Numbers(long count, long distinct, long first, long last) {
            this.count = count;
            this.distinct = distinct;
            this.first = first;
            this.last = last;
        }

        /** How many records there are. */
        public long count() {
            return count;
        }

        /** Whether the numbers from 0 on are there, each once, without a gap. */
        public boolean exactlyOnce() {
            return first == 0 && count == distinct && last == count - 1;
        }

        @Override
        public String toString() {
            return String.format(
                    "%d records, %d numbers from %d to %d%s",
                    count, distinct, first, last, exactlyOnce() ? "" : " (NOT exactly once)");
        }
    }
}
