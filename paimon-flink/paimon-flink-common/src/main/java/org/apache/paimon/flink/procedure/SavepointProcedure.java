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
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;

import javax.annotation.Nullable;

/** A procedure of a table and its savepoints. */
abstract class SavepointProcedure extends ProcedureBase {

    /**
     * @param name {@code database.table}
     * @throws IllegalArgumentException when it is not the main branch of a stored table
     */
    FileStoreTable mainBranch(@Nullable String name) throws Catalog.TableNotExistException {
        if (name == null || name.trim().isEmpty()) {
            throw new IllegalArgumentException(
                    identifier() + ": no table is given. Name it as 'database.table'.");
        }
        Identifier table = Identifier.fromString(name.trim());
        if (table.isSystemTable()) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s: %s is a system table. Name the table itself: %s.%s.",
                            identifier(), name, table.getDatabaseName(), table.getTableName()));
        }
        refuseBranch(name, table.getBranchNameOrDefault());
        Table found = catalog.getTable(table);
        if (!(found instanceof FileStoreTable)) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s: %s is no table with snapshots of its own, but %s.",
                            identifier(), name, found.getClass().getSimpleName()));
        }
        FileStoreTable stored = (FileStoreTable) found;
        refuseBranch(name, stored.coreOptions().branch());
        return stored;
    }

    private void refuseBranch(String name, String branch) {
        if (!Identifier.DEFAULT_MAIN_BRANCH.equals(branch)) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s: %s is the branch '%s'. Only the main branch is served; the tags"
                                    + " and snapshots of a branch are in its system tables, and"
                                    + " sys.rollback_to takes one of them.",
                            identifier(), name, branch));
        }
    }
}
