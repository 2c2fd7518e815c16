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

import static org.assertj.core.api.Assertions.assertThat;

/** What a process knows of the tags that it has made. */
class TaggedSavepointsTest {

    /** How many savepoints are remembered. */
    private static final int REMEMBERED = 1_024;

    @TempDir private File directory;

    private final TaggedSavepoints tagged = new TaggedSavepoints();

    private Snapshot snapshot;
    private Snapshot later;

    @BeforeEach
    void commit() throws Exception {
        AppendTableFixture fixture = AppendTableFixture.create(directory);
        snapshot = fixture.commit("the job", 1, 1);
        later = fixture.commit("the job", 2, 2);
    }

    @Test
    @DisplayName("A1: a tag that was begun has its snapshot, and counts as made when it is there")
    void beginsAndTags() {
        assertThat(tagged.snapshot(1)).isEmpty();
        assertThat(tagged.contains(1)).isFalse();

        tagged.begin(1, snapshot);
        assertThat(tagged.snapshot(1)).contains(snapshot);
        assertThat(tagged.contains(1)).isFalse();
        assertThat(tagged.name(1)).isNull();

        tagged.tagged(1, "savepoint-1");
        assertThat(tagged.snapshot(1)).contains(snapshot);
        assertThat(tagged.contains(1)).isTrue();
        assertThat(tagged.name(1)).isEqualTo("savepoint-1");
        assertThat(tagged.contains(2)).isFalse();
    }

    @Test
    @DisplayName("A4: a savepoint whose snapshot was gone is done, without the name of a tag")
    void snapshotGone() {
        tagged.begin(1, snapshot);
        tagged.tagged(1, null);

        assertThat(tagged.contains(1)).isTrue();
        assertThat(tagged.name(1)).isNull();
    }

    @Test
    @DisplayName("T4: a tag that is begun again on another snapshot is not there until it is made")
    void beginsAgain() {
        tagged.begin(1, snapshot);
        tagged.tagged(1, "savepoint-1");
        tagged.begin(1, later);

        assertThat(tagged.contains(1)).isFalse();
        assertThat(tagged.name(1)).isNull();
        assertThat(tagged.snapshot(1)).contains(later);
    }

    @Test
    @DisplayName("A1: what was removed is not known any more")
    void removes() {
        tagged.begin(1, snapshot);
        tagged.tagged(1, "savepoint-1");
        tagged.remove(1);

        assertThat(tagged.contains(1)).isFalse();
        assertThat(tagged.name(1)).isNull();
        assertThat(tagged.snapshot(1)).isEmpty();
    }

    @Test
    @DisplayName("A4: the newest 1,024 savepoints are remembered, the oldest is forgotten first")
    void forgetsTheOldest() {
        tag(1, REMEMBERED);
        assertThat(tagged.name(1)).isEqualTo("savepoint-1");

        tag(REMEMBERED + 1, REMEMBERED + 1);
        assertThat(tagged.contains(1)).isFalse();
        assertThat(tagged.snapshot(1)).isEmpty();
        assertThat(tagged.name(2)).isEqualTo("savepoint-2");
        assertThat(tagged.name(REMEMBERED + 1)).isEqualTo("savepoint-" + (REMEMBERED + 1));
    }

    @Test
    @DisplayName("A4: a savepoint whose tag is begun again counts as the newest")
    void beginningAgainMakesItTheNewest() {
        tag(1, REMEMBERED);
        tag(1, 1);
        tag(REMEMBERED + 1, REMEMBERED + 1);

        assertThat(tagged.name(1)).isEqualTo("savepoint-1");
        assertThat(tagged.contains(2)).isFalse();
        assertThat(tagged.name(3)).isEqualTo("savepoint-3");
    }

    private void tag(long first, long last) {
        for (long savepointId = first; savepointId <= last; savepointId++) {
            tagged.begin(savepointId, snapshot);
            tagged.tagged(savepointId, "savepoint-" + savepointId);
        }
    }
}
