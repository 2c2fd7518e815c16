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

import org.apache.flink.runtime.checkpoint.Checkpoints;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.DataOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Issue 13, bad input: what is no readable savepoint is named, with what is needed. */
class SavepointReaderTest {

    @TempDir private Path directory;

    private final SavepointReader reader =
            new SavepointReader(SavepointReaderTest.class.getClassLoader());

    private SavepointContent read(String path) {
        return reader.read(SavepointPath.of(path));
    }

    @Test
    @DisplayName("issue 13: checkpoint id and commit users come from the states")
    void readsIdAndCommitUsers() throws Exception {
        SavepointTable table = SavepointTable.create(directory);
        byte[] ofASource = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0};
        String path =
                new WrittenSavepoint(7)
                        .coordinator("Source: lanes", ofASource)
                        .sink("stock", null)
                        .sink("ours", table.progress(7, "run", 6, null, null))
                        .sink("carried along", table.progress(5, "run", 4, null, null))
                        .write(table.directory("s"));

        SavepointContent savepoint = read(path);

        assertThat(savepoint.checkpointId()).isEqualTo(7);
        assertThat(savepoint.sinks())
                .extracting(SavepointSink::commitUser)
                .containsExactlyInAnyOrder("stock", "ours", "carried along");
        for (SavepointSink sink : savepoint.sinks()) {
            // S4: progress of another checkpoint was carried along by a build that cannot read it.
            assertThat(sink.progress() != null)
                    .as(sink.commitUser())
                    .isEqualTo(sink.commitUser().equals("ours"));
        }
    }

    @Test
    @DisplayName("issue 13: a path without a savepoint")
    void noSavepointAtThePath() {
        assertThatThrownBy(() -> read(directory.toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("There is no savepoint or retained checkpoint at file:")
                .hasMessageContaining("_metadata is not there");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "  ", "~/savepoint", "relative/savepoint", "nosuchscheme://a/b", ":"})
    @DisplayName("issue 13: what is no absolute path of a known file system")
    void noPath(String path) {
        assertThatThrownBy(() -> read(path))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(path.trim().isEmpty() ? "is empty" : "'" + path + "'");
    }

    @Test
    @DisplayName("issue 13: torn metadata")
    void tornMetadata() throws Exception {
        String path = new WrittenSavepoint(7).sink("me", null).write(directory);
        Path file = directory.resolve("_metadata");
        byte[] bytes = Files.readAllBytes(file);
        for (int length : new int[] {0, 3, 8, 20, bytes.length - 1}) {
            Files.write(file, Arrays.copyOf(bytes, length));

            assertThatThrownBy(() -> read(path))
                    .as(length + " of " + bytes.length)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("cannot be read")
                    .hasMessageContaining("complete savepoint of a Flink version");
        }
    }

    @Test
    @DisplayName("issue 13: metadata of another Flink version, and a file that is none")
    void anotherVersion() throws Exception {
        Path file = directory.resolve("_metadata");
        try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(file))) {
            out.writeInt(Checkpoints.HEADER_MAGIC_NUMBER);
            out.writeInt(99);
        }
        assertThatThrownBy(() -> read(directory.toString()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("version number: 99");

        Files.write(file, "no savepoint at all".getBytes());
        assertThatThrownBy(() -> read(directory.toString()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("magic number");
    }

    @Test
    @DisplayName("issue 13: a sink's state that cannot be read is not passed over")
    void corruptStateOfASink() throws Exception {
        byte[] bytes = new byte[20];
        bytes[3] = 1;
        bytes[7] = 12;
        bytes[8] = 0x7f;
        String path = new WrittenSavepoint(7).coordinator("Writer : t", bytes).write(directory);

        assertThatThrownBy(() -> read(path))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the state of operator Writer : t");
    }

    @Test
    @DisplayName("issue 13: no permission to read")
    void noPermission() {
        assertThatThrownBy(() -> read(ForbiddenFileSystem.SCHEME + "://host/savepoint"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("permission denied by the test")
                .hasMessageContaining("Needed is the permission to read it");
    }
}
