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

package org.apache.paimon.tag;

import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.SchemaManager;

import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Distinguishes a table from one that was created again in its place, by the time of its first
 * schema.
 *
 * <p>Each method reads the file system.
 */
public final class TableCreation {

    private final String table;
    private final Supplier<OptionalLong> creationTime;

    /**
     * @param table where the table lies, for messages
     * @param creationTime milliseconds since the epoch, empty when there is no table
     */
    public TableCreation(String table, Supplier<OptionalLong> creationTime) {
        this.table = table;
        this.creationTime = creationTime;
    }

    public static TableCreation of(Path table, SchemaManager schemaManager) {
        return new TableCreation(
                table.toString(),
                () ->
                        schemaManager.latest().isPresent()
                                ? OptionalLong.of(schemaManager.earliestCreationTime())
                                : OptionalLong.empty());
    }

    /**
     * When the table was created, in milliseconds since the epoch.
     *
     * @throws IllegalStateException when there is no table
     */
    public long timeMillis() {
        return creationTime
                .get()
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        String.format(
                                                "The table at %s does not exist any more: it has no"
                                                        + " schema. Stop the job, or restore the"
                                                        + " table and let the job restart.",
                                                table)));
    }

    /**
     * @throws IllegalStateException when there is no table, or another one than the checkpoint
     *     knows
     */
    public void require(CommitProgress checkpoint) {
        require(
                checkpoint.tableCreationMillis(),
                "Checkpoint " + checkpoint.checkpointId() + " was taken of");
    }

    /**
     * @throws IllegalStateException when there is no table, or another one
     */
    public void require(long creationMillis) {
        require(creationMillis, "This job has written to");
    }

    private void require(long expected, String who) {
        long found = timeMillis();
        if (found != expected) {
            throw new IllegalStateException(
                    String.format(
                            "%s the table at %s that was created at %d (milliseconds since the"
                                    + " epoch), but the one there now was created at %d: it was"
                                    + " dropped and created again, and nothing is written to it. To"
                                    + " start afresh with the new table, start the job without"
                                    + " this checkpoint, or give the sink another"
                                    + " sink.operator-uid.suffix and allow non-restored state.",
                            who, table, expected, found));
        }
    }
}
