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

package org.apache.paimon.flink.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TableDirectoryTest {

    @TempDir private Path directory;

    private void write(String file, String text) throws IOException {
        Path path = directory.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, text.getBytes(StandardCharsets.UTF_8));
    }

    private static String snapshot(long id, long identifier, long records) {
        return String.format(
                "{\"version\": 3, \"id\": %d, \"commitUser\": \"me\", \"commitIdentifier\": %d,"
                        + " \"commitKind\": \"APPEND\", \"totalRecordCount\": %d}",
                id, identifier, records);
    }

    @Test
    void aTableThatIsNotThereYetHasNeitherSnapshotsNorTags() {
        TableDirectory table = new TableDirectory(directory.resolve("absent"));

        assertThat(table.latest()).isEmpty();
        assertThat(table.tags()).isEmpty();
    }

    @Test
    void theLatestSnapshotHasTheHighestNumberNotTheLastName() throws IOException {
        write("snapshot/snapshot-9", snapshot(9, 11, 900));
        write("snapshot/snapshot-10", snapshot(10, 12, 1000));
        write("snapshot/LATEST", "10");
        write("tag/tag-savepoint-11", snapshot(9, 11, 900));

        TableDirectory table = new TableDirectory(directory);

        assertThat(table.snapshots()).containsOnlyKeys(9L, 10L);
        assertThat(table.latest().get().commitIdentifier()).isEqualTo(12);
        assertThat(table.latest().get().records()).isEqualTo(1000);
        assertThat(table.latest().get().commitUser()).isEqualTo("me");
        assertThat(table.tags()).containsOnlyKeys("savepoint-11");
        assertThat(table.tags().get("savepoint-11").id()).isEqualTo(9);
    }

    @Test
    void aFileThatIsNotJsonIsNamed() throws IOException {
        write("snapshot/snapshot-1", "{broken");

        assertThatThrownBy(() -> new TableDirectory(directory).snapshots())
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("snapshot-1");
    }
}
