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

import org.apache.paimon.Snapshot;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/** R2: what is remembered of a snapshot, and which snapshots it is told from. */
class OwnSnapshotTest {

    private static final SnapshotPosition PLACE = new SnapshotPosition(5, 1_000);
    private static final OwnSnapshot KNOWN = new OwnSnapshot(PLACE, 4, "run-1");

    @Test
    @DisplayName("anchor: id and commit time of a place both count")
    void places() {
        assertThat(new SnapshotPosition(5, 1_000)).isEqualTo(PLACE).hasSameHashCodeAs(PLACE);
        for (SnapshotPosition other :
                Arrays.asList(
                        new SnapshotPosition(6, 1_000),
                        new SnapshotPosition(5, 1_001),
                        SnapshotPosition.expired(5))) {
            assertThat(other).isNotEqualTo(PLACE).doesNotHaveSameHashCodeAs(PLACE);
        }
        assertThat(PLACE).isNotEqualTo("place").isNotEqualTo(null);
        assertThat(PLACE).hasToString("snapshot 5 of 1000");
    }

    @Test
    @DisplayName("R2: place, identifier and run of an own snapshot all count")
    void everyPartCounts() {
        assertThat(new OwnSnapshot(PLACE, 4, "run-1")).isEqualTo(KNOWN).hasSameHashCodeAs(KNOWN);
        for (OwnSnapshot other :
                Arrays.asList(
                        new OwnSnapshot(new SnapshotPosition(6, 1_000), 4, "run-1"),
                        new OwnSnapshot(PLACE, 3, "run-1"),
                        new OwnSnapshot(PLACE, 4, "run-2"),
                        new OwnSnapshot(PLACE, 4, null))) {
            assertThat(other).isNotEqualTo(KNOWN).doesNotHaveSameHashCodeAs(KNOWN);
        }
        assertThat(KNOWN).isNotEqualTo("own").isNotEqualTo(null);
        assertThat(KNOWN).hasToString("snapshot 5 of 1000 with identifier 4 of run run-1");
    }

    @Test
    @DisplayName("R2: one that has expired before its place was known is no snapshot of the table")
    void expired(@TempDir File directory) throws Exception {
        Snapshot first = AppendTableFixture.create(directory).commitAs("job", "run-1", 4, 1);
        OwnSnapshot expired = OwnSnapshot.expired(1, 4, "run-1");

        assertThat(expired).isNotEqualTo(OwnSnapshot.of(first));
        assertThat(expired.position().isAt(first)).isFalse();
        assertThat(expired.position().id()).isEqualTo(first.id());
        assertThat(expired.identifier()).isEqualTo(4);
        assertThat(expired.runId()).isEqualTo("run-1");
        assertThat(expired)
                .hasToString("snapshot 1 (expired) or an older one with identifier 4 of run run-1");
    }
}
