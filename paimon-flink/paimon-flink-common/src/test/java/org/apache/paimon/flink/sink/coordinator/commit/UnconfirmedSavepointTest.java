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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.Snapshot;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A tagged savepoint in the coordinator's state, whose outcome is not known. */
class UnconfirmedSavepointTest {

    private static final String PATH = "s3://bucket/savepoint-\u00fc";

    /** Version, checkpoint it was written in, savepoint, length of the path. */
    private static final int FIXED_LENGTH = 1 + 2 * Long.BYTES + Integer.BYTES;

    @TempDir private File directory;

    private Snapshot snapshot;

    @BeforeEach
    void commit() throws Exception {
        snapshot = AppendTableFixture.create(directory).commit("the job", 7, 1);
    }

    @Test
    @DisplayName("L2: what a checkpoint holds of a savepoint is read again, whatever its path")
    void readsWhatItWrites() throws Exception {
        for (String path : new String[] {PATH, ""}) {
            byte[] bytes = new UnconfirmedSavepoint(7, path, snapshot).toBytes(9);
            UnconfirmedSavepoint read = UnconfirmedSavepoint.fromBytes(bytes);

            assertThat(UnconfirmedSavepoint.writtenIn(bytes)).isEqualTo(9);
            assertThat(read.savepointId()).isEqualTo(7);
            assertThat(read.path()).isEqualTo(path);
            assertThat(read.snapshot()).isEqualTo(snapshot);
        }
    }

    @Test
    @DisplayName("S2: a cut element, an unknown version and a path that is too long are refused")
    void refusesWhatItCannotRead() {
        byte[] bytes = new UnconfirmedSavepoint(7, PATH, snapshot).toBytes(9);
        refused(new byte[0], "has 0 bytes");
        refused(Arrays.copyOf(bytes, FIXED_LENGTH - 1), "fixed part alone takes " + FIXED_LENGTH);
        byte[] version = bytes.clone();
        version[0] = 2;
        refused(version, "Unknown version 2");
        byte[] path = bytes.clone();
        ByteBuffer.wrap(path).putInt(FIXED_LENGTH - Integer.BYTES, -1);
        refused(path, "savepoint 7", "a path of -1 bytes");
        int rest = bytes.length - FIXED_LENGTH;
        ByteBuffer.wrap(path).putInt(FIXED_LENGTH - Integer.BYTES, rest + 1);
        refused(path, "a path of " + (rest + 1) + " bytes, " + rest + " are there");
    }

    @Test
    @DisplayName("S2: an element that ends behind its path is refused for its snapshot")
    void refusesAMissingSnapshot() throws Exception {
        byte[] bytes = new UnconfirmedSavepoint(7, PATH, snapshot).toBytes(9);
        int pathLength = PATH.getBytes(StandardCharsets.UTF_8).length;

        assertThat(UnconfirmedSavepoint.writtenIn(Arrays.copyOf(bytes, FIXED_LENGTH))).isEqualTo(9);
        refused(
                Arrays.copyOf(bytes, FIXED_LENGTH + pathLength),
                "The snapshot of the unconfirmed savepoint 7");
    }

    private static void refused(byte[] element, String... reasons) {
        assertThatThrownBy(() -> UnconfirmedSavepoint.fromBytes(element))
                .isInstanceOf(IOException.class)
                .message()
                .contains(reasons);
    }
}
