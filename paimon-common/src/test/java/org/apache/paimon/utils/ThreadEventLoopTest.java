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

package org.apache.paimon.utils;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The loop on its thread. A deadline that must pass is one on a clock that the test moves; a
 * deadline that must not is an hour.
 */
@Timeout(60)
class ThreadEventLoopTest {

    private static final Duration AN_HOUR = Duration.ofHours(1);

    private final AtomicLong clock = new AtomicLong();
    private final List<String> failures = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch end = new CountDownLatch(1);

    private final ThreadEventLoop loop =
            started(
                    "the-loop",
                    clock::get,
                    (name, failure) -> failures.add(name + ": " + failure.getMessage()));

    @AfterEach
    void endTheThread() throws Exception {
        end.countDown();
        loop.close(AN_HOUR);
        assertThat(loop.terminated()).isTrue();
    }

    // ------------------------------------------------------------------------
    //  Running
    // ------------------------------------------------------------------------

    @Test
    void runsActionsOneAtATimeInTheirOrder() throws Exception {
        List<Integer> order = new ArrayList<>(); // touched by actions only, so without a lock
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            assertThat(loop.execute("add " + number, () -> order.add(number))).isTrue();
        }

        assertThat(loop.close(AN_HOUR)).isTrue();

        assertThat(order)
                .isEqualTo(IntStream.range(0, 10_000).boxed().collect(Collectors.toList()));
        assertThat(failures).isEmpty();
    }

    @Test
    void keepsTheOrderOfEachOfSeveralCallers() throws Exception {
        List<String> ran = new ArrayList<>();
        List<Thread> callers = new ArrayList<>();
        for (String caller : new String[] {"a", "b", "c"}) {
            Thread thread =
                    new Thread(
                            () -> {
                                for (int i = 0; i < 1_000; i++) {
                                    String name = caller + i;
                                    loop.execute(name, () -> ran.add(name));
                                }
                            });
            callers.add(thread);
            thread.start();
        }
        for (Thread caller : callers) {
            caller.join();
        }
        loop.close(AN_HOUR);

        assertThat(ran).hasSize(3_000);
        for (String caller : new String[] {"a", "b", "c"}) {
            assertThat(ran.stream().filter(name -> name.startsWith(caller)))
                    .containsExactlyElementsOf(
                            IntStream.range(0, 1_000)
                                    .mapToObj(i -> caller + i)
                                    .collect(Collectors.toList()));
        }
    }

    @Test
    void reportsAFailureToTheHandlerAndGoesOn() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        loop.execute(
                "commit 7",
                () -> {
                    throw new java.io.IOException("disk full");
                });
        loop.execute(
                "commit 8",
                () -> {
                    throw new StackOverflowError("deep");
                });
        loop.execute("commit 9", () -> ran.set(true));

        loop.close(AN_HOUR);

        assertThat(failures).containsExactly("commit 7: disk full", "commit 8: deep");
        assertThat(ran).isTrue();
    }

    @Test
    void survivesAHandlerThatFails() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        ThreadEventLoop fragile =
                started(
                        "fragile",
                        System::nanoTime,
                        (name, failure) -> {
                            throw new IllegalStateException("handler");
                        });
        fragile.execute(
                "fail",
                () -> {
                    throw new IllegalStateException("action");
                });
        fragile.execute("go on", () -> ran.set(true));

        assertThat(fragile.close(AN_HOUR)).isTrue();
        assertThat(ran).isTrue();
    }

    @Test
    void knowsWhetherTheCallerIsInside() throws Exception {
        List<Boolean> inside = new ArrayList<>();
        loop.execute(
                "look",
                () -> {
                    loop.assertInside();
                    inside.add(loop.inside());
                });
        loop.close(AN_HOUR);

        assertThat(inside).containsExactly(true);
        assertThat(failures).isEmpty();
        assertThat(loop.inside()).isFalse();
        assertThatThrownBy(loop::assertInside)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(Thread.currentThread().getName())
                .hasMessageContaining("the-loop");
    }

    @Test
    void runsOnADaemonOfThatNameWithThatClassLoader() throws Exception {
        ClassLoader userCode = new ClassLoader(getClass().getClassLoader()) {};
        AtomicReference<Thread> thread = new AtomicReference<>();
        AtomicReference<ClassLoader> classLoader = new AtomicReference<>();
        ThreadEventLoop other = ThreadEventLoop.create("other", userCode, (name, failure) -> {});
        other.start();
        other.execute(
                "look",
                () -> {
                    thread.set(Thread.currentThread());
                    classLoader.set(Thread.currentThread().getContextClassLoader());
                });
        other.close(AN_HOUR);

        assertThat(thread.get().getName()).isEqualTo("other");
        assertThat(thread.get().isDaemon()).isTrue();
        assertThat(classLoader.get()).isSameAs(userCode);
    }

    @Test
    void doesNotPassTheInterruptOfOneActionOnToTheNext() throws Exception {
        List<Boolean> cancelled = new ArrayList<>();
        loop.execute(
                "interrupted by a library",
                () -> {
                    Thread.currentThread().interrupt();
                    cancelled.add(loop.cancelled());
                });
        loop.execute("next", () -> cancelled.add(loop.cancelled()));
        loop.close(AN_HOUR);

        assertThat(cancelled).containsExactly(true, false);
    }

    @Test
    void saysWhatItIsDoing() throws Exception {
        block("commit 7");

        assertThat(loop).hasToString("event loop 'the-loop' (in 'commit 7')");
        end.countDown();
        loop.close(AN_HOUR);
        assertThat(loop).hasToString("event loop 'the-loop' (terminated)");
    }

    @Test
    void countsWhatIsQueuedAndHowLongItWorks() throws Exception {
        assertThat(loop.busyNanos()).isZero();
        block("commit 7");
        loop.execute("commit 8", () -> clock.addAndGet(3));
        loop.execute("commit 9", () -> {});
        assertThat(loop.queued()).isEqualTo(2);
        clock.addAndGet(7);
        assertThat(loop.busyNanos()).isEqualTo(7);

        end.countDown();
        loop.close(AN_HOUR);
        clock.addAndGet(100);
        assertThat(loop.queued()).isZero();
        assertThat(loop.busyNanos()).isEqualTo(10);
    }

    // ------------------------------------------------------------------------
    //  Closing
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: close lets what is queued run to its end, and takes nothing new")
    void closeDrainsTheQueue() throws Exception {
        List<String> ran = new ArrayList<>();
        block("commit 1");
        loop.execute("commit 2", () -> ran.add("commit 2"));
        loop.execute("abort 3", () -> ran.add("abort 3"));

        Closing closing = new Closing(AN_HOUR);
        await().untilAsserted(() -> assertThat(loop.execute("late", () -> {})).isFalse());
        assertThat(closing.result).hasValue(null);
        end.countDown();
        closing.join();

        assertThat(closing.result).hasValue(true);
        assertThat(ran).containsExactly("commit 2", "abort 3");
        assertThat(loop.terminated()).isTrue();
        assertThat(loop.cancelled()).isFalse();
        assertThat(loop.execute("much too late", () -> ran.add("too late"))).isFalse();
        assertThat(ran).hasSize(2);
    }

    @Test
    @DisplayName("A7: past the deadline the rest of the queue is dropped, the action interrupted")
    void closePastTheDeadlineInterruptsAndDrops() throws Exception {
        List<String> ran = Collections.synchronizedList(new ArrayList<>());
        AtomicBoolean cancelledInside = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(1);
        loop.execute(
                "commit 1",
                () -> {
                    started.countDown();
                    try {
                        end.await();
                    } finally {
                        cancelledInside.set(loop.cancelled());
                    }
                });
        loop.execute("commit 2", () -> ran.add("commit 2"));
        started.await();

        Closing closing = new Closing(Duration.ofSeconds(30));
        clock.addAndGet(Duration.ofSeconds(29).toNanos());
        assertThat(loop.cancelled()).isFalse();
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        closing.join();
        loop.awaitTermination(AN_HOUR, waited -> {});

        assertThat(cancelledInside).isTrue();
        assertThat(loop.cancelled()).isTrue();
        assertThat(ran).isEmpty();
        assertThat(failures).containsExactly("commit 1: null"); // the InterruptedException
        assertThat(loop.terminated()).isTrue();
    }

    @Test
    @DisplayName("A7: an action that ignores interrupts keeps the loop alive, and close says so")
    void closeReportsAThreadThatDoesNotDie() throws Exception {
        List<String> sideEffects = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch started = new CountDownLatch(1);
        loop.execute(
                "commit a batch",
                () -> {
                    sideEffects.add("first");
                    started.countDown();
                    awaitIgnoringInterrupts(end);
                    if (!loop.cancelled()) {
                        sideEffects.add("second");
                    }
                });
        loop.execute("commit another", () -> sideEffects.add("third"));
        started.await();

        assertThat(loop.close(Duration.ZERO)).isFalse();
        assertThat(loop.terminated()).isFalse();
        // again, and again not in vain
        assertThat(loop.close(Duration.ZERO)).isFalse();

        List<Duration> reported = new ArrayList<>();
        AtomicReference<Throwable> problem = new AtomicReference<>();
        Thread successor =
                new Thread(
                        () -> {
                            try {
                                loop.awaitTermination(
                                        Duration.ofSeconds(10),
                                        waited -> {
                                            reported.add(waited);
                                            if (reported.size() == 2) {
                                                end.countDown();
                                            }
                                        });
                            } catch (Throwable e) {
                                problem.set(e);
                            }
                        });
        successor.start();
        while (successor.isAlive()) {
            clock.addAndGet(Duration.ofSeconds(1).toNanos());
            successor.join(1);
        }

        assertThat(problem).hasValue(null);
        assertThat(reported).hasSizeGreaterThanOrEqualTo(2);
        assertThat(reported.get(0)).isGreaterThanOrEqualTo(Duration.ofSeconds(10));
        assertThat(reported.get(1)).isGreaterThan(reported.get(0));
        assertThat(loop.terminated()).isTrue();
        assertThat(sideEffects).containsExactly("first");
        assertThat(loop.close(Duration.ZERO)).isTrue();
    }

    @Test
    @DisplayName("A7: nobody minds the deadline when the closing thread is interrupted: cancelled")
    void interruptedCloseCancels() throws Exception {
        block("commit 1");
        AtomicBoolean ran = new AtomicBoolean();
        loop.execute("commit 2", () -> ran.set(true));

        Closing closing = new Closing(AN_HOUR);
        closing.thread.interrupt();
        closing.join();

        assertThat(closing.problem.get()).isInstanceOf(InterruptedException.class);
        assertThat(loop.cancelled()).isTrue();
        loop.awaitTermination(AN_HOUR, waited -> {});
        assertThat(ran).isFalse();
    }

    @Test
    void closingAnIdleLoopEndsItsThread() throws Exception {
        assertThat(loop.terminated()).isFalse();
        assertThat(loop.close(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
        assertThat(loop.terminated()).isTrue();
    }

    @Test
    void refusesToWaitForItself() throws Exception {
        loop.execute("close", () -> loop.close(AN_HOUR));
        loop.execute("await", () -> loop.awaitTermination(AN_HOUR, waited -> {}));
        loop.close(AN_HOUR);

        assertThat(failures)
                .containsExactly(
                        "close: close was called by an action of 'the-loop' and would wait for"
                                + " itself.",
                        "await: awaitTermination was called by an action of 'the-loop' and would"
                                + " wait for itself.");
    }

    @Test
    void anActionOfAClosingLoopCannotQueueAnother() throws Exception {
        List<Boolean> accepted = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch started = new CountDownLatch(1);
        loop.execute(
                "commit",
                () -> {
                    started.countDown();
                    end.await();
                    accepted.add(loop.execute("follow-up", () -> {}));
                });
        started.await();
        Closing closing = new Closing(AN_HOUR);
        await().untilAsserted(() -> assertThat(loop.execute("late", () -> {})).isFalse());
        end.countDown();
        closing.join();

        assertThat(closing.result).hasValue(true);
        assertThat(accepted).containsExactly(false);
    }

    @Test
    void asksTheFactoryForOneThread() throws Exception {
        AtomicLong asked = new AtomicLong();
        ThreadFactory factory =
                runnable -> {
                    asked.incrementAndGet();
                    return new Thread(runnable, "counted");
                };
        ThreadEventLoop counted =
                ThreadEventLoop.create(factory, System::nanoTime, (name, failure) -> {});
        counted.start();
        counted.execute("a", () -> {});
        counted.execute("b", () -> {});
        counted.close(AN_HOUR);

        assertThat(asked).hasValue(1);
    }

    // ------------------------------------------------------------------------
    //  Starting
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: no thread runs before the start, so that an owner can be constructed first")
    void runsNothingBeforeItsStart() throws Exception {
        List<String> ran = Collections.synchronizedList(new ArrayList<>());
        AtomicReference<Thread> thread = new AtomicReference<>();
        ThreadEventLoop created = created("new", thread);
        created.execute("open", () -> ran.add("open"));
        created.execute("reset", () -> ran.add("reset"));

        assertThat(thread.get().getState()).isEqualTo(Thread.State.NEW);
        assertThat(ran).isEmpty();
        assertThat(created.terminated()).isFalse();
        assertThat(created.cancelled()).isFalse();
        assertThat(created).hasToString("event loop 'new' (not started)");

        created.start();
        created.execute("commit", () -> ran.add("commit"));
        assertThat(created.close(AN_HOUR)).isTrue();
        assertThat(ran).containsExactly("open", "reset", "commit");
        assertThat(created).hasToString("event loop 'new' (terminated)");
    }

    @Test
    void isStartedOnce() {
        assertThatThrownBy(loop::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Event loop 'the-loop' was started already. It runs once: create another"
                                + " one.");
    }

    @Test
    @DisplayName("A7: a loop closed before its start is terminated at once and runs nothing")
    void closedBeforeItsStart() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        AtomicReference<Thread> thread = new AtomicReference<>();
        ThreadEventLoop created = created("new", thread);
        created.execute("open", () -> ran.set(true));

        try (CapturedLog log = CapturedLog.of(ThreadEventLoop.class)) {
            assertThat(created.close(Duration.ZERO)).isTrue();
            assertThat(log.messages())
                    .containsExactly(
                            "INFO Closed new before its start, dropped 1 actions ('open').");
        }

        assertThat(created.terminated()).isTrue();
        assertThat(created.cancelled()).isTrue();
        assertThat(created.execute("late", () -> ran.set(true))).isFalse();
        created.awaitTermination(AN_HOUR, waited -> {});
        assertThat(created.close(AN_HOUR)).isTrue();

        created.start();
        assertThat(thread.get().getState()).isEqualTo(Thread.State.NEW);
        assertThat(created.terminated()).isTrue();
        assertThat(ran).isFalse();
    }

    @Test
    @DisplayName("A7: a loop that is neither started nor closed is not dead: a successor waits")
    void awaitsALoopThatIsNotStarted() throws Exception {
        ThreadEventLoop created = created("new", new AtomicReference<>());
        AtomicReference<Throwable> problem = new AtomicReference<>();
        Thread successor =
                new Thread(
                        () -> {
                            try {
                                created.awaitTermination(AN_HOUR, waited -> {});
                            } catch (Throwable e) {
                                problem.set(e);
                            }
                        });
        successor.start();
        await().until(() -> successor.getState() == Thread.State.TIMED_WAITING);
        long cpuNanos = cpuNanos(successor);
        assertThat(successor.isAlive()).isTrue();

        created.start();
        CountDownLatch inAction = new CountDownLatch(1);
        created.execute("commit", inAction::countDown);
        assertThat(inAction.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(successor.isAlive()).isTrue();
        assertThat(cpuNanos(successor) - cpuNanos)
                .as("the waiting thread waits, and does not spin")
                .isLessThan(Duration.ofSeconds(1).toNanos());

        created.close(AN_HOUR);
        successor.join(30_000);
        assertThat(successor.isAlive()).isFalse();
        assertThat(problem).hasValue(null);
    }

    @Test
    @DisplayName("A7: start and close at once leave a loop that ran all or nothing, and is dead")
    void startAndCloseAtOnce() throws Exception {
        int startedFirst = 0;
        int closedFirst = 0;
        for (int round = 0; round < 2_000; round++) {
            AtomicLong ran = new AtomicLong();
            ThreadEventLoop created = created("raced", new AtomicReference<>());
            created.execute("a", ran::incrementAndGet);
            created.execute("b", ran::incrementAndGet);
            CyclicBarrier both = new CyclicBarrier(2);
            FutureTask<Void> starting =
                    new FutureTask<>(
                            () -> {
                                both.await();
                                created.start();
                                return null;
                            });
            new Thread(starting, "starting").start();
            both.await();
            boolean dead = created.close(AN_HOUR);
            long ranAtClose = ran.get();
            starting.get();

            assertThat(dead).isTrue();
            assertThat(created.terminated()).isTrue();
            assertThat(ran).hasValue(ranAtClose);
            assertThat(ranAtClose).isIn(0L, 2L);
            if (ranAtClose == 0) {
                closedFirst++;
            } else {
                startedFirst++;
            }
        }
        assertThat(startedFirst + closedFirst).isEqualTo(2_000);
    }

    @Test
    void mayBeStartedAgainWhenTheSystemRefusedTheThread() throws Exception {
        AtomicBoolean refuse = new AtomicBoolean(true);
        AtomicBoolean ran = new AtomicBoolean();
        ThreadEventLoop created =
                ThreadEventLoop.create(
                        runnable ->
                                new Thread(runnable, "refused") {
                                    @Override
                                    public synchronized void start() {
                                        if (refuse.get()) {
                                            throw new OutOfMemoryError("no native thread");
                                        }
                                        super.start();
                                    }
                                },
                        System::nanoTime,
                        (name, failure) -> {});
        created.execute("open", () -> ran.set(true));

        assertThatThrownBy(created::start).isInstanceOf(OutOfMemoryError.class);
        assertThat(created.terminated()).isFalse();
        refuse.set(false);
        created.start();

        assertThat(created.close(AN_HOUR)).isTrue();
        assertThat(ran).isTrue();
    }

    // ------------------------------------------------------------------------
    //  Log
    // ------------------------------------------------------------------------

    @Test
    @DisplayName("A7: what a cancelled loop drops is counted, and only the first few are named")
    void logOfDroppedActionsIsBounded() throws Exception {
        block("commit 1");
        for (int i = 2; i < 10_002; i++) {
            loop.execute("event " + i, () -> {});
        }

        try (CapturedLog log = CapturedLog.of(ThreadEventLoop.class)) {
            loop.close(Duration.ZERO);
            assertThat(log.messages()).hasSize(1);
            assertThat(log.messages().get(0))
                    .startsWith(
                            "WARN Cancelled the-loop: the deadline of PT0S has passed. Interrupted"
                                    + " 'commit 1', dropped 10000 actions ('event 2', 'event 3',"
                                    + " 'event 4', 'event 5', 'event 6', ...).")
                    .doesNotContain("event 7");
        }
    }

    @Test
    void logOfACancelledLoopSaysWhenNothingWasDropped() throws Exception {
        block("commit 1");

        try (CapturedLog log = CapturedLog.of(ThreadEventLoop.class)) {
            loop.close(Duration.ZERO);
            assertThat(log.messages()).hasSize(1);
            assertThat(log.messages().get(0))
                    .contains("Interrupted 'commit 1', dropped no action.");
        }
    }

    // ------------------------------------------------------------------------

    private static ThreadEventLoop created(String name, AtomicReference<Thread> thread) {
        return ThreadEventLoop.create(
                runnable -> {
                    Thread made = new Thread(runnable, name);
                    made.setDaemon(true);
                    thread.set(made);
                    return made;
                },
                System::nanoTime,
                (action, failure) -> {});
    }

    private static ThreadEventLoop started(
            String name, LongSupplier clock, EventLoop.FailureHandler handler) {
        ThreadEventLoop started =
                ThreadEventLoop.create(
                        runnable -> {
                            Thread thread = new Thread(runnable, name);
                            thread.setDaemon(true);
                            return thread;
                        },
                        clock,
                        handler);
        started.start();
        return started;
    }

    private static long cpuNanos(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
    }

    /** Returns once the loop is in an action that ends with the test. */
    private void block(String name) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        loop.execute(
                name,
                () -> {
                    started.countDown();
                    end.await();
                });
        assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitIgnoringInterrupts(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                latch.await();
                done = true;
            } catch (InterruptedException ignored) {
                // as a commit does that hangs in a call to its storage
            }
        }
    }

    /** A close of the loop on a thread of its own. */
    private final class Closing {

        private final AtomicReference<Boolean> result = new AtomicReference<>();
        private final AtomicReference<Throwable> problem = new AtomicReference<>();
        private final Thread thread;

        private Closing(Duration deadline) {
            this.thread =
                    new Thread(
                            () -> {
                                try {
                                    result.set(loop.close(deadline));
                                } catch (Throwable e) {
                                    problem.set(e);
                                }
                            },
                            "closing");
            thread.start();
            // intake stops right before the deadline starts to run
            await().until(() -> !loop.execute("still open?", () -> {}));
            await().until(
                            () ->
                                    thread.getState() == Thread.State.TIMED_WAITING
                                            || thread.getState() == Thread.State.TERMINATED);
        }

        private void join() throws InterruptedException {
            thread.join(30_000);
            assertThat(thread.isAlive()).as("close has returned").isFalse();
        }
    }
}
