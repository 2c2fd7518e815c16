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
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.utils.SteppedEventLoop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** One line at INFO tells what became of a savepoint; nothing is logged per checkpoint. */
class SavepointStoryTest {

    private static final String PATH = "nowhere://host/savepoint-1";

    @TempDir private File directory;

    private final CapturedLog sessionLog = CapturedLog.of(CommitSession.class);
    private final CapturedLog commitLog = CapturedLog.ofPackageOf(SnapshotCommitter.class);
    private final CapturedLog taggerLog = CapturedLog.of(SavepointTagger.class);
    private CoordinatorFixture fixture;
    private SteppedEventLoop loop;
    private JobMasterMemory memory;
    private CommitSession session;
    private CoordinatorFixture.Writer writer0;
    private CoordinatorFixture.Writer writer1;

    @BeforeEach
    void begin() throws Exception {
        fixture = new CoordinatorFixture(directory);
        memory = fixture.memory();
        session =
                fixture.coordinator(
                        fixture.context,
                        Duration.ofSeconds(1),
                        onFailure -> loop = new SteppedEventLoop(onFailure),
                        memory);
        session.start();
        writer0 = fixture.writer(session, 0, 0, -1);
        writer1 = fixture.writer(session, 1, 0, -1);
        loop.runAll();
    }

    @AfterEach
    void closeLog() {
        logs().forEach(CapturedLog::close);
    }

    private void checkpoint(long id) {
        session.checkpointCoordinator(id, new CompletableFuture<>());
        loop.runAll();
    }

    private void takeSavepoint(int... rows) throws Exception {
        checkpoint(1);
        writer0.report(fixture.savepoint(1, rows).withSavepointPath(PATH));
        writer1.report(fixture.savepoint(1).withSavepointPath(PATH));
        loop.runAll();
    }

    private void takeCheckpoint(long id) throws Exception {
        checkpoint(id);
        writer0.report(fixture.report(id, 7));
        writer1.report(fixture.report(id));
        session.notifyCheckpointComplete(id);
        loop.runAll();
    }

    private Stream<CapturedLog> logs() {
        return Stream.of(sessionLog, commitLog, taggerLog);
    }

    private List<String> story() {
        return logs().flatMap(log -> log.messages().stream())
                .filter(line -> line.startsWith("INFO"))
                .collect(Collectors.toList());
    }

    @Test
    @DisplayName("A savepoint that is tagged: who reported it, its snapshot, its tag, its path")
    void tagged() throws Exception {
        takeSavepoint(1);
        takeCheckpoint(2);
        takeCheckpoint(3);

        assertThat(story())
                .containsExactly(
                        "INFO Savepoint 1 at "
                                + PATH
                                + ": reported by 2 of 2 writers, committed as snapshot 1, tagged as"
                                + " savepoint-1.");
    }

    @Test
    @DisplayName("T8: a savepoint without data")
    void withoutData() throws Exception {
        takeSavepoint();
        takeCheckpoint(2);

        assertThat(story())
                .containsExactly(
                        "INFO Savepoint 1 at "
                                + PATH
                                + ": reported by 2 of 2 writers, without data: no snapshot, so no"
                                + " tag.");
    }

    @Test
    @DisplayName("A1: a savepoint that is withdrawn by its abort")
    void aborted() throws Exception {
        takeSavepoint(1);
        memory.aborted().add(1);
        session.notifyCheckpointAborted(1);
        loop.runAll();
        takeCheckpoint(2);

        assertThat(story())
                .containsExactly(
                        "INFO Savepoint 1 at "
                                + PATH
                                + ": reported by 2 of 2 writers, withdrawn, as it was aborted. Its"
                                + " files are committed with a later checkpoint.");
    }

    @Test
    @DisplayName("A3: a savepoint that is withdrawn by the reset of a writer")
    void reset() throws Exception {
        takeSavepoint(1);
        session.executionAttemptFailed(1, 0);
        session.subtaskReset(1, -1);
        loop.runAll();

        assertThat(story())
                .containsExactly(
                        "INFO Savepoint 1 at "
                                + PATH
                                + ": reported by 2 of 2 writers, withdrawn, as writer subtask 1 was"
                                + " reset to checkpoint -1. The files of the others are committed"
                                + " with a later checkpoint.");
    }

    @Test
    @DisplayName("A1, A3: one line tells of a savepoint that is aborted before a writer is reset")
    void abortedAndReset() throws Exception {
        takeSavepoint(1);
        memory.aborted().add(1);
        session.notifyCheckpointAborted(1);
        session.executionAttemptFailed(1, 0);
        session.subtaskReset(1, -1);
        loop.runAll();

        assertThat(story()).hasSize(1);
    }
}
