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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The {@link EventLoop} of production: one thread of its own.
 *
 * <p>The thread runs from {@link #start} until the loop is closed and its queue has run out. It is
 * made before, since messages name it, but no code runs on it. It is a daemon unless the thread
 * factory says otherwise, so that a hung commit does not keep a process alive that is on its way
 * out.
 *
 * <p>An interrupt that one action leaves behind does not reach the next one.
 */
public final class ThreadEventLoop implements EventLoop {

    private static final Logger LOG = LoggerFactory.getLogger(ThreadEventLoop.class);

    /** How long a wait goes without a look at the clock, which need not be that of the JVM. */
    private static final long CLOCK_SLICE_MILLIS = 50;

    private final FailureHandler failureHandler;
    private final LongSupplier nanoClock;
    private final Thread thread;

    private final Object lock = new Object();

    private final ActionQueue queue = new ActionQueue(); // under lock

    private boolean closed; // under lock

    /** Whether the thread was started. Written under lock. */
    private volatile boolean started;

    /** Whether the loop was closed before its start, so that its thread never runs. */
    private volatile boolean neverStarts;

    /** Whether the thread waits for an action. To wake it up when it does not is not for free. */
    private boolean waiting; // under lock

    /** Name of the running action, for messages only. */
    @Nullable private String running; // under lock

    private volatile boolean cancelled;

    /** Time spent in actions that have ended. */
    private long busyNanos; // under lock

    /** When the running action was started. */
    private long runningSince; // under lock, while something is running

    private ThreadEventLoop(
            ThreadFactory threadFactory, LongSupplier nanoClock, FailureHandler failureHandler) {
        this.failureHandler = failureHandler;
        this.nanoClock = nanoClock;
        this.thread = threadFactory.newThread(this::loop);
    }

    /**
     * A loop, not started, for a daemon thread of that name, with the class loader that actions
     * expect.
     */
    public static ThreadEventLoop create(
            String threadName, @Nullable ClassLoader contextClassLoader, FailureHandler handler) {
        return create(daemonThreads(threadName, contextClassLoader), System::nanoTime, handler);
    }

    /**
     * A loop, not started.
     *
     * @param threadFactory asked for one thread, once, which it must not start
     * @param nanoClock measures deadlines and the time waited
     */
    public static ThreadEventLoop create(
            ThreadFactory threadFactory, LongSupplier nanoClock, FailureHandler handler) {
        return new ThreadEventLoop(threadFactory, nanoClock, handler);
    }

    private static ThreadFactory daemonThreads(String name, @Nullable ClassLoader classLoader) {
        return runnable -> {
            Thread thread = new Thread(runnable, name);
            thread.setDaemon(true);
            if (classLoader != null) {
                thread.setContextClassLoader(classLoader);
            }
            return thread;
        };
    }

    @Override
    public void start() {
        synchronized (lock) {
            if (started) {
                throw new IllegalStateException(
                        String.format(
                                "Event loop '%s' was started already. It runs once: create another"
                                        + " one.",
                                thread.getName()));
            }
            if (neverStarts) {
                LOG.debug("{} was closed before its start.", thread.getName());
                return;
            }
            thread.start();
            started = true; // not when the system refused the thread
            lock.notifyAll();
        }
    }

    @Override
    public boolean execute(String name, Action action) {
        synchronized (lock) {
            if (!closed) {
                queue.add(name, action);
                if (waiting) {
                    lock.notifyAll();
                }
                return true;
            }
        }
        LOG.debug("Dropped '{}': {} takes no more actions.", name, thread.getName());
        return false;
    }

    @Override
    public boolean inside() {
        return Thread.currentThread() == thread;
    }

    @Override
    public void assertInside() {
        if (!inside()) {
            throw new IllegalStateException(
                    String.format(
                            "Called on thread '%s', but this belongs to thread '%s'.",
                            Thread.currentThread().getName(), thread.getName()));
        }
    }

    @Override
    public boolean cancelled() {
        return cancelled || (inside() && thread.isInterrupted());
    }

    @Override
    public boolean terminated() {
        return neverStarts || (started && !thread.isAlive());
    }

    @Override
    public int queued() {
        synchronized (lock) {
            return queue.size();
        }
    }

    @Override
    public long busyNanos() {
        synchronized (lock) {
            return running == null ? busyNanos : busyNanos + nanoClock.getAsLong() - runningSince;
        }
    }

    @Override
    public boolean close(Duration deadline) throws InterruptedException {
        assertOutside("close");
        stopIntake();

        long start = nanoClock.getAsLong();
        try {
            while (!terminated()) {
                long left = nanos(deadline) - (nanoClock.getAsLong() - start);
                if (left <= 0) {
                    break;
                }
                joinFor(left);
            }
        } catch (InterruptedException e) {
            cancel("its closing was interrupted");
            throw e;
        }

        if (!terminated()) {
            cancel("the deadline of " + deadline + " has passed");
        }
        return terminated();
    }

    @Override
    public void awaitTermination(Duration interval, Consumer<Duration> stillWaiting)
            throws InterruptedException {
        assertOutside("awaitTermination");
        long start = nanoClock.getAsLong();
        long nextWord = nanos(interval);
        while (!terminated()) {
            long waited = nanoClock.getAsLong() - start;
            if (waited >= nextWord) {
                stillWaiting.accept(Duration.ofNanos(waited));
                nextWord = waited + nanos(interval);
            } else {
                joinFor(nextWord - waited);
            }
        }
    }

    @Override
    public String toString() {
        String action;
        synchronized (lock) {
            action = running;
        }
        return "event loop '"
                + thread.getName()
                + "' ("
                + (terminated()
                        ? "terminated"
                        : !started
                                ? "not started"
                                : action == null ? "idle" : "in '" + action + "'")
                + ")";
    }

    // ------------------------------------------------------------------------
    //  The loop's thread
    // ------------------------------------------------------------------------

    private void loop() {
        ActionQueue.QueuedAction next = take();
        while (next != null) {
            run(next);
            next = take();
        }
    }

    /** The next action, as soon as there is one, or null when the loop has to end. */
    @Nullable
    private ActionQueue.QueuedAction take() {
        synchronized (lock) {
            if (running != null) {
                busyNanos += nanoClock.getAsLong() - runningSince;
            }
            while (!cancelled) {
                ActionQueue.QueuedAction next = queue.poll();
                if (next != null) {
                    // What the last action left behind is not meant for this one. An interrupt by
                    // cancel() cannot get lost here: it is sent under the lock, after the flag.
                    Thread.interrupted();
                    running = next.name;
                    runningSince = nanoClock.getAsLong();
                    return next;
                }
                running = null;
                if (closed) {
                    return null;
                }
                waiting = true;
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("{} was interrupted while it was idle.", thread.getName());
                } finally {
                    waiting = false;
                }
            }
            running = null;
            return null;
        }
    }

    private void run(ActionQueue.QueuedAction next) {
        try {
            next.action.run();
        } catch (Throwable failure) {
            handle(next, failure);
        }
    }

    private void handle(ActionQueue.QueuedAction failed, Throwable failure) {
        try {
            failureHandler.onFailure(failed.name, failure);
        } catch (Throwable handlerFailure) {
            handlerFailure.addSuppressed(failure);
            LOG.error("The handler of failures failed on '{}'.", failed.name, handlerFailure);
        }
    }

    // ------------------------------------------------------------------------
    //  Closing threads
    // ------------------------------------------------------------------------

    private void stopIntake() {
        String dropped;
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
            if (started || neverStarts) {
                return;
            }
            dropped = queue.drop();
            cancelled = true;
            neverStarts = true;
        }
        LOG.info("Closed {} before its start, dropped {}.", thread.getName(), dropped);
    }

    private void cancel(String reason) {
        String dropped;
        String interrupted;
        synchronized (lock) {
            if (cancelled) {
                return;
            }
            cancelled = true;
            interrupted = running;
            dropped = queue.drop();
            lock.notifyAll();
            thread.interrupt();
        }
        LOG.warn(
                "Cancelled {}: {}. Interrupted '{}', dropped {}.{}",
                thread.getName(),
                reason,
                interrupted,
                dropped,
                stackTrace());
    }

    private String stackTrace() {
        StringBuilder trace = new StringBuilder();
        for (StackTraceElement element : thread.getStackTrace()) {
            trace.append(System.lineSeparator()).append("    at ").append(element);
        }
        return trace.toString();
    }

    /** Some 292 years at most, where {@link Duration#toNanos} would throw. */
    private static long nanos(Duration duration) {
        return duration.getSeconds() >= Long.MAX_VALUE / 1_000_000_000L
                ? Long.MAX_VALUE
                : duration.toNanos();
    }

    private void joinFor(long nanos) throws InterruptedException {
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos) + 1;
        long slice = Math.min(millis, CLOCK_SLICE_MILLIS);
        synchronized (lock) {
            if (!started) {
                // A thread that does not run yet cannot be joined.
                if (!neverStarts) {
                    lock.wait(slice);
                }
                return;
            }
        }
        thread.join(slice);
    }

    private void assertOutside(String method) {
        if (inside()) {
            throw new IllegalStateException(
                    String.format(
                            "%s was called by an action of '%s' and would wait for itself.",
                            method, thread.getName()));
        }
    }
}
