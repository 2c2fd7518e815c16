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
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;

/** Which snapshot is the very one, and which only looks like it. */
class SnapshotIdentityTest {

    private static final SnapshotIdentity MEANT = new SnapshotIdentity(5, 1_000, "job", 4);

    @TempDir private File directory;

    @Test
    @DisplayName("owned: the snapshot read again and a tag on it match, the next snapshot does not")
    void matchesTheVerySnapshot() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        Snapshot snapshot = fixture.commit("job", 4, 1);
        fixture.tagManager().createTag(snapshot, "t", null, Collections.emptyList(), false);
        Snapshot next = fixture.commit("job", 4, 2);
        SnapshotIdentity identity = SnapshotIdentity.of(snapshot);

        assertThat(identity.matches(fixture.snapshots().get(0))).isTrue();
        assertThat(identity.matches(fixture.tagManager().getOrThrow("t"))).isTrue();
        assertThat(identity.matches(next)).isFalse();
        assertThat(identity.id()).isEqualTo(1);
        assertThat(identity.timeMillis()).isEqualTo(snapshot.timeMillis());
        assertThat(identity.commitUser()).isEqualTo("job");
        assertThat(identity.identifier()).isEqualTo(4);
    }

    @Test
    @DisplayName("owned: id, commit time, commit user and identifier all count")
    void everyPartCounts() {
        assertThat(new SnapshotIdentity(5, 1_000, "job", 4))
                .isEqualTo(MEANT)
                .hasSameHashCodeAs(MEANT);
        for (SnapshotIdentity other :
                Arrays.asList(
                        new SnapshotIdentity(6, 1_000, "job", 4),
                        new SnapshotIdentity(5, 1_001, "job", 4),
                        new SnapshotIdentity(5, 1_000, "another job", 4),
                        new SnapshotIdentity(5, 1_000, "job", 3))) {
            assertThat(other).isNotEqualTo(MEANT).doesNotHaveSameHashCodeAs(MEANT);
        }
        assertThat(MEANT).isNotEqualTo("job").isNotEqualTo(null);
    }

    @Test
    @DisplayName("T5: its text distinguishes what it distinguishes")
    void saysAllOfIt() {
        assertThat(MEANT)
                .hasToString(
                        "snapshot 5 of commit user job with identifier 4, committed at"
                                + " 1970-01-01T00:00:01Z");
    }
}
