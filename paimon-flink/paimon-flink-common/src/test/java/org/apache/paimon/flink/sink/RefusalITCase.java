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

package org.apache.paimon.flink.sink;

import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the SQL user sees of the coordinator path. */
class RefusalITCase {

    private static final String OPTION = "sink.coordinator-commit.enabled";

    @TempDir Path directory;

    private TableEnvironment sql;

    @BeforeEach
    void openCatalog() {
        sql = environment(EnvironmentSettings.inStreamingMode());
        sql.getConfig().set("execution.checkpointing.interval", "200 ms");
    }

    private TableEnvironment environment(EnvironmentSettings settings) {
        TableEnvironment environment = TableEnvironment.create(settings);
        environment.executeSql(
                "CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '"
                        + directory.toUri()
                        + "')");
        environment.executeSql("USE CATALOG paimon");
        environment.getConfig().set("parallelism.default", "2");
        return environment;
    }

    private void create(String columns, String options) {
        sql.executeSql(
                "CREATE TABLE t ("
                        + columns
                        + ") WITH ('"
                        + OPTION
                        + "' = 'true', 'sink.savepoint.auto-tag' = 'true'"
                        + options
                        + ")");
    }

    private TableResult insert() {
        return sql.executeSql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    }

    @Test
    @DisplayName("E3: a table that fits is written, to the last row")
    void fittingTableIsWritten() throws Exception {
        create("id INT, name STRING", ", 'bucket' = '-1', 'write-only' = 'true'");
        insert().await(60, TimeUnit.SECONDS);

        TableEnvironment batch = environment(EnvironmentSettings.inBatchMode());
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> result = batch.executeSql("SELECT id, name FROM t").collect()) {
            result.forEachRemaining(row -> rows.add(row.toString()));
        }
        assertThat(rows).containsExactlyInAnyOrder("+I[1, a]", "+I[2, b]", "+I[3, c]");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "a primary key | id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED |, 'write-only' = 'true' | primary-key | [id]",
                "a primary key and a fixed bucket | id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED |, 'bucket' = '2', 'write-only' = 'true' | primary-key | [id]",
                "a fixed bucket | id INT, name STRING |, 'bucket' = '2', 'bucket-key' = 'id', 'write-only' = 'true' | bucket | 2",
                "a postponed bucket | id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED |, 'bucket' = '-2', 'write-only' = 'true' | primary-key | [id]",
                "compaction in the job | id INT, name STRING |, 'bucket' = '-1' | write-only | false",
                "compaction before the commit | id INT, name STRING |, 'bucket' = '-1', 'write-only' = 'true', 'precommit-compact' = 'true' | precommit-compact | true",
            })
    @DisplayName("a table that does not fit is refused with option, value and what is needed")
    void tableThatDoesNotFitIsRefused(
            String what, String columns, String options, String named, String found) {
        create(columns, options);
        assertRefused(named, found);
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource({
        "execution.runtime-mode, BATCH",
        "execution.checkpointing.interval, ",
        "execution.checkpointing.mode, AT_LEAST_ONCE",
        "execution.checkpointing.max-concurrent-checkpoints, 2"
    })
    @DisplayName("a job that does not fit is refused with option, value and what is needed")
    void jobThatDoesNotFitIsRefused(String option, String value) {
        create("id INT, name STRING", ", 'bucket' = '-1', 'write-only' = 'true'");
        if (value == null) {
            sql = environment(EnvironmentSettings.inStreamingMode());
        } else if (option.equals("execution.runtime-mode")) {
            sql = environment(EnvironmentSettings.inBatchMode());
        } else {
            sql.getConfig().set(option, value);
        }
        assertRefused(option, value == null ? "not set" : value);
    }

    /** SQL's VALUES do not say that they are bounded, so this shows when they end. */
    @Test
    @DisplayName("E3: rows that no checkpoint could commit fail the job for good")
    void endOfInputWithoutFinalCheckpointFails() {
        String option = "execution.checkpointing.checkpoints-after-tasks-finish";
        sql.getConfig().set(option, "false");
        create("id INT, name STRING", ", 'bucket' = '-1', 'write-only' = 'true'");

        assertThatThrownBy(() -> insert().await(60, TimeUnit.SECONDS))
                .hasStackTraceContaining(option);
    }

    private void assertRefused(String named, String found) {
        assertThatThrownBy(this::insert)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPTION)
                .hasMessageContaining(named)
                .hasMessageContaining(found);
    }
}
