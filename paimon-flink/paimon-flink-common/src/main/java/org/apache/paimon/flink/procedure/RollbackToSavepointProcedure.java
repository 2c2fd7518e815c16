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
import org.apache.paimon.flink.savepoint.SavepointRollback;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.ProcedureHint;
import org.apache.flink.table.procedure.ProcedureContext;
import org.apache.flink.types.Row;

import javax.annotation.Nullable;

/**
 * Rolls a table back to what it held at a savepoint or retained checkpoint.
 *
 * <pre>{@code
 * CALL sys.rollback_to_savepoint(`table` => 'db.t', `savepoint` => 'path' [, dry_run => true]
 *     [, force => true] [, job_manager => 'host:port'])
 * }</pre>
 */
public class RollbackToSavepointProcedure extends SavepointProcedure {

    public static final String IDENTIFIER = "rollback_to_savepoint";

    @ProcedureHint(
            argument = {
                @ArgumentHint(name = "table", type = @DataTypeHint("STRING")),
                @ArgumentHint(name = "savepoint", type = @DataTypeHint("STRING")),
                @ArgumentHint(name = "dry_run", type = @DataTypeHint("BOOLEAN"), isOptional = true),
                @ArgumentHint(name = "force", type = @DataTypeHint("BOOLEAN"), isOptional = true),
                @ArgumentHint(
                        name = "job_manager",
                        type = @DataTypeHint("STRING"),
                        isOptional = true)
            })
    @DataTypeHint("ROW<item STRING, detail STRING>")
    public Row[] call(
            ProcedureContext context,
            String table,
            String savepoint,
            @Nullable Boolean dryRun,
            @Nullable Boolean force,
            @Nullable String jobManager)
            throws Catalog.TableNotExistException {
        SavepointRollback rollback = new SavepointRollback(mainBranch(table), savepoint);
        if (Boolean.TRUE.equals(dryRun)) {
            rollback.dryRun();
        }
        if (Boolean.TRUE.equals(force)) {
            rollback.force();
        }
        if (jobManager != null && !jobManager.trim().isEmpty()) {
            rollback.askJobManager(jobManager);
        }
        return rollback.run();
    }

    @Override
    public String identifier() {
        return IDENTIFIER;
    }
}
