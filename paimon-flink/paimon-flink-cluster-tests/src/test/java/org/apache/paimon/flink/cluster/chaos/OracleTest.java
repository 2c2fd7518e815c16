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

package org.apache.paimon.flink.cluster.chaos;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import static org.apache.paimon.flink.cluster.chaos.Violation.Kind.HEAD_CONTENT;
import static org.apache.paimon.flink.cluster.chaos.Violation.Kind.MISSING_TAG;
import static org.apache.paimon.flink.cluster.chaos.Violation.Kind.SNAPSHOT_CONTENT;
import static org.apache.paimon.flink.cluster.chaos.Violation.Kind.TAG_CONTENT;
import static org.apache.paimon.flink.cluster.chaos.Violation.Kind.TAG_WITHOUT_SAVEPOINT;
import static org.assertj.core.api.Assertions.assertThat;

/** The oracle finds what is planted, and nothing else. */
class OracleTest {

    private static final SavepointFacts SEVEN = savepoint(7, 10);

    private final FakeTable table = new FakeTable();
    private final Oracle oracle = new Oracle();

    @Test
    void aTagWithTheRecordsBeforeTheOffsetsIsRight() {
        table.tags.put("savepoint-7", records(0, 10));

        check(SEVEN, Collections.singleton(7L));

        assertThat(oracle.violations()).isEmpty();
        assertThat(oracle.tagsChecked()).isEqualTo(1);
    }

    @Test
    void aRowThatIsMissingAtATagIsFound() {
        table.tags.put("savepoint-7", records(0, 9));

        check(SEVEN, Collections.emptySet());

        assertThat(oracle.violations()).extracting(Violation::kind).containsExactly(TAG_CONTENT);
        assertThat(oracle.violations().get(0).text()).contains("partition 0 lacks 1 records (9");
    }

    @Test
    void aRowThatIsThereTwiceIsFoundAtATagAndAtTheHead() {
        table.tags.put("savepoint-7", records(0, 10).add(0, 3));
        table.head = records(0, 10).add(0, 3);

        check(SEVEN, Collections.emptySet());
        oracle.checkHead("at the end", SEVEN.offsets(), table);

        assertThat(oracle.violations())
                .extracting(Violation::kind)
                .containsExactly(TAG_CONTENT, HEAD_CONTENT);
        assertThat(oracle.violations().get(1).text()).contains("repeats 1 records (3");
    }

    @Test
    void aRowOfAnotherPartitionOrBehindTheOffsetIsFound() {
        table.head = records(0, 11).add(1, 0);

        oracle.checkHead("at the end", SEVEN.offsets(), table);

        assertThat(oracle.violations()).hasSize(1);
        assertThat(oracle.violations().get(0).text())
                .contains("partition 0 has too much: 1 records (10")
                .contains("partition 1 has too much: 1 records (0");
    }

    @Test
    void aSavepointThatNothingDisturbedNeedsATag() {
        check(SEVEN, Collections.singleton(7L));

        assertThat(oracle.violations()).extracting(Violation::kind).containsExactly(MISSING_TAG);
    }

    @Test
    void aDisturbedSavepointNeedsATagOnlyIfItsSnapshotIsThere() {
        check(SEVEN, Collections.emptySet());
        assertThat(oracle.violations()).isEmpty();
        assertThat(oracle.uncommitted()).isEqualTo(1);

        table.snapshots.put(7L, records(0, 10));
        check(SEVEN, Collections.emptySet());
        assertThat(oracle.violations()).extracting(Violation::kind).containsExactly(MISSING_TAG);
    }

    @Test
    void aSnapshotWithTheIdentifierOfASavepointButNotItsContentIsFound() {
        table.tags.put("savepoint-7", records(0, 10));
        table.snapshots.put(7L, records(0, 8));

        check(SEVEN, Collections.emptySet());

        // A3
        assertThat(oracle.violations())
                .extracting(Violation::kind)
                .containsExactly(SNAPSHOT_CONTENT);
    }

    @Test
    void aTagWithoutSavepointIsFound() {
        table.tags.put("savepoint-9", records(0, 12));

        oracle.checkSavepoints(Collections.emptyList(), Collections.emptySet(), table);
        // L2
        assertThat(oracle.violations())
                .extracting(Violation::kind)
                .containsExactly(TAG_WITHOUT_SAVEPOINT);
    }

    @Test
    void aTagOfACollisionNamesItsSnapshotAndCounts() {
        table.tags.put("savepoint-7", records(0, 10));
        table.tags.put("savepoint-7-31", records(0, 20));

        oracle.checkSavepoints(
                java.util.Arrays.asList(SEVEN, savepoint(7, 20)), Collections.singleton(7L), table);

        // T5
        assertThat(oracle.violations()).isEmpty();
        assertThat(Oracle.isNameOf("savepoint-71", 7)).isFalse();
    }

    @Test
    void aSavepointBeforeTheFirstRecordNeedsNoTag() {
        check(savepoint(1, 0), Collections.singleton(1L));

        // T8
        assertThat(oracle.violations()).isEmpty();
    }

    private void check(SavepointFacts savepoint, Set<Long> calm) {
        oracle.checkSavepoints(Collections.singletonList(savepoint), calm, table);
    }

    private static SavepointFacts savepoint(long id, long offset) {
        return new SavepointFacts(id, "/s/" + id, Collections.singletonMap(0, offset));
    }

    private static Content records(int partition, long end) {
        Content content = new Content();
        for (long number = 0; number < end; number++) {
            content.add(partition, number);
        }
        return content;
    }

    private static final class FakeTable implements TableView {
        private final Map<String, Content> tags = new TreeMap<>();
        private final Map<Long, Content> snapshots = new TreeMap<>();
        private Content head = new Content();

        @Override
        public Set<String> tags() {
            return tags.keySet();
        }

        @Override
        public Content atTag(String tag) {
            return tags.get(tag);
        }

        @Override
        public Set<Long> snapshotsOf(long commitIdentifier) {
            Set<Long> ids = new LinkedHashSet<>(snapshots.keySet());
            ids.removeIf(id -> id != commitIdentifier);
            return ids;
        }

        @Override
        public Content atSnapshot(long snapshot) {
            return snapshots.get(snapshot);
        }

        @Override
        public Content head() {
            return head;
        }
    }
}
