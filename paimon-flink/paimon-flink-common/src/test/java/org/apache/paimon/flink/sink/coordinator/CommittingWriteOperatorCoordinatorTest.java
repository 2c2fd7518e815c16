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

import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.tag.testutils.CapturedLog;
import org.apache.paimon.utils.ThreadEventLoop;

import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** A7: one session after the other, each with a thread of its own over a real table. */
class CommittingWriteOperatorCoordinatorTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir private File directory;

    private final List<CommittingWriteOperatorCoordinator> coordinators = new ArrayList<>();
    private final List<ThreadEventLoop> loops = new ArrayList<>();
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private CoordinatorFixture fixture;

    /** The memory of the JobMaster in which the next coordinator starts. */
    private JobMasterMemory jobMaster;

    @BeforeEach
    void begin() throws Exception {
        fixture = new CoordinatorFixture(directory);
        jobMaster = fixture.memory();
    }

    @AfterEach
    void end() {
        released.countDown();
        coordinators.forEach(CommittingWriteOperatorCoordinator::close);
        await("all threads dead", () -> loops.stream().allMatch(ThreadEventLoop::terminated));
    }

    private CommittingWriteOperatorCoordinator coordinator(MockOperatorCoordinatorContext context) {
        return coordinator(context, Duration.ofMillis(1));
    }

    private CommittingWriteOperatorCoordinator coordinator(
            MockOperatorCoordinatorContext context, Duration closeDeadline) {
        CommitRun run = CommitRun.begin(context.getJobID().toHexString());
        JobMasterMemory memoryOfNow = jobMaster;
        CommittingWriteOperatorCoordinator coordinator =
                new CommittingWriteOperatorCoordinator(
                        memory -> {
                            try {
                                return fixture.coordinator(
                                        context,
                                        closeDeadline,
                                        onFailure -> {
                                            ThreadEventLoop loop =
                                                    ThreadEventLoop.create(
                                                            "committer-" + loops.size(),
                                                            getClass().getClassLoader(),
                                                            onFailure);
                                            loops.add(loop);
                                            return loop;
                                        },
                                        run,
                                        memory);
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        },
                        () -> memoryOfNow,
                        CommittingWriteOperatorCoordinator::onThreadOfItsOwn);
        coordinators.add(coordinator);
        return coordinator;
    }

    /**
     * Lets the commit of an identifier hang right before the table's commit, deaf to interrupts.
     */
    private void hangAt(long identifier) {
        fixture.hooks.before(
                asked -> {
                    if (asked != identifier || hanging.getCount() == 0) {
                        return;
                    }
                    hanging.countDown();
                    while (true) {
                        try {
                            released.await();
                            return;
                        } catch (InterruptedException e) {
                            // that is what it is deaf to
                        }
                    }
                });
    }

    private static void await(String condition, Callable<Boolean> holds) {
        Awaitility.await(condition).atMost(PATIENCE).until(holds);
    }

    private static byte[] checkpoint(CommittingWriteOperatorCoordinator coordinator, long id)
            throws Exception {
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        coordinator.checkpointCoordinator(id, result);
        return result.get(PATIENCE.getSeconds(), TimeUnit.SECONDS);
    }

    private static void awaitCommit(CommittingWriteOperatorCoordinator coordinator, long id)
            throws Exception {
        AwaitCommitResponse response =
                CoordinationResponseUtils.unwrap(
                        coordinator
                                .handleCoordinationRequest(new AwaitCommitRequest(0, id))
                                .get(PATIENCE.getSeconds(), TimeUnit.SECONDS));
        assertThat(response.failure()).isNull();
    }

    @Test
    @DisplayName("A7: a coordinator has no thread before its start, so none sees it half made")
    void noThreadRunsBeforeTheStart() throws Exception {
        OperatorCoordinator coordinator =
                new CommittingWriteOperatorCoordinator.Provider(
                                fixture.context.getOperatorId(),
                                fixture.table.table(),
                                committerContext -> {
                                    throw new IllegalStateException("no committer in this test");
                                },
                                CoordinatorFixture.USER)
                        .create(fixture.context);
        String thread = "paimon-committer-" + fixture.context.getOperatorId();

        assertThat(runningThreads()).doesNotContain(thread);
        coordinator.start();
        await("the thread runs", () -> runningThreads().contains(thread));
        await("it works", fixture.context::isJobFailed);
        coordinator.close();
        await("the thread is dead", () -> !runningThreads().contains(thread));
    }

    private static List<String> runningThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .collect(Collectors.toList());
    }

    // ------------------------------------------------------------------------
    //  A7
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: while a commit hangs the successor commits nothing, and then no row twice")
    void successorWaitsForAHangingCommit() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        EncodedReport[] reports = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        fixture.writer(coordinator, 0, 0, -1).report(reports[0]);
        fixture.writer(coordinator, 1, 0, -1).report(reports[1]);
        byte[] state = checkpoint(coordinator, 1);
        hangAt(1);
        coordinator.notifyCheckpointComplete(1);
        assertThat(hanging.await(PATIENCE.getSeconds(), TimeUnit.SECONDS)).isTrue();

        try (CapturedLog log = CapturedLog.of(CommitterLock.class)) {
            coordinator.resetToCheckpoint(1, state);
            fixture.writer(coordinator, 0, 1, 1, reports[0]);
            fixture.writer(coordinator, 1, 1, 1, reports[1]);
            await(
                    "the successor says that it waits",
                    () -> log.messages().stream().anyMatch(m -> m.contains("Waiting for")));
        }
        assertThat(loops).hasSize(2);
        assertThat(loops.get(0).terminated()).isFalse();
        assertThat(fixture.hooks.asked()).containsExactly(1L);
        assertThat(fixture.identifiers()).isEmpty();

        released.countDown();
        awaitCommit(coordinator, 1);
        assertThat(loops.get(0).terminated()).isTrue();
        assertThat(fixture.identifiers()).containsExactly(1L);
        assertThat(fixture.table.ids()).containsExactly(1, 2);
        assertThat(fixture.table.idsAtTag("savepoint-1")).containsExactly(1, 2);
        assertThat(fixture.context.isJobFailed()).isFalse();
    }

    @Test
    @DisplayName("A7: the same across two JobMasters of one process")
    void successorOfAnotherJobMasterWaits() throws Exception {
        CommittingWriteOperatorCoordinator first = coordinator(fixture.context);
        first.start();
        EncodedReport[] reports = {fixture.report(1, 1), fixture.report(1, 2)};
        fixture.writer(first, 0, 0, -1).report(reports[0]);
        fixture.writer(first, 1, 0, -1).report(reports[1]);
        byte[] state = checkpoint(first, 1);
        hangAt(1);
        first.notifyCheckpointComplete(1);
        assertThat(hanging.await(PATIENCE.getSeconds(), TimeUnit.SECONDS)).isTrue();
        first.close(); // returns although the commit hangs

        jobMaster = fixture.memory();
        CommittingWriteOperatorCoordinator second = coordinator(CoordinatorFixture.newContext());
        try (CapturedLog log = CapturedLog.of(CommitterLock.class)) {
            second.resetToCheckpoint(1, state);
            second.start();
            fixture.writer(second, 0, 1, 1, reports[0]);
            fixture.writer(second, 1, 1, 1, reports[1]);
            await(
                    "the successor says that it waits",
                    () -> log.messages().stream().anyMatch(m -> m.contains("Waiting for")));
        }
        assertThat(fixture.identifiers()).isEmpty();

        released.countDown();
        awaitCommit(second, 1);
        assertThat(fixture.identifiers()).containsExactly(1L);
        assertThat(fixture.table.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A7: a closed session starts no further commit, also in the middle of its batch")
    void closedLifeStopsWithinItsBatch() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        EncodedReport[] savepoints = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        EncodedReport[] reports = {fixture.report(2, 3), fixture.report(2, 4)};
        for (int i = 0; i < 2; i++) {
            fixture.writer(coordinator, i, 0, -1).report(savepoints[i]).report(reports[i]);
        }
        byte[] state = checkpoint(coordinator, 2);
        hangAt(1);
        coordinator.notifyCheckpointComplete(2);
        assertThat(hanging.await(PATIENCE.getSeconds(), TimeUnit.SECONDS)).isTrue();
        coordinator.resetToCheckpoint(2, state);
        await("the first session is told to stop", () -> loops.get(0).cancelled());
        released.countDown();
        await("the first session is over", () -> loops.get(0).terminated());

        // The successor has not heard of the writers yet: whatever is there is of the first
        // session.
        assertThat(fixture.hooks.asked()).containsExactly(1L);
        for (int i = 0; i < 2; i++) {
            fixture.writer(coordinator, i, 1, 2, savepoints[i], reports[i]);
        }
        awaitCommit(coordinator, 2);
        assertThat(fixture.identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4);
        assertThat(fixture.table.idsAtTag("savepoint-1")).containsExactly(1, 2);
    }

    @Test
    @DisplayName(
            "L2, A7: a job that ends behind a hanging commit gives up its savepoint after that")
    void jobEndsBehindAHangingCommit(@TempDir Path savepoint) throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        String path = savepoint.toUri().toString();
        for (int i = 0; i < 2; i++) {
            fixture.writer(coordinator, i, 0, -1)
                    .report(fixture.savepoint(1, i).withSavepointPath(path))
                    .report(fixture.report(2, i + 2));
        }
        byte[] state = checkpoint(coordinator, 2);
        hangAt(2);
        coordinator.notifyCheckpointComplete(2);
        assertThat(hanging.await(PATIENCE.getSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        try (CapturedLog log = CapturedLog.of(CommitterLock.class)) {
            coordinator.resetToCheckpoint(2, state);
            await(
                    "the next session waits",
                    () -> log.messages().stream().anyMatch(m -> m.contains("Waiting for")));
            coordinator.close();
            await("the next session is over", () -> loops.get(1).terminated());
            await(
                    "its closer waits in its place",
                    () ->
                            log.messages().stream().filter(m -> m.contains("Waiting for")).count()
                                    > 1);
        }
        assertThat(loops.get(0).terminated()).isFalse();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        released.countDown();
        await("the tag is gone", () -> fixture.table.tags().isEmpty());
    }

    @Test
    @DisplayName("A7: within the deadline a closing session finishes what is queued")
    void closingLifeFinishesItsQueue() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context, PATIENCE);
        coordinator.start();
        fixture.writer(coordinator, 0, 0, -1).report(fixture.savepoint(1, 1));
        fixture.writer(coordinator, 1, 0, -1).report(fixture.savepoint(1, 2));
        coordinator.notifyCheckpointComplete(1);
        coordinator.close();
        await("the thread is dead", () -> loops.get(0).terminated());

        assertThat(fixture.identifiers()).containsExactly(1L);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");
    }

    @Test
    @DisplayName("A7: a reset after the close begins no new session")
    void noLifeAfterTheClose() {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        coordinator.close();
        coordinator.close();
        coordinator.resetToCheckpoint(1, null);

        assertThat(loops).hasSize(1);
    }

    // ------------------------------------------------------------------------
    //  From session to session
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A1: what was aborted in one session stays withdrawn in the next")
    void abortsAreRemembered() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        EncodedReport[] savepoints = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        EncodedReport[] reports = {fixture.report(2, 3), fixture.report(2, 4)};
        for (int i = 0; i < 2; i++) {
            fixture.writer(coordinator, i, 0, -1).report(savepoints[i]).report(reports[i]);
        }
        byte[] state = checkpoint(coordinator, 2);
        // 2 completes with the flagged reports of 1 in its state; then 1 is aborted, then all
        // fails.
        coordinator.notifyCheckpointComplete(2);
        coordinator.notifyCheckpointAborted(1);
        coordinator.resetToCheckpoint(2, state);
        for (int i = 0; i < 2; i++) {
            fixture.writer(coordinator, i, 1, 2, savepoints[i], reports[i]);
        }
        awaitCommit(coordinator, 2);

        assertThat(fixture.identifiers()).containsExactly(1L, 2L);
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4);
        assertThat(fixture.table.tags()).isEmpty();
    }

    @Test
    @DisplayName("A4: a reset before the start takes effect at the start, in the first session")
    void resetBeforeTheStart() throws Exception {
        CommittingWriteOperatorCoordinator first = coordinator(fixture.context);
        first.start();
        byte[] state = checkpoint(first, 1);
        first.close();
        await("the first thread is dead", () -> loops.get(0).terminated());

        jobMaster = fixture.memory();
        CommittingWriteOperatorCoordinator second = coordinator(CoordinatorFixture.newContext());
        second.resetToCheckpoint(1, state);
        second.start();
        assertThat(loops).hasSize(2);
        fixture.writer(second, 0, 0, 1, fixture.report(1, 1));
        fixture.writer(second, 1, 0, 1, fixture.report(1, 2));
        awaitCommit(second, 1);

        assertThat(fixture.table.ids()).containsExactly(1, 2);
    }

    @Test
    @DisplayName("A7: a failure in a session that is over does not fail the job of its successor")
    void failureOfAPredecessor() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context, PATIENCE);
        coordinator.start();
        EncodedReport[] reports = {fixture.report(1, 1), fixture.report(1, 2)};
        fixture.writer(coordinator, 0, 0, -1).report(reports[0]);
        fixture.writer(coordinator, 1, 0, -1).report(reports[1]);
        byte[] state = checkpoint(coordinator, 1);
        hangAt(1);
        fixture.hooks.after(
                identifier -> {
                    fixture.hooks.clear();
                    throw new IllegalStateException("too late to matter");
                });
        coordinator.notifyCheckpointComplete(1);
        assertThat(hanging.await(PATIENCE.getSeconds(), TimeUnit.SECONDS)).isTrue();
        CompletableFuture<CoordinationResponse> waiting =
                coordinator.handleCoordinationRequest(new AwaitCommitRequest(0, 1));
        coordinator.resetToCheckpoint(1, state);
        released.countDown();
        fixture.writer(coordinator, 0, 1, 1, reports[0]);
        fixture.writer(coordinator, 1, 1, 1, reports[1]);
        awaitCommit(coordinator, 1);

        assertThat(fixture.context.isJobFailed()).isFalse();
        assertThat(fixture.table.ids()).containsExactly(1, 2);
        await("the request to the first session is answered", waiting::isDone);
        AwaitCommitResponse response = CoordinationResponseUtils.unwrap(waiting.get());
        assertThat(response.failure()).isNotNull();
    }

    @Test
    @DisplayName("A1, A8: a tag that could not be deleted is deleted by the next session")
    void deletionIsTriedAgain() throws Exception {
        CommittingWriteOperatorCoordinator coordinator = coordinator(fixture.context);
        coordinator.start();
        CoordinatorFixture.Writer[] writers = {
            fixture.writer(coordinator, 0, 0, -1), fixture.writer(coordinator, 1, 0, -1)
        };
        writers[0].report(fixture.savepoint(1, 1)).report(fixture.report(2, 3));
        writers[1].report(fixture.savepoint(1, 2)).report(fixture.report(2));
        byte[] state = checkpoint(coordinator, 2);
        coordinator.notifyCheckpointComplete(2);
        awaitCommit(coordinator, 2);
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        fixture.table
                .fileIO()
                .hook(
                        (call, path) -> {
                            if (path.getName().equals("tag-savepoint-1")) {
                                throw new IOException("the store is away");
                            }
                        });
        coordinator.notifyCheckpointAborted(1);
        await("the failed deletion fails the job", fixture.context::isJobFailed);
        fixture.table.fileIO().clearHook();
        assertThat(fixture.table.tags()).containsExactly("savepoint-1");

        coordinator.resetToCheckpoint(2, state);
        fixture.writer(coordinator, 0, 1, 2, fixture.savepoint(1, 1), fixture.report(2, 3));
        fixture.writer(coordinator, 1, 1, 2, fixture.savepoint(1, 2), fixture.report(2));
        awaitCommit(coordinator, 2);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("A1: the adaptive scheduler's next coordinator knows what was aborted before it")
    void abortsOfAnEarlierCoordinator() throws Exception {
        CommittingWriteOperatorCoordinator first = coordinator(fixture.context);
        first.start();
        EncodedReport[] savepoints = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        EncodedReport[] reports = {fixture.report(2, 3), fixture.report(2, 4)};
        for (int i = 0; i < 2; i++) {
            fixture.writer(first, i, 0, -1).report(savepoints[i]).report(reports[i]);
        }
        byte[] state = checkpoint(first, 2);
        first.notifyCheckpointComplete(2);
        awaitCommit(first, 2);
        first.notifyCheckpointAborted(1);
        first.close();
        await("the first thread is dead", () -> loops.get(0).terminated());
        assertThat(fixture.table.tags()).isEmpty();

        CommittingWriteOperatorCoordinator second = coordinator(CoordinatorFixture.newContext());
        second.resetToCheckpoint(2, state);
        second.start();
        for (int i = 0; i < 2; i++) {
            fixture.writer(second, i, 1, 2, savepoints[i], reports[i]);
        }
        awaitCommit(second, 2);
        assertThat(fixture.table.tags()).isEmpty();
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4);
    }

    @Test
    @DisplayName("A4: a failover leaves a deleted tag alone, also with the adaptive scheduler")
    void deletedTagStaysDeleted() throws Exception {
        CommittingWriteOperatorCoordinator first = coordinator(fixture.context);
        first.start();
        EncodedReport[] savepoints = {fixture.savepoint(1, 1), fixture.savepoint(1, 2)};
        EncodedReport[] reports = {fixture.report(2, 3), fixture.report(2, 4)};
        for (int i = 0; i < 2; i++) {
            fixture.writer(first, i, 0, -1).report(savepoints[i]).report(reports[i]);
        }
        byte[] state = checkpoint(first, 2);
        first.notifyCheckpointComplete(2);
        awaitCommit(first, 2);
        fixture.table.table().deleteTag("savepoint-1");
        first.close();
        await("the first thread is dead", () -> loops.get(0).terminated());

        for (boolean newJobMaster : new boolean[] {false, true}) {
            jobMaster = newJobMaster ? fixture.memory() : jobMaster;
            CommittingWriteOperatorCoordinator next = coordinator(CoordinatorFixture.newContext());
            next.resetToCheckpoint(2, state);
            next.start();
            for (int i = 0; i < 2; i++) {
                fixture.writer(next, i, 1, 2, savepoints[i], reports[i]);
            }
            awaitCommit(next, 2);
            assertThat(fixture.table.tags().contains("savepoint-1"))
                    .as("A5: made again in a new JobMaster alone")
                    .isEqualTo(newJobMaster);
            next.close();
            await(
                    "the threads are dead",
                    () -> loops.stream().allMatch(ThreadEventLoop::terminated));
        }
        assertThat(fixture.table.ids()).containsExactly(1, 2, 3, 4);
    }
}
