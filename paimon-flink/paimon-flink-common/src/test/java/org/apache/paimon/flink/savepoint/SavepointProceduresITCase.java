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

import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Issue 13: the procedures in SQL, by their arguments. */
class SavepointProceduresITCase {

    /** How the statements are run. */
    enum Sql {
        BATCH,
        STREAMING
    }

    /** In which catalog the table is. */
    enum Catalog {
        CACHED("'type' = 'paimon'"),
        NOT_CACHED("'type' = 'paimon', 'cache-enabled' = 'false'"),
        /** Privileges are set up by the test. */
        ROOT("'type' = 'paimon', 'user' = 'root', 'password' = 'secret'"),
        READER("'type' = 'paimon', 'user' = 'reader', 'password' = 'secret'");

        private final String options;

        Catalog(String options) {
            this.options = options;
        }
    }

    @TempDir private Path directory;

    private SavepointTable table;
    private String gone;
    private String there;

    @BeforeEach
    void createTable() throws Exception {
        table = SavepointTable.create(directory);
        there = new WrittenSavepoint(1).sink("me", null).write(table.directory("there"));
        table.commitAndTag("me", "run", 1, "savepoint-1", there, 1);
        gone = table.directory("gone").toUri().toString();
        table.commitAndTag("me", "run", 2, "savepoint-2", gone, 2);
    }

    private TableEnvironment sql(Sql mode, Catalog catalog) {
        TableEnvironment tables =
                TableEnvironment.create(
                        mode == Sql.BATCH
                                ? EnvironmentSettings.inBatchMode()
                                : EnvironmentSettings.inStreamingMode());
        tables.executeSql(
                String.format(
                        "CREATE CATALOG c WITH (%s, 'warehouse' = '%s')",
                        catalog.options, table.fixture.warehouse()));
        tables.useCatalog("c");
        return tables;
    }

    private static List<Row> call(TableEnvironment tables, String call) throws Exception {
        List<Row> rows = new ArrayList<>();
        try (CloseableIterator<Row> result = tables.executeSql("CALL sys." + call).collect()) {
            result.forEachRemaining(rows::add);
        }
        return rows;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13: positional arguments")
    void positionalArguments(Sql mode) throws Exception {
        TableEnvironment tables = sql(mode, Catalog.CACHED);

        assertThat(call(tables, "savepoint_tags('db.t')"))
                .extracting(row -> row.getField(0) + " " + row.getField(6))
                .containsExactly("savepoint-1 true", "savepoint-2 false");
        call(tables, "expire_savepoint_tags('db.t')");
        call(tables, "expire_savepoint_tags('db.t', '2001-01-01 00:00:00', false)");
        assertThat(table.fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
        call(tables, "expire_savepoint_tags('db.t', '2999-01-01 00:00:00', false)");
        assertThat(table.fixture.tags()).containsExactly("savepoint-1");
        call(tables, String.format("rollback_to_savepoint('db.t', '%s', true)", there));
        assertThat(table.fixture.ids()).containsExactly(1, 2);
        call(tables, String.format("rollback_to_savepoint('db.t', '%s', false, true)", there));
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13: named arguments")
    void namedArguments(Sql mode) throws Exception {
        TableEnvironment tables = sql(mode, Catalog.CACHED);

        assertThat(call(tables, "savepoint_tags(`table` => 'db.t')")).hasSize(2);
        call(tables, "expire_savepoint_tags(dry_run => false, `table` => 'db.t')");
        assertThat(table.fixture.tags()).containsExactly("savepoint-1");
        call(
                tables,
                String.format(
                        "rollback_to_savepoint(force => true, `savepoint` => '%s',"
                                + " `table` => 'db.t')",
                        there));
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"CACHED", "NOT_CACHED", "ROOT"})
    @DisplayName("issue 13: on any catalog")
    void anyCatalog(Catalog catalog) throws Exception {
        if (catalog == Catalog.ROOT) {
            call(sql(Sql.BATCH, Catalog.CACHED), "init_file_based_privilege('secret')");
        }
        TableEnvironment tables = sql(Sql.BATCH, catalog);

        assertThat(call(tables, "savepoint_tags('db.t')")).hasSize(2);
        call(tables, "expire_savepoint_tags('db.t', '', false)");
        assertThat(table.fixture.tags()).containsExactly("savepoint-1");
        call(tables, String.format("rollback_to_savepoint('db.t', '%s')", there));
        assertThat(table.fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("issue 13, bad input: who may only read the table neither rolls back nor drops")
    void noPermission() throws Exception {
        call(sql(Sql.BATCH, Catalog.CACHED), "init_file_based_privilege('secret')");
        TableEnvironment root = sql(Sql.BATCH, Catalog.ROOT);
        call(root, "create_privileged_user('reader', 'secret')");
        call(root, "grant_privilege_to_user('reader', 'SELECT', 'db', 't')");
        TableEnvironment reader = sql(Sql.BATCH, Catalog.READER);

        for (String call :
                new String[] {
                    // The base asks for this privilege of whoever looks at the tags.
                    "savepoint_tags('db.t')",
                    String.format("rollback_to_savepoint('db.t', '%s')", there),
                    "expire_savepoint_tags('db.t', '', false)"
                }) {
            assertThatThrownBy(() -> call(reader, call))
                    .as(call)
                    .hasStackTraceContaining("User reader doesn't have privilege INSERT");
        }
        assertThat(table.fixture.ids()).containsExactly(1, 2);
        assertThat(table.fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "savepoint_tags('%s')",
                "rollback_to_savepoint('%s', '/a/b')",
                "expire_savepoint_tags('%s')"
            })
    @DisplayName("issue 13, bad input: no table, a system table, a branch")
    void wrongTables(String call) throws Exception {
        table.table().createBranch("b", "savepoint-1");
        TableEnvironment tables = sql(Sql.BATCH, Catalog.CACHED);

        assertThatThrownBy(() -> call(tables, String.format(call, "db.nowhere")))
                .rootCause()
                .hasMessageContaining("db.nowhere");
        assertThatThrownBy(() -> call(tables, String.format(call, "")))
                .rootCause()
                .hasMessageContaining("no table is given");
        assertThatThrownBy(() -> call(tables, String.format(call, "db.t$snapshots")))
                .rootCause()
                .hasMessageContaining("system table")
                .hasMessageContaining("db.t");
        assertThatThrownBy(() -> call(tables, String.format(call, "db.t$branch_b")))
                .rootCause()
                .hasMessageContaining("is the branch 'b'")
                .hasMessageContaining("sys.rollback_to");
        assertThat(table.fixture.ids()).containsExactly(1, 2);
        assertThat(table.fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rollback_to_savepoint('db.t', '/no/such/savepoint') | There is no savepoint",
                "rollback_to_savepoint('db.t', '') | path of the savepoint is empty",
                "rollback_to_savepoint('db.t', '~/s') | '~/s' is no path",
                "expire_savepoint_tags('db.t', 'yesterday', false) | older_than is 'yesterday'"
            })
    @DisplayName("issue 13, bad input: the message names what was found")
    void wrongArguments(String callAndMessage) throws Exception {
        String[] both = callAndMessage.split(" \\| ");
        TableEnvironment tables = sql(Sql.BATCH, Catalog.CACHED);

        assertThatThrownBy(() -> call(tables, both[0])).hasStackTraceContaining(both[1]);
        assertThat(table.fixture.ids()).containsExactly(1, 2);
        assertThat(table.fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
    }
}
