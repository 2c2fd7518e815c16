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
import org.apache.paimon.flink.savepoint.SavepointTagList;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.ProcedureHint;
import org.apache.flink.table.procedure.ProcedureContext;
import org.apache.flink.types.Row;

/**
 * Lists the savepoint tags of a table.
 *
 * <pre>{@code
 * CALL sys.savepoint_tags(`table` => 'db.t')
 * }</pre>
 */
public class SavepointTagsProcedure extends SavepointProcedure {

    public static final String IDENTIFIER = "savepoint_tags";

    @ProcedureHint(argument = @ArgumentHint(name = "table", type = @DataTypeHint("STRING")))
    @DataTypeHint(
            "ROW<tag STRING, snapshot_id BIGINT, checkpoint_id BIGINT, commit_user STRING,"
                    + " job_id STRING, savepoint_path STRING, metadata_exists STRING,"
                    + " create_time TIMESTAMP(3), time_retained STRING>")
    public Row[] call(ProcedureContext context, String table)
            throws Catalog.TableNotExistException {
        return new SavepointTagList(mainBranch(table)).rows();
    }

    @Override
    public String identifier() {
        return IDENTIFIER;
    }
}
