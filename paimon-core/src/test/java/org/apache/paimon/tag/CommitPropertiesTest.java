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
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/** L1: what a snapshot and its tags say of the job that committed them. */
class CommitPropertiesTest {

    @TempDir private File directory;

    @Test
    @DisplayName("L1: job and run are in the snapshot and in a tag on it")
    void namesJobAndRun() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        Snapshot snapshot = fixture.commitAs("user", "run-1", 4, 1);
        fixture.tagManager().createTag(snapshot, "t", null, Collections.emptyList(), false);

        for (Snapshot one : new Snapshot[] {snapshot, fixture.tagManager().getOrThrow("t")}) {
            assertThat(CommitProperties.jobId(one)).isEqualTo("job of run-1");
            assertThat(CommitProperties.runId(one)).isEqualTo("run-1");
            assertThat(CommitProperties.holdsCompleteCut(one)).isFalse();
        }
    }

    @Test
    @DisplayName("L1: the snapshot of another build names nobody")
    void namesNobody() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        Snapshot snapshot = fixture.commit("user", 4, 1);

        assertThat(CommitProperties.jobId(snapshot)).isNull();
        assertThat(CommitProperties.runId(snapshot)).isNull();
        assertThat(CommitProperties.holdsCompleteCut(snapshot)).as("A5").isTrue();
    }

    @Test
    @DisplayName("A5: a snapshot of a run holds a complete cut when it names its very identifier")
    void namesItsSavepoint() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        Snapshot plain = fixture.commitAs("user", "run-1", 4, 1);
        assertThat(CommitProperties.holdsCompleteCut(plain)).isFalse();
        assertThat(
                        CommitProperties.holdsCompleteCut(
                                fixture.commitSavepoint("user", "run-1", 5, 2)))
                .isTrue();
    }

    @Test
    @DisplayName("L1: the names of the properties are those that the docs promise")
    void names() {
        ManifestCommittable committable = new ManifestCommittable(7);
        CommitProperties.stamp(committable, "job", "run");
        CommitProperties.stampSavepoint(committable, "file:/savepoints/savepoint-1");

        assertThat(committable.properties())
                .containsOnly(
                        entry("flink.job-id", "job"),
                        entry("flink.run-id", "run"),
                        entry("flink.checkpoint-id", "7"),
                        entry("flink.savepoint.path", "file:/savepoints/savepoint-1"));
    }

    @Test
    @DisplayName("L1: a savepoint whose location is no path has no path among the properties")
    void noPath() {
        ManifestCommittable committable = new ManifestCommittable(7);
        CommitProperties.stampSavepoint(committable, null);

        assertThat(committable.properties()).containsOnly(entry("flink.checkpoint-id", "7"));
    }
}
