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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A4, S2: the bytes in which a checkpoint remembers the commits before it. */
class CommitProgressTest {

    private static final SnapshotPosition ANCHOR = new SnapshotPosition(17, 1_700_000_000_000L);

    @Test
    @DisplayName("A4: all parts come back, whether an own snapshot and its run are known or not")
    void comesBack() throws Exception {
        for (OwnSnapshot newestOwn :
                Arrays.asList(
                        null,
                        new OwnSnapshot(new SnapshotPosition(9, 8), 7, null),
                        new OwnSnapshot(new SnapshotPosition(9, 8), 7, "run-\u00fc"))) {
            CommitProgress read = CommitProgress.fromBytes(progress(newestOwn).toBytes());

            assertThat(read.checkpointId()).isEqualTo(12);
            assertThat(read.runId()).isEqualTo("run-1");
            assertThat(read.committedUpTo()).isEqualTo(-1);
            assertThat(read.tableCreationMillis()).isEqualTo(1_600_000_000_000L);
            assertThat(read.anchor()).isEqualTo(ANCHOR);
            assertThat(read.newestOwn()).isEqualTo(newestOwn);
            assertThat(read).hasToString(progress(newestOwn).toString());
        }
    }

    @Test
    @DisplayName("A4: a later checkpoint that knows nothing new says the same of itself")
    void later() {
        CommitProgress progress = full();

        assertThat(progress.as(13).checkpointId()).isEqualTo(13);
        assertThat(progress.as(13).as(progress.checkpointId()))
                .usingRecursiveComparison()
                .isEqualTo(progress);
    }

    @Test
    @DisplayName("S2: the layout is the documented one")
    void layout() throws Exception {
        assertThat(progress(null).toBytes())
                .hasSize(4 + 8 + 2 + "run-1".length() + 8 + 8 + 16 + 1)
                .startsWith(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 12, 0, 5, 'r', 'u', 'n', '-', '1');
    }

    @Test
    @DisplayName(
            "S2: bytes that break off anywhere are an IOException that says how many there are")
    void truncated() throws Exception {
        byte[] whole = full().toBytes();
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> CommitProgress.fromBytes(part))
                    .as("%d of %d bytes", length, whole.length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("What the checkpoint knows of earlier commits")
                    .hasMessageContaining("(" + length + " bytes)");
        }
    }

    @Test
    @DisplayName("S2: bytes that are left over are counted")
    void leftOver() throws Exception {
        byte[] whole = full().toBytes();

        assertThatThrownBy(() -> CommitProgress.fromBytes(Arrays.copyOf(whole, whole.length + 3)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be read: 3 bytes are left over.");
    }

    @Test
    @DisplayName("S2: an unknown version is named, with the known one and the way out")
    void unknownVersion() throws Exception {
        for (int version : new int[] {0, 2, 0x7f}) {
            byte[] bytes = full().toBytes();
            bytes[3] = (byte) version;
            assertThatThrownBy(() -> CommitProgress.fromBytes(bytes))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("unknown version " + version)
                    .hasMessageContaining("version 1 can be read")
                    .hasMessageContaining("newer build");
        }
    }

    private static CommitProgress full() {
        return progress(new OwnSnapshot(new SnapshotPosition(9, 8), 7, "run-0"));
    }

    private static CommitProgress progress(OwnSnapshot newestOwn) {
        return new CommitProgress(12, "run-1", -1, 1_600_000_000_000L, ANCHOR, newestOwn);
    }
}
