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

import java.nio.file.Path;

/** The SQL of the demo. Scripts end with a semicolon and a new line. */
final class DemoSql {

    static final String TABLE = "T";

    private final Path warehouse;

    DemoSql(Path warehouse) {
        this.warehouse = warehouse;
    }

    /**
     * Submits the job.
     *
     * @param settings more SET statements
     * @param rows how many numbers the source has
     */
    String insert(String settings, int parallelism, long rows, long rowsPerSecond) {
        return catalog()
                + "CREATE TABLE IF NOT EXISTS "
                + TABLE
                + " (id BIGINT, payload STRING) WITH (\n"
                + "  'bucket' = '-1',\n"
                + "  'write-only' = 'true',\n"
                + "  'sink.coordinator-commit.enabled' = 'true',\n"
                + "  'sink.savepoint.auto-tag' = 'true'\n"
                + ");\n"
                + "CREATE TEMPORARY TABLE numbers (id BIGINT) WITH (\n"
                + option("connector", NumbersTableFactory.IDENTIFIER)
                + ",\n"
                + option("rows-per-second", rowsPerSecond)
                + ",\n"
                + option("number-of-rows", rows)
                + ",\n"
                + option("splits", parallelism)
                + "\n);\n"
                + set("pipeline.name", "demo")
                + set("parallelism.default", parallelism)
                + set("execution.checkpointing.interval", "3 s")
                + settings
                + "INSERT INTO "
                + TABLE
                + " SELECT id, 'record ' || CAST(id AS STRING) FROM numbers;\n";
    }

    /** The setting that starts a job from a savepoint. */
    static String restoreFrom(String savepoint) {
        return set("execution.state-recovery.path", savepoint);
    }

    /** Two results: the savepoint tags, and a row with the number of records at each of two. */
    String tags(String first, String second) {
        return catalog()
                + batch()
                + "CALL sys.savepoint_tags(`table` => 'default."
                + TABLE
                + "');\n"
                + countAt(first)
                + "UNION ALL "
                + countAt(second)
                + ";\n";
    }

    private static String countAt(String tag) {
        return "SELECT '"
                + tag
                + "' AS tag, COUNT(*) AS records, MIN(id) AS first_id, MAX(id) AS last_id FROM "
                + TABLE
                + " /*+ OPTIONS('scan.tag-name' = '"
                + tag
                + "') */\n";
    }

    /**
     * Rolls the table back to a savepoint.
     *
     * @param more more arguments of the procedure, each after a comma
     */
    String rollback(String savepoint, String jobManager, String more) {
        return catalog() + rollbackCall(savepoint, jobManager, more);
    }

    /** The call alone, as a user writes it. */
    static String rollbackCall(String savepoint, String jobManager, String more) {
        return "CALL sys.rollback_to_savepoint(\n    `table` => 'default."
                + TABLE
                + "',\n    `savepoint` => '"
                + savepoint
                + "',\n    job_manager => '"
                + jobManager
                + "'"
                + more
                + ");\n";
    }

    /** One row per split, with the numbers of its records. */
    String countBySplit(int splits) {
        return catalog()
                + batch()
                + "SELECT MOD(id, "
                + splits
                + ") AS split_id, COUNT(*) AS records, COUNT(DISTINCT id) AS ids,"
                + " MIN(id) AS first_id, MAX(id) AS last_id FROM "
                + TABLE
                + " GROUP BY MOD(id, "
                + splits
                + ");\n";
    }

    private String catalog() {
        return set("sql-client.execution.result-mode", "tableau")
                // Paths are longer than the 30 characters that the client shows by default.
                + set("table.display.max-column-width", 1_000)
                + "CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '"
                + warehouse.toUri()
                + "');\n"
                + "USE CATALOG paimon;\n";
    }

    private static String batch() {
        return set("execution.runtime-mode", "batch") + set("parallelism.default", 1);
    }

    private static String option(String key, Object value) {
        return "  '" + key + "' = '" + value + "'";
    }

    private static String set(String key, Object value) {
        return "SET '" + key + "' = '" + value + "';\n";
    }
}
