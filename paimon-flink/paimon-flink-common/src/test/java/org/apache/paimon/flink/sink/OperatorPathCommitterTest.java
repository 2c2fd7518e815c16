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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.coordinator.commit.RecordedMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTagMetrics;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/** What is put over the committer of the operator path. */
class OperatorPathCommitterTest {

    private static final String USER = "the job";

    @TempDir private File directory;

    private final MemoryBackendStateStore stateStore = new MemoryBackendStateStore();
    private final RecordedMetrics metrics = new RecordedMetrics();

    private FileStoreTable table;

    @BeforeEach
    void create() throws Exception {
        table = AppendTableFixture.create(directory).table();
    }

    @Test
    @DisplayName("A5: the savepoints in the restored state are still to be tagged")
    void restoredSavepoints() throws Exception {
        stateStore
                .getListState(SavepointTaggingCommitterFactory.SAVEPOINTS_STATE)
                .update(Arrays.asList(3L, 5L));
        try (SavepointTaggingCommitter committer = over(true)) {
            assertThat(committer.pendingSavepoints()).containsExactly(3L, 5L);
        }
    }

    @Test
    @DisplayName("T9: the metrics of savepoint tags are shown when savepoints are tagged")
    void showsMetrics() throws Exception {
        try (SavepointTaggingCommitter committer = over(true)) {
            assertThat(committer.tagsSavepoints()).isTrue();
            assertThat(metrics.metrics())
                    .containsKeys(
                            SavepointTagMetrics.TAGS_CREATED, SavepointTagMetrics.LAST_TAGGED);
            assertThat(metrics.value(SavepointTagMetrics.TAGS_CREATED)).isZero();
        }
    }

    @Test
    @DisplayName("T7: without the option there are no metrics of savepoint tags")
    void showsNoMetricsWithoutTheOption() throws Exception {
        try (SavepointTaggingCommitter committer = over(false)) {
            assertThat(committer.tagsSavepoints()).isFalse();
            assertThat(metrics.metrics()).doesNotContainKey(SavepointTagMetrics.TAGS_CREATED);
        }
    }

    private SavepointTaggingCommitter over(boolean tagsSavepoints) {
        // The committer beneath has a metric group of its own.
        StoreCommitter committer =
                new StoreCommitter(
                        table,
                        table.newCommit(USER),
                        Committer.createContext(
                                USER, new RecordedMetrics(), true, false, stateStore, 1, 0));
        return OperatorPathCommitter.of(SavepointTaggingCommitterFactory.of(table, tagsSavepoints))
                .over(committer, USER, stateStore, metrics);
    }
}
