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

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestCommittableSerializer;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.RecordingTagCallback;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.groups.OperatorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** T9: the operator path in Flink's harness, on the same tags as the coordinator path. */
class AutoTagForSavepointCommitterOperatorTest {

    private static final String USER = "job-with-uuid-12345678";
    private static final SnapshotType CHECKPOINT = CheckpointType.CHECKPOINT;
    private static final SnapshotType SAVEPOINT =
            SavepointType.savepoint(SavepointFormatType.CANONICAL);

    @TempDir private File directory;

    private final HookedCommitter.Hooks hooks = new HookedCommitter.Hooks();
    private final RecordingTagCallback.Factory callbacks = new RecordingTagCallback.Factory();
    private final Map<String, String> options = new HashMap<>();
    private AppendTableFixture fixture;
    private OneInputStreamOperatorTestHarness<Committable, Committable> harness;

    /** Whether the wrapped operator is made by another factory than ours. */
    private boolean foreign;

    /** What Flink names as restored; negative for none. */
    private long restoredCheckpointId = SavepointTaggingCommitterFactory.NO_CHECKPOINT;

    private void start() throws Exception {
        fixture = AppendTableFixture.create(directory, options);
        open(null);
    }

    private void restart(OperatorSubtaskState state) throws Exception {
        restart(state, SavepointTaggingCommitterFactory.NO_CHECKPOINT);
    }

    /** A restore from a checkpoint, which Flink names to the operator. */
    private void restart(OperatorSubtaskState state, long checkpointId) throws Exception {
        restoredCheckpointId = checkpointId;
        hooks.clear();
        harness.close();
        open(state);
    }

    private MockEnvironment environment() {
        return new MockEnvironmentBuilder()
                .setMaxParallelism(1)
                .setParallelism(1)
                .setTaskStateManager(
                        new TestTaskStateManager() {
                            @Override
                            public Optional<Long> getRestoreCheckpointId() {
                                return restoredCheckpointId < 0
                                        ? Optional.empty()
                                        : Optional.of(restoredCheckpointId);
                            }
                        })
                .build();
    }

    private void open(OperatorSubtaskState state) throws Exception {
        FileStoreTable table = fixture.table();
        CommitterOperatorFactory<Committable, ManifestCommittable> wrapped =
                new CommitterOperatorFactory<>(
                        true,
                        true,
                        USER,
                        context ->
                                new HookedCommitter(
                                        new StoreCommitter(
                                                table,
                                                table.newCommit(context.commitUser())
                                                        .ignoreEmptyCommit(false),
                                                context),
                                        hooks),
                        new RestoreCommittableStateManager<>(
                                ManifestCommittableSerializer::new, false));
        harness =
                new OneInputStreamOperatorTestHarness<>(
                        foreign
                                ? new OperatorFactory(
                                        parameters ->
                                                new AutoTagForSavepointCommitterOperator<>(
                                                        wrapped.createStreamOperator(parameters),
                                                        table::snapshotManager,
                                                        table::tagManager,
                                                        () -> table.store().newTagDeletion(),
                                                        callbacks::get,
                                                        Duration.ofDays(3)))
                                : new AutoTagForSavepointCommitterOperatorFactory<>(
                                        wrapped,
                                        table::snapshotManager,
                                        table::tagManager,
                                        () -> table.store().newTagDeletion(),
                                        callbacks::get,
                                        Duration.ofDays(3)),
                        environment());
        TypeSerializer<Committable> serializer =
                new CommittableTypeInfo().createSerializer(new ExecutionConfig());
        harness.setup(serializer);
        if (state == null) {
            harness.initializeEmptyState();
        } else {
            harness.initializeState(state);
        }
        harness.open();
    }

    @AfterEach
    void close() throws Exception {
        if (harness != null) {
            harness.close();
        }
    }

    private OperatorSubtaskState take(long id, SnapshotType type, int... rows) throws Exception {
        if (rows.length > 0) {
            for (CommitMessage message : fixture.write(USER, id, rows)) {
                harness.processElement(new StreamRecord<>(new Committable(id, message)));
            }
        }
        harness.prepareSnapshotPreBarrier(id);
        return harness.snapshotWithLocalState(id, id, type).getJobManagerOwnedState();
    }

    private void complete(long id) throws Exception {
        harness.getOneInputOperator().notifyCheckpointComplete(id);
    }

    private void abort(long id) throws Exception {
        harness.getOneInputOperator().notifyCheckpointAborted(id);
    }

    private List<Long> identifiers() throws Exception {
        return fixture.snapshots().stream()
                .filter(snapshot -> snapshot.commitUser().equals(USER))
                .map(Snapshot::commitIdentifier)
                .collect(Collectors.toList());
    }

    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T1: savepoints are tagged when the next checkpoint completes")
    void tagsSavepoints() throws Exception {
        start();
        take(1, SAVEPOINT, 1);
        take(2, SAVEPOINT, 2);
        take(3, CHECKPOINT, 3);
        assertThat(fixture.tags()).isEmpty();
        complete(3);

        assertThat(identifiers()).containsExactly(1L, 2L, 3L);
        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("T2: a synchronous savepoint is tagged by its own completion")
    void tagsSynchronousSavepoints() throws Exception {
        start();
        take(1, SavepointType.suspend(SavepointFormatType.CANONICAL), 1);
        complete(1);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("T3: with one retained snapshot the tag survives the batch it is committed in")
    void tagSurvivesExpiration() throws Exception {
        options.put("write-only", "false");
        options.put("snapshot.num-retained.min", "1");
        options.put("snapshot.num-retained.max", "1");
        start();
        take(1, SAVEPOINT, 1, 2);
        take(2, CHECKPOINT, 3);
        complete(2);

        assertThat(identifiers()).containsExactly(2L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T5: a tag of another job is left alone, also by an abort")
    void foreignTag() throws Exception {
        start();
        Snapshot foreign = fixture.commit("another-job", 1, 100);
        fixture.tagManager()
                .createTag(foreign, "savepoint-1", null, Collections.emptyList(), false);
        take(1, SAVEPOINT, 1);
        take(2, CHECKPOINT, 2);
        complete(2);
        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-1-2");
        assertThat(fixture.idsAtTag("savepoint-1-2")).containsExactly(1, 100);
        abort(1);

        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(100);
    }

    @Test
    @DisplayName("T6: retention applies, and each creation and deletion gets a fresh callback")
    void callbacksAndRetention() throws Exception {
        start();
        take(1, SAVEPOINT, 1);
        take(2, SAVEPOINT, 2);
        take(3, CHECKPOINT);
        complete(3);
        assertThat(fixture.tagManager().getOrThrow("savepoint-1").getTagTimeRetained())
                .isEqualTo(Duration.ofDays(3));
        abort(2);

        assertThat(callbacks.journal())
                .containsExactly(
                        "created savepoint-1@1 #1",
                        "created savepoint-2@2 #2",
                        "deleted savepoint-2 #3");
        assertThat(callbacks.open()).isZero();
    }

    @Test
    @DisplayName("T7: without savepoints no tag is looked at")
    void withoutSavepoints() throws Exception {
        start();
        fixture.fileIO().reset();
        take(1, CHECKPOINT, 1);
        complete(1);

        assertThat(fixture.fileIO().log()).doesNotContain("/tag");
    }

    @Test
    @DisplayName("T8: a savepoint for which there is nothing to commit gets no tag, then or later")
    void emptySavepoint() throws Exception {
        start();
        take(1, SAVEPOINT);
        take(2, CHECKPOINT, 1);
        complete(2);
        OperatorSubtaskState state = take(3, CHECKPOINT, 2);
        complete(3);
        restart(state);

        assertThat(fixture.tags()).isEmpty();
        assertThat(identifiers()).containsExactly(2L, 3L);
    }

    @Test
    @DisplayName(
            "T8: with commit.force-create-snapshot an empty savepoint that completes is tagged")
    void forcedEmptySynchronousSavepoint() throws Exception {
        options.put("commit.force-create-snapshot", "true");
        start();
        take(1, CHECKPOINT, 1);
        complete(1);
        take(2, SavepointType.suspend(SavepointFormatType.CANONICAL));
        complete(2);

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.tags()).containsExactly("savepoint-2");
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1);
    }

    @Test
    @DisplayName(
            "T8: on this path the option forces the completed checkpoint alone, as in the base")
    void forcedEmptyAsynchronousSavepoint() throws Exception {
        options.put("commit.force-create-snapshot", "true");
        start();
        take(1, SAVEPOINT);
        take(2, CHECKPOINT);
        complete(2);

        assertThat(identifiers()).containsExactly(2L);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A1: an abort withdraws a savepoint before its commit, and its tag after it")
    void aborts() throws Exception {
        start();
        take(1, SAVEPOINT, 1);
        abort(1);
        take(2, SAVEPOINT, 2);
        take(3, CHECKPOINT, 3);
        complete(3);
        assertThat(fixture.tags()).containsExactly("savepoint-2");
        abort(2);

        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("A5: a restore from the savepoint commits and tags it, and again without harm")
    void restoreFromTheSavepoint() throws Exception {
        start();
        OperatorSubtaskState state = take(1, SAVEPOINT, 1);
        for (int i = 0; i < 2; i++) {
            restart(state);
            assertThat(identifiers()).containsExactly(1L);
            assertThat(fixture.tags()).containsExactly("savepoint-1");
            assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
        }
        take(2, CHECKPOINT, 2);
        complete(2);
        assertThat(fixture.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A4: a savepoint that was committed without its tag is tagged by the restore")
    void crashBetweenCommitAndTag() throws Exception {
        start();
        take(1, SAVEPOINT, 1);
        OperatorSubtaskState state = take(2, CHECKPOINT, 2);
        hooks.after(
                identifier -> {
                    throw new IOException("crash");
                });
        assertThatThrownBy(() -> complete(2)).hasMessageContaining("crash");
        assertThat(identifiers()).containsExactly(1L);
        assertThat(fixture.tags()).isEmpty();
        restart(state);

        assertThat(identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("T10: 1,100 commits of others before the restore do not hide the savepoint")
    void manyForeignCommitsBeforeTheRestore() throws Exception {
        start();
        fixture.commit("another-job", 1, 100);
        OperatorSubtaskState state = take(1, SAVEPOINT, 1);
        fixture.manySnapshots("another-job", 1_100);
        restart(state, 1);

        assertThat(fixture.tagManager().getOrThrow("savepoint-1").id()).isEqualTo(1_102);
    }

    @Test
    @DisplayName("A4: after all own snapshots have expired a restored savepoint is not doubled")
    void expiredHistory() throws Exception {
        start();
        take(1, CHECKPOINT, 1);
        complete(1);
        OperatorSubtaskState state = take(2, SAVEPOINT, 2);
        complete(2);
        fixture.commit("another-job", 1, 100);
        fixture.expireAllBut(1);
        fixture.table().deleteTag("savepoint-2");
        restart(state, 2);

        assertThat(fixture.ids()).containsExactly(1, 2, 100);
        assertThat(fixture.tags()).isEmpty();
    }

    @Test
    @DisplayName("A4: the same when a compaction job has rewritten its files, which the tag keeps")
    void expiredHistoryAfterACompaction() throws Exception {
        start();
        take(1, CHECKPOINT, 1);
        complete(1);
        OperatorSubtaskState state = take(2, SAVEPOINT, 2);
        complete(2);
        fixture.compact("compactor", 1);
        fixture.expireAllBut(1);
        restart(state, 2);

        assertThat(fixture.ids()).containsExactly(1, 2);
        assertThat(fixture.tags()).containsExactly("savepoint-2");
    }

    @Test
    @DisplayName("T5, A4: a second savepoint of one id is committed and gets a tag of its own")
    void identifiersUsedTwice() throws Exception {
        start();
        take(1, CHECKPOINT, 1);
        complete(1);
        OperatorSubtaskState first = take(2, SAVEPOINT, 2);
        take(3, CHECKPOINT, 3);
        complete(3);
        take(4, SAVEPOINT, 4);
        take(5, CHECKPOINT, 5);
        complete(5);
        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4");

        restart(first, 2);
        take(3, CHECKPOINT, 30);
        complete(3);
        OperatorSubtaskState second = take(4, SAVEPOINT, 40);
        restart(second, 4);
        assertThat(fixture.ids()).containsExactly(1, 2, 3, 4, 5, 30, 40);
        assertThat(fixture.tags()).containsExactly("savepoint-2", "savepoint-4", "savepoint-4-7");
        assertThat(fixture.idsAtTag("savepoint-4")).containsExactly(1, 2, 3, 4);
        restart(second, 4);
        assertThat(fixture.ids()).containsExactly(1, 2, 3, 4, 5, 30, 40);
    }

    @Test
    @DisplayName("anchor: a table rolled back behind it is restored and tagged on this path")
    void anchorBeyondTheTable() throws Exception {
        start();
        take(1, CHECKPOINT, 1);
        complete(1);
        for (int id = 2; id <= 9; id++) {
            take(id, CHECKPOINT, id);
            complete(id);
        }
        OperatorSubtaskState state = take(12, SAVEPOINT, 12);
        fixture.table().rollbackTo(1);
        restart(state, 12);

        assertThat(fixture.ids()).containsExactly(1, 12);
        assertThat(fixture.idsAtTag("savepoint-12")).containsExactly(1, 12);
    }

    @Test
    @DisplayName("S4: what the state says of another checkpoint than the restored one is ignored")
    void staleProgress() throws Exception {
        start();
        OperatorSubtaskState state = take(2, SAVEPOINT, 2);
        // A build without runs goes on with the same commit user and carries the state along.
        fixture.commit(USER, 7, 7);
        restart(state, 7);

        assertThat(fixture.ids()).as("2 was committed by that build").containsExactly(7);
        assertThat(fixture.tags()).isEmpty();
    }

    // ------------------------------------------------------------------------

    @Test
    @DisplayName("T9: over an operator that another factory made it tags as well, also on restore")
    void overAForeignOperator() throws Exception {
        foreign = true;
        start();
        OperatorSubtaskState state = take(1, SAVEPOINT, 1);
        restart(state);
        assertThat(identifiers()).containsExactly(1L);
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        take(2, SAVEPOINT, 2);
        take(3, CHECKPOINT, 3);
        complete(3);

        assertThat(fixture.tags()).containsExactly("savepoint-1", "savepoint-2");
        assertThat(fixture.idsAtTag("savepoint-2")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T9: what does not concern savepoints is the wrapped operator's business")
    void passesEverythingElseOn() throws Exception {
        AtomicReference<RecordingOperator> made = new AtomicReference<>();
        harness =
                new OneInputStreamOperatorTestHarness<>(
                        new OperatorFactory(
                                parameters -> {
                                    made.set(new RecordingOperator(parameters));
                                    return new AutoTagForSavepointCommitterOperator<>(
                                            made.get(),
                                            () -> null,
                                            () -> null,
                                            () -> null,
                                            () -> null,
                                            null);
                                }),
                        1,
                        1,
                        0);
        harness.setup();
        AutoTagForSavepointCommitterOperator<?, ?> unchecked =
                (AutoTagForSavepointCommitterOperator<?, ?>) harness.getOneInputOperator();
        @SuppressWarnings("unchecked")
        AutoTagForSavepointCommitterOperator<Committable, ManifestCommittable> operator =
                (AutoTagForSavepointCommitterOperator<Committable, ManifestCommittable>) unchecked;
        RecordingOperator wrapped = made.get();
        List<String> journal = wrapped.journal;
        journal.clear();
        StreamRecord<Committable> element = new StreamRecord<>(null);
        operator.open();
        operator.setKeyContextElement(element);
        operator.setKeyContextElement1(element);
        operator.setKeyContextElement2(element);
        operator.processElement(element);
        operator.processWatermark(new Watermark(7));
        operator.processWatermarkStatus(WatermarkStatus.IDLE);
        operator.processLatencyMarker(new LatencyMarker(8, wrapped.getOperatorID(), 0));
        operator.prepareSnapshotPreBarrier(9);
        operator.setCurrentKey("key");
        operator.endInput();
        operator.finish();
        operator.close();

        assertThat(journal)
                .containsExactly(
                        "open",
                        "key of an element",
                        "key 1",
                        "key 2",
                        "element",
                        "watermark 7",
                        "idle",
                        "latency 8",
                        "barrier 9",
                        "key key",
                        "end of input",
                        "finish",
                        "close");
        assertThat(operator.getCurrentKey()).isEqualTo("the current key");
        assertThat(operator.getOperatorID()).isEqualTo(RecordingOperator.ID);
        assertThat(operator.getMetricGroup()).isSameAs(wrapped.metrics).isNotNull();
    }

    /** Makes the operator in the test's own way. */
    private static final class OperatorFactory extends AbstractStreamOperatorFactory<Committable>
            implements OneInputStreamOperatorFactory<Committable, Committable> {

        private static final long serialVersionUID = 1L;

        private final transient Function<
                        StreamOperatorParameters<Committable>, StreamOperator<Committable>>
                maker;

        private OperatorFactory(
                Function<StreamOperatorParameters<Committable>, StreamOperator<Committable>>
                        maker) {
            this.maker = maker;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T extends StreamOperator<Committable>> T createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            return (T) maker.apply(parameters);
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return AutoTagForSavepointCommitterOperator.class;
        }
    }

    /** Writes down what it is told and does nothing. */
    private static final class RecordingOperator
            extends CommitterOperator<Committable, ManifestCommittable> {

        private static final long serialVersionUID = 1L;

        private static final OperatorID ID = new OperatorID(1, 2);

        private final transient List<String> journal = new ArrayList<>();
        private final transient OperatorMetricGroup metrics =
                UnregisteredMetricsGroup.createOperatorMetricGroup();

        private RecordingOperator(StreamOperatorParameters<Committable> parameters) {
            super(parameters, true, true, USER, context -> null, null, null);
        }

        @Override
        public void open() {
            journal.add("open");
        }

        @Override
        public void setKeyContextElement(StreamRecord<Committable> element) {
            journal.add("key of an element");
        }

        @Override
        @SuppressWarnings("rawtypes") // as the parent class declares it
        public void setKeyContextElement1(StreamRecord element) {
            journal.add("key 1");
        }

        @Override
        @SuppressWarnings("rawtypes") // as the parent class declares it
        public void setKeyContextElement2(StreamRecord element) {
            journal.add("key 2");
        }

        @Override
        public void processElement(StreamRecord<Committable> element) {
            journal.add("element");
        }

        @Override
        public void processWatermark(Watermark mark) {
            journal.add("watermark " + mark.getTimestamp());
        }

        @Override
        public void processWatermarkStatus(WatermarkStatus status) {
            journal.add(status.isIdle() ? "idle" : "active");
        }

        @Override
        public void processLatencyMarker(LatencyMarker marker) {
            journal.add("latency " + marker.getMarkedTime());
        }

        @Override
        public void prepareSnapshotPreBarrier(long checkpointId) {
            journal.add("barrier " + checkpointId);
        }

        @Override
        public void setCurrentKey(Object key) {
            journal.add("key " + key);
        }

        @Override
        public Object getCurrentKey() {
            return "the current key";
        }

        @Override
        public OperatorID getOperatorID() {
            return ID;
        }

        @Override
        public OperatorMetricGroup getMetricGroup() {
            return metrics;
        }

        @Override
        public void endInput() {
            journal.add("end of input");
        }

        @Override
        public void finish() {
            journal.add("finish");
        }

        @Override
        public void close() {
            journal.add("close");
        }
    }
}
