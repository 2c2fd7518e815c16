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

import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Which table a job writes to. */
class TableCreationTest {

    @TempDir private File directory;

    @Test
    @DisplayName("fault 16: the same table is accepted, also after its schema has changed")
    void sameTable() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        long created = creation(fixture).timeMillis();
        fixture.table().schemaManager().commitChanges(SchemaChange.setOption("a", "b"));

        assertThat(creation(fixture).timeMillis()).isEqualTo(created);
        assertThatCode(() -> creation(fixture).require(created)).doesNotThrowAnyException();
        assertThatCode(() -> creation(fixture).require(checkpointOf(created)))
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("fault 16: a table that was dropped does not exist any more, says the message")
    void droppedTable() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        TableCreation creation = creation(fixture);
        long created = creation.timeMillis();
        fixture.dropTable();

        assertThatThrownBy(creation::timeMillis)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not exist any more")
                .hasMessageContaining("/t");
        assertThatThrownBy(() -> creation.require(created))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not exist any more");
    }

    @Test
    @DisplayName("fault 16: a table that was dropped and created again is refused, with both times")
    void tableCreatedAgain() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        long created = creation(fixture).timeMillis();
        fixture.dropTable();
        fixture.createTableAgain();
        long createdAgain = creation(fixture).timeMillis();
        assertThat(createdAgain).isGreaterThan(created);

        assertThatThrownBy(() -> creation(fixture).require(created))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("This job has written to")
                .hasMessageContaining(String.valueOf(created))
                .hasMessageContaining(String.valueOf(createdAgain))
                .hasMessageContaining("dropped and created again")
                .hasMessageContaining("sink.operator-uid.suffix");
        assertThatThrownBy(() -> creation(fixture).require(checkpointOf(created)))
                .hasMessageContaining("Checkpoint 12 was taken of");
    }

    @Test
    @DisplayName("fault 16: the time is asked for each time, for the table may go at any moment")
    void asksEachTime() {
        AtomicLong time = new AtomicLong(5);
        TableCreation creation = new TableCreation("t", () -> OptionalLong.of(time.get()));
        assertThatCode(() -> creation.require(5)).doesNotThrowAnyException();
        time.set(6);

        assertThatThrownBy(() -> creation.require(5)).isInstanceOf(IllegalStateException.class);
    }

    private static CommitProgress checkpointOf(long tableCreationMillis) {
        return new CommitProgress(12, "run", -1, tableCreationMillis, SnapshotPosition.START, null);
    }

    private static TableCreation creation(AppendTableFixture fixture) throws Exception {
        return TableCreation.of(
                fixture.snapshotManager().tablePath(),
                new SchemaManager(fixture.fileIO(), fixture.snapshotManager().tablePath()));
    }
}
