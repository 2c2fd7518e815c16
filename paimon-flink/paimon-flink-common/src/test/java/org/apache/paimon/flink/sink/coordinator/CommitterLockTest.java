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

import org.apache.paimon.utils.EventLoop;
import org.apache.paimon.utils.ThreadEventLoop;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A7: one event loop of this process per table and commit user. */
class CommitterLockTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String table = "table of " + System.nanoTime();
    private final List<ThreadEventLoop> loops = new ArrayList<>();

    @AfterEach
    void end() throws Exception {
        for (ThreadEventLoop loop : loops) {
            loop.close(Duration.ofMillis(1));
            CommitterLock.release(loop);
        }
    }

    private ThreadEventLoop loop() {
        ThreadEventLoop loop =
                ThreadEventLoop.create(
                        "loop-" + loops.size(), getClass().getClassLoader(), (name, t) -> {});
        loop.start();
        loops.add(loop);
        return loop;
    }

    /** Acquires the lock on the loop, as a coordinator does. */
    private static CompletableFuture<Void> acquire(
            String table, String user, EventLoop loop, BooleanSupplier closing) {
        CompletableFuture<Void> acquired = new CompletableFuture<>();
        loop.execute(
                "acquire",
                () -> {
                    try {
                        CommitterLock.acquire(table, user, loop, closing);
                        acquired.complete(null);
                    } catch (Throwable t) {
                        acquired.completeExceptionally(t);
                    }
                });
        return acquired;
    }

    private static void get(CompletableFuture<Void> acquired) throws Exception {
        acquired.get(PATIENCE.getSeconds(), TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("A7: other tables and other commit users have locks of their own")
    void independentLocks() throws Exception {
        get(acquire(table, "a", loop(), () -> false));
        get(acquire(table, "b", loop(), () -> false));
        get(acquire(table + "2", "a", loop(), () -> false));
    }

    @Test
    @DisplayName("A7: the lock of a loop that has ended is free, released or not")
    void endedLoop() throws Exception {
        ThreadEventLoop first = loop();
        get(acquire(table, "a", first, () -> false));
        assertThat(first.close(PATIENCE)).isTrue();
        get(acquire(table, "a", loop(), () -> false));
    }

    @Test
    @DisplayName("A7: a newcomer waits for a holder that is closing, until its thread is dead")
    void waitsForAClosingHolder() throws Exception {
        ThreadEventLoop first = loop();
        get(acquire(table, "a", first, () -> true));
        CompletableFuture<Void> second = acquire(table, "a", loop(), () -> false);
        first.close(PATIENCE);

        get(second);
        assertThat(first.terminated()).isTrue();
    }

    @Test
    @DisplayName("A7: a holder that is not closing belongs to another job: the newcomer fails")
    void failsBesideARunningJob() throws Exception {
        ThreadEventLoop first = loop();
        get(acquire(table, "a", first, () -> false));
        CompletableFuture<Void> second = acquire(table, "a", loop(), () -> false);

        assertThatThrownBy(() -> get(second))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("two jobs were started from one savepoint")
                .hasMessageContaining(table)
                .hasMessageContaining("commits as a ")
                .hasMessageContaining("sink.operator-uid.suffix");
        assertThat(first.terminated()).isFalse();
    }

    @Test
    @DisplayName(
            "fault 13: after its close nothing holds a coordinator, its loop or its class loader")
    void releasesEverything(@TempDir File directory) throws Exception {
        List<WeakReference<?>> references = openAndClose(new CoordinatorFixture(directory));

        Awaitility.await("coordinator, loop, context and class loader are collected")
                .atMost(PATIENCE)
                .until(
                        () -> {
                            System.gc();
                            return references.stream().allMatch(one -> one.get() == null);
                        });
    }

    private static List<WeakReference<?>> openAndClose(CoordinatorFixture fixture)
            throws Exception {
        ClassLoader userCode =
                new URLClassLoader(new URL[0], CommitterLockTest.class.getClassLoader());
        MockOperatorCoordinatorContext context =
                new MockOperatorCoordinatorContext(
                        new OperatorID(), CoordinatorFixture.PARALLELISM, userCode);
        List<EventLoop> made = new ArrayList<>();
        CommitSession coordinator =
                fixture.coordinator(
                        context,
                        PATIENCE,
                        onFailure -> {
                            made.add(ThreadEventLoop.create("committer", userCode, onFailure));
                            return made.get(0);
                        },
                        fixture.memory());
        coordinator.start();
        CompletableFuture<byte[]> running = new CompletableFuture<>();
        coordinator.checkpointCoordinator(1, running);
        running.get(PATIENCE.getSeconds(), TimeUnit.SECONDS);
        coordinator.close(false);

        List<WeakReference<?>> references = new ArrayList<>();
        references.add(new WeakReference<>(coordinator));
        references.add(new WeakReference<>(made.get(0)));
        references.add(new WeakReference<>(context));
        references.add(new WeakReference<>(userCode));
        return references;
    }
}
