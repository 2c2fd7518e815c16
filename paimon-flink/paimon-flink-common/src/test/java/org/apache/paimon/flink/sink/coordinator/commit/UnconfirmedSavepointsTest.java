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
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CapturedLog;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Which tags go with their savepoints, by what the places of the savepoints say. */
class UnconfirmedSavepointsTest {

    @TempDir private File directory;

    private final Map<String, SavepointOutcome> outcomes = new HashMap<>();
    private final JobMasterMemory memory = new JobMasterMemory("the table");
    private final List<Long> deleted = new ArrayList<>();

    private AppendTableFixture fixture;
    private UnconfirmedSavepoints savepoints;

    /** How many deletions of tags fail from now on. */
    private int failures;

    @BeforeEach
    void create() throws Exception {
        fixture = AppendTableFixture.create(directory);
        savepoints =
                new UnconfirmedSavepoints(
                        new MemoryBackendStateStore(), outcomes::get, memory, this::deleteTag);
    }

    private void deleteTag(long savepointId, Snapshot snapshot) {
        assertThat(snapshot.commitIdentifier()).isEqualTo(savepointId);
        deleted.add(savepointId);
        if (failures > 0) {
            failures--;
            throw new IllegalStateException("no answer");
        }
    }

    @Test
    @DisplayName("L2: the end of the job deletes the tags of what has not completed, each once")
    void jobEnds() throws Exception {
        tag(1, SavepointOutcome.UNFINISHED);
        tag(2, SavepointOutcome.COMPLETE);
        tag(3, SavepointOutcome.GONE);
        tag(4, SavepointOutcome.UNKNOWN);
        savepoints.giveUp();
        assertThat(deleted).containsExactly(1L, 3L);
        assertThat(memory.unconfirmedSavepoints()).isEmpty();

        savepoints.giveUp();
        assertThat(deleted).containsExactly(1L, 3L);
    }

    @Test
    @DisplayName(
            "L2: a tag that cannot be deleted at the end is tried again, and given up in a WARN")
    void deletionFailsAtTheEnd() throws Exception {
        tag(1, SavepointOutcome.UNFINISHED);
        tag(2, SavepointOutcome.UNFINISHED);
        failures = 3;
        try (CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class)) {
            savepoints.giveUp();
            assertThat(log.messages())
                    .filteredOn(message -> message.startsWith("WARN"))
                    .singleElement()
                    .asString()
                    .contains("tag of savepoint 1")
                    .contains("sys.expire_savepoint_tags");
        }
        assertThat(deleted).containsExactly(1L, 1L, 1L, 2L);
    }

    @Test
    @DisplayName("L2: a deletion that succeeds at the second attempt is not told of")
    void deletionSucceedsAtLast() throws Exception {
        tag(1, SavepointOutcome.GONE);
        failures = 1;
        try (CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class)) {
            savepoints.giveUp();
            assertThat(log.messages()).noneMatch(message -> message.startsWith("WARN"));
        }
        assertThat(deleted).containsExactly(1L, 1L);
    }

    @Test
    @DisplayName("L2: a completed checkpoint forgets what is confirmed, and keeps what may be late")
    void looksAtEachCheckpoint() throws Exception {
        tag(1, SavepointOutcome.UNFINISHED);
        tag(2, SavepointOutcome.COMPLETE);
        tag(3, SavepointOutcome.GONE);
        tag(4, SavepointOutcome.UNKNOWN);
        savepoints.look();

        assertThat(memory.unconfirmedSavepoints()).containsExactly(1L, 3L);
        assertThat(deleted).isEmpty();
    }

    @Test
    @DisplayName("L2: a restore tells why a savepoint is withdrawn, and of no other that it is")
    void tellsOfTheWithdrawal() {
        outcomes.put("unfinished", SavepointOutcome.UNFINISHED);
        outcomes.put("complete", SavepointOutcome.COMPLETE);
        outcomes.put("gone", SavepointOutcome.GONE);
        try (CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class)) {
            assertThat(savepoints.neverCompleted(1, "unfinished", 9)).isTrue();
            assertThat(savepoints.neverCompleted(2, "complete", 9)).isFalse();
            assertThat(savepoints.neverCompleted(3, "gone", 9)).isFalse();
            assertThat(savepoints.neverCompleted(9, "unfinished", 9)).isFalse();

            assertThat(log.messages())
                    .filteredOn(message -> message.contains("withdrawn"))
                    .singleElement()
                    .asString()
                    .contains("Savepoint 1 at unfinished");
        }
    }

    /** Savepoint of a path of its own, whose tag is there when a later checkpoint completes. */
    private void tag(long savepointId, SavepointOutcome outcome) throws Exception {
        String path = "savepoint-" + savepointId;
        outcomes.put(path, outcome);
        Snapshot snapshot = fixture.commit("the job", savepointId, (int) savepointId);
        memory.unconfirmed()
                .put(savepointId, new UnconfirmedSavepoint(savepointId, path, snapshot));
    }
}
