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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.SnapshotCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.UnconfirmedSavepoints;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.utils.SteppedEventLoop;

import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * L2: savepoint 1 is overtaken by checkpoint 2, which tags it, and may never complete. On a cluster
 * with one concurrent checkpoint Flink lets nothing overtake a savepoint, so the coordinator is
 * driven by hand here.
 */
class UnfinishedSavepointTest {

    @TempDir private File directory;
    @TempDir private Path savepoints;

    private CoordinatorFixture fixture;
    private SteppedEventLoop loop;
    private CommittingWriteOperatorCoordinator coordinator;
    private CoordinatorFixture.Writer writer0;
    private CoordinatorFixture.Writer writer1;
    private Path savepoint;
    private EncodedReport savepoint0;
    private EncodedReport savepoint1;
    private EncodedReport checkpoint0;
    private EncodedReport checkpoint1;

    @BeforeEach
    void begin() throws Exception {
        fixture = new CoordinatorFixture(directory);
        savepoint = savepoints.resolve("savepoint-1a2b");
    }

    /** A JobManager of its own, with a memory of its own. */
    private void start(long restoredCheckpointId, byte[] state) throws Exception {
        if (loop != null) {
            // The JobManager before has died with its event loop.
            CommitterLock.release(loop);
        }
        JobMasterMemory memory = fixture.memory();
        coordinator =
                new CommittingWriteOperatorCoordinator(
                        ofJobMaster -> {
                            try {
                                return fixture.coordinator(
                                        fixture.context,
                                        Duration.ofSeconds(1),
                                        onFailure -> loop = new SteppedEventLoop(onFailure),
                                        ofJobMaster);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        () -> memory,
                        closing -> {
                            loop.runAll();
                            closing.run();
                        });
        if (state != null) {
            coordinator.resetToCheckpoint(restoredCheckpointId, state);
        }
        coordinator.start();
    }

    private byte[] checkpoint(long id) throws Exception {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        coordinator.checkpointCoordinator(id, result);
        loop.runAll();
        return result.get();
    }

    private void complete(long id) {
        coordinator.notifyCheckpointComplete(id);
        loop.runAll();
    }

    /** Savepoint 1 is pending, checkpoint 2 is taken; returns the state in it. */
    private byte[] takeBoth(String path) throws Exception {
        Files.createDirectories(savepoint);
        start(-1, null);
        writer0 = fixture.writer(coordinator, 0, 0, -1);
        writer1 = fixture.writer(coordinator, 1, 0, -1);
        loop.runAll();
        checkpoint(1);
        savepoint0 = fixture.savepoint(1, 1).withSavepointPath(path);
        savepoint1 = fixture.savepoint(1, 2).withSavepointPath(path);
        writer0.report(savepoint0);
        writer1.report(savepoint1);
        byte[] state = checkpoint(2);
        checkpoint0 = fixture.report(2, 3);
        checkpoint1 = fixture.report(2);
        writer0.report(checkpoint0);
        writer1.report(checkpoint1);
        loop.runAll();
        return state;
    }

    private byte[] takeBoth() throws Exception {
        return takeBoth(savepoint.toUri().toString());
    }

    /** One more checkpoint, which knows that the savepoint is tagged. */
    private byte[] takeAnother(long id) throws Exception {
        byte[] state = checkpoint(id);
        writer0.report(fixture.report(id));
        writer1.report(fixture.report(id));
        complete(id);
        return state;
    }

    private void writeMetadata(Path at) throws Exception {
        Files.createDirectories(at);
        try (OutputStream out = Files.newOutputStream(at.resolve("_metadata"))) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(1, Collections.emptyList(), Collections.emptyList()),
                    out);
        }
    }

    /** The JobManager dies; another one restores checkpoint 2 with what the writers replay. */
    private void restoreSecond(byte[] state) throws Exception {
        start(2, state);
        fixture.writer(coordinator, 0, 1, 2, savepoint0, checkpoint0);
        fixture.writer(coordinator, 1, 1, 2, savepoint1, checkpoint1);
        loop.runAll();
    }

    @Test
    @DisplayName("L2: the JobManager dies between the overtaking checkpoint and the abort")
    void jobManagerDiesBehindTheOvertakingCheckpoint() throws Exception {
        byte[] state = takeBoth();
        complete(2);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        restoreSecondWithPath(state);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3);
    }

    /** As {@link #restoreSecond}, where the writers' side state says where the savepoint lies. */
    private void restoreSecondWithPath(byte[] state) throws Exception {
        start(2, state);
        fixture.writerWithSideState(coordinator, 0, 1, 2, savepoint0, checkpoint0);
        fixture.writerWithSideState(coordinator, 1, 1, 2, savepoint1, checkpoint1);
        loop.runAll();
    }

    @Test
    @DisplayName("L2: the same before anything was committed: the savepoint gets no tag")
    void jobManagerDiesBeforeTheCommit() throws Exception {
        byte[] state = takeBoth();
        restoreSecondWithPath(state);

        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.identifiers()).containsExactly(1L, 2L);
    }

    @Test
    @DisplayName("L2: the same with one more checkpoint completed before the death")
    void jobManagerDiesOneCheckpointLater() throws Exception {
        takeBoth();
        complete(2);
        byte[] state = takeAnother(3);
        start(3, state);
        fixture.writer(coordinator, 0, 1, 3, fixture.report(3));
        fixture.writer(coordinator, 1, 1, 3, fixture.report(3));
        loop.runAll();

        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("L2: a job that is cancelled while the savepoint is pending takes its tag along")
    void jobIsCancelled() throws Exception {
        takeBoth();
        complete(2);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        coordinator.close();

        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("L2: a savepoint that has completed keeps its tag when the job is cancelled")
    void completedSavepointKeepsItsTag() throws Exception {
        takeBoth();
        complete(2);
        writeMetadata(savepoint);
        coordinator.close();

        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("L2: once confirmed, a savepoint is never looked at again")
    void confirmedSavepointIsNotLookedAtAgain() throws Exception {
        takeBoth();
        complete(2);
        writeMetadata(savepoint);
        byte[] state = takeAnother(3);
        Files.delete(savepoint.resolve("_metadata"));
        byte[] later = takeAnother(4);
        coordinator.close();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        assertThat(later.length).isLessThan(state.length);
    }

    @Test
    @DisplayName("L2: a directory that is gone may have been moved: the tag stays, with a WARN")
    void movedSavepointKeepsItsTag() throws Exception {
        takeBoth();
        complete(2);
        byte[] state = takeAnother(3);
        Files.delete(savepoint);
        CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class);
        try {
            start(3, state);
            fixture.writer(coordinator, 0, 1, 3, fixture.report(3));
            fixture.writer(coordinator, 1, 1, 3, fixture.report(3));
            loop.runAll();
        } finally {
            log.close();
        }
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        assertThat(log.messages()).anyMatch(line -> line.contains("taken to have been moved"));
    }

    @Test
    @DisplayName("L2: the restored savepoint itself is confirmed, wherever it lies now")
    void restoredSavepointIsConfirmed() throws Exception {
        Files.createDirectories(savepoint);
        start(-1, null);
        writer0 = fixture.writer(coordinator, 0, 0, -1);
        writer1 = fixture.writer(coordinator, 1, 0, -1);
        loop.runAll();
        byte[] state = checkpoint(1);
        savepoint0 = fixture.savepoint(1, 1).withSavepointPath(savepoint.toUri().toString());
        savepoint1 = fixture.savepoint(1).withSavepointPath(savepoint.toUri().toString());

        start(1, state);
        fixture.writerWithSideState(coordinator, 0, 1, 1, savepoint0);
        fixture.writerWithSideState(coordinator, 1, 1, 1, savepoint1);
        loop.runAll();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("L2: metadata that is torn is none")
    void tornMetadataIsNone() throws Exception {
        takeBoth();
        complete(2);
        writeMetadata(savepoint);
        Path metadata = savepoint.resolve("_metadata");
        byte[] whole = Files.readAllBytes(metadata);
        Files.write(metadata, Arrays.copyOf(whole, whole.length / 2));
        coordinator.close();

        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("L2: where the path is not known, the savepoint counts as completed, with a WARN")
    void unknownPathCountsAsCompleted() throws Exception {
        CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class);
        try {
            byte[] state = takeBoth(null);
            complete(2);
            restoreSecond(state);
        } finally {
            log.close();
        }
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        assertThat(log.messages())
                .anyMatch(line -> line.contains("It is not known where savepoint 1"));
    }

    @Test
    @DisplayName("L2: where the file system does not answer, the savepoint counts as completed")
    void failingFileSystemCountsAsCompleted() throws Exception {
        takeBoth("nowhere://host/savepoints/savepoint-1a2b");
        complete(2);
        coordinator.close();

        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("A1, L2: an abort that arrives deletes the tag, and nothing is looked at any more")
    void abortEndsTheLook() throws Exception {
        takeBoth();
        complete(2);
        coordinator.notifyCheckpointAborted(1);
        loop.runAll();
        assertThat(fixture.table.tags()).isEmpty();
        fixture.table.table().createTag("savepoint-1", 1);
        coordinator.close();

        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("L2: a session that is cancelled before the replays arrive takes the tag along")
    void cancelledWhileRestoring() throws Exception {
        byte[] state = takeBoth();
        complete(2);
        coordinator.resetToCheckpoint(2, state);
        loop.runAll();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        coordinator.close();

        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("L2: what only the restored checkpoint knows loses its tag although nothing ran")
    void cancelledBeforeTheTableWasOpened() throws Exception {
        takeBoth();
        complete(2);
        byte[] state = takeAnother(3);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        start(3, state);
        loop.cancel();
        coordinator.close();
        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("L2: the same where the table cannot be looked at: the tag stays, with a WARN")
    void cancelledAndTheStateIsDamaged() throws Exception {
        takeBoth();
        complete(2);
        takeAnother(3);
        CapturedLog log = CapturedLog.of(SessionCommitter.class);
        try {
            start(3, new byte[] {1, 2, 3});
            loop.cancel();
            coordinator.close();
        } finally {
            log.close();
        }
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        assertThat(log.messages())
                .singleElement()
                .asString()
                .startsWith("WARN")
                .contains("before checkpoint 3", "sys.expire_savepoint_tags");
    }

    @Test
    @DisplayName(
            "L2, A8: a restart from before the savepoint finds its tag by what the snapshot names")
    void restoredFromBeforeTheSavepoint() throws Exception {
        start(-1, null);
        writer0 = fixture.writer(coordinator, 0, 0, -1);
        writer1 = fixture.writer(coordinator, 1, 0, -1);
        loop.runAll();
        byte[] state = takeAnother(1);
        Files.createDirectories(savepoint);
        Path completed = savepoints.resolve("savepoint-3c4d");
        writeMetadata(completed);
        savepointOf(2, savepoint);
        savepointOf(3, completed);
        takeAnother(4);
        assertThat(fixture.table.tags()).containsExactlyInAnyOrder("savepoint-2", "savepoint-3");

        CapturedLog log = CapturedLog.of(SnapshotCommitter.class);
        try {
            start(1, state);
            loop.runAll();
        } finally {
            log.close();
        }
        assertThat(fixture.table.tags()).containsExactly("savepoint-3");
        // A8
        assertThat(log.messages())
                .anyMatch(
                        line ->
                                line.contains("Or restore the savepoint")
                                        && line.contains(completed.toUri().toString()));
    }

    private void savepointOf(long id, Path path) throws Exception {
        checkpoint(id);
        writer0.report(fixture.savepoint(id, (int) id).withSavepointPath(path.toUri().toString()));
        writer1.report(fixture.savepoint(id).withSavepointPath(path.toUri().toString()));
        loop.runAll();
    }

    @Test
    @DisplayName("A1, L2: an abort that a failed session has seen is carried out when the job ends")
    void abortOfAFailedSession() throws Exception {
        takeBoth();
        complete(2);
        writeMetadata(savepoint);
        coordinator.handleEventFromOperator(0, 0, new OperatorEvent() {});
        loop.runAll();
        assertThat(fixture.context.isJobFailed()).isTrue();
        coordinator.notifyCheckpointAborted(1);
        loop.runAll();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
        coordinator.close();

        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("T7: with the option off a restore looks at no savepoint")
    void looksAtNothingWithTheOptionOff() throws Exception {
        takeBoth();
        complete(2);
        byte[] state = takeAnother(3);
        fixture.dynamicOptions.put("sink.savepoint.auto-tag", "false");
        CapturedLog log = CapturedLog.of(UnconfirmedSavepoints.class);
        try {
            start(3, state);
            loop.runAll();
        } finally {
            log.close();
        }
        assertThat(log.messages()).isEmpty();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }
}
