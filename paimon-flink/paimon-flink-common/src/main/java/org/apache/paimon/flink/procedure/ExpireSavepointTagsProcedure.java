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

package org.apache.paimon.flink.procedure;

import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.flink.savepoint.SavepointTagExpiration;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.utils.DateTimeUtils;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.ProcedureHint;
import org.apache.flink.table.procedure.ProcedureContext;
import org.apache.flink.types.Row;

import javax.annotation.Nullable;

import java.time.LocalDateTime;
import java.util.TimeZone;

/**
 * Drops the tags of savepoints whose metadata is gone.
 *
 * <pre>{@code
 * CALL sys.expire_savepoint_tags(`table` => 'db.t' [, older_than => '2026-01-31 12:00:00']
 *     [, dry_run => false])
 * }</pre>
 */
public class ExpireSavepointTagsProcedure extends SavepointProcedure {

    public static final String IDENTIFIER = "expire_savepoint_tags";

    @ProcedureHint(
            argument = {
                @ArgumentHint(name = "table", type = @DataTypeHint("STRING")),
                @ArgumentHint(
                        name = "older_than",
                        type = @DataTypeHint("STRING"),
                        isOptional = true),
                @ArgumentHint(name = "dry_run", type = @DataTypeHint("BOOLEAN"), isOptional = true)
            })
    @DataTypeHint(
            "ROW<tag STRING, snapshot_id BIGINT, savepoint_path STRING, action STRING,"
                    + " detail STRING>")
    public Row[] call(
            ProcedureContext context,
            String table,
            @Nullable String olderThan,
            @Nullable Boolean dryRun)
            throws Catalog.TableNotExistException {
        LocalDateTime limit = parse(olderThan);
        FileStoreTable stored = mainBranch(table);
        return Boolean.FALSE.equals(dryRun)
                ? SavepointTagExpiration.of(stored, limit).run()
                : SavepointTagExpiration.dryRun(stored, limit).run();
    }

    @Nullable
    private static LocalDateTime parse(@Nullable String olderThan) {
        if (olderThan == null || olderThan.trim().isEmpty()) {
            return null;
        }
        try {
            return DateTimeUtils.parseTimestampData(olderThan.trim(), 3, TimeZone.getDefault())
                    .toLocalDateTime();
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    String.format(
                            "older_than is '%s', needed is a time such as '2026-01-31 12:00:00'.",
                            olderThan),
                    e);
        }
    }

    @Override
    public String identifier() {
        return IDENTIFIER;
    }
}
