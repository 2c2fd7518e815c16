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

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.fs.Path;

import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

import java.util.ArrayList;
import java.util.List;

/** {@code CALL sys....} through Flink SQL. */
final class SqlCalls {

    private final TableEnvironment tables;

    private SqlCalls(TableEnvironment tables, String warehouse) {
        this.tables = tables;
        // A procedure that runs a job waits for its end.
        tables.getConfig().set("table.dml-sync", "true");
        tables.executeSql(
                String.format(
                        "CREATE CATALOG paimon WITH ('type' = 'paimon', 'warehouse' = '%s')",
                        warehouse));
        tables.useCatalog("paimon");
    }

    static SqlCalls batch(AppendTable table) {
        return new SqlCalls(
                TableEnvironment.create(EnvironmentSettings.inBatchMode()), warehouse(table));
    }

    static SqlCalls streaming(AppendTable table) {
        return new SqlCalls(
                TableEnvironment.create(EnvironmentSettings.inStreamingMode()), warehouse(table));
    }

    private static String warehouse(AppendTable table) {
        return new Path(table.location()).getParent().getParent().toString();
    }

    /** As SQL names it. */
    static String name(AppendTable table) {
        return "db." + new Path(table.location()).getName();
    }

    List<Row> call(String format, Object... arguments) throws Exception {
        List<Row> rows = new ArrayList<>();
        try (CloseableIterator<Row> result =
                tables.executeSql("CALL sys." + String.format(format, arguments)).collect()) {
            result.forEachRemaining(rows::add);
        }
        return rows;
    }

    /** What the rows of an item say. */
    static List<String> details(List<Row> rows, String item) {
        List<String> details = new ArrayList<>();
        for (Row row : rows) {
            if (item.equals(row.getField(0))) {
                details.add((String) row.getField(1));
            }
        }
        return details;
    }
}
