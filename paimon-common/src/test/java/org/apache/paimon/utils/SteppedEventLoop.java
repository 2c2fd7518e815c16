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

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * An {@link EventLoop} without a thread: a test or a simulation runs the actions by hand, on its
 * own thread, whenever it likes.
 *
 * <ul>
 *   <li>{@link #close} runs the queue out at once. The deadline is measured by the given clock:
 *       actions that let it go on past the deadline are the slow ones.
 *   <li>{@link #hang} makes the loop survive its close, as an action that ignores interrupts would,
 *       until {@link #die}.
 *   <li>{@link #cancel} is the moment in which a deadline passes, to be used amid an action.
 * </ul>
 */
public final class SteppedEventLoop implements EventLoop {

    private static final int PATIENCE = 10_000;

    private final LongSupplier nanoClock;
    private final FailureHandler failureHandler;
    private final Deque<String> names = new ArrayDeque<>();
    private final Deque<Action> actions = new ArrayDeque<>();

    private boolean started;
    private boolean running;
    private boolean closed;
    private boolean cancelled;
    private boolean hanging;

    /** A loop on which time stands still. */
    public SteppedEventLoop(FailureHandler failureHandler) {
        this(() -> 0L, failureHandler);
    }

    public SteppedEventLoop(LongSupplier nanoClock, FailureHandler failureHandler) {
        this.nanoClock = nanoClock;
        this.failureHandler = failureHandler;
    }

    // ------------------------------------------------------------------------
    //  By hand
    // ------------------------------------------------------------------------

    /**
     * Runs the oldest pending action.
     *
     * @return false when there was none
     * @throws IllegalStateException when the loop was not started, or is in an action
     */
    public boolean runNext() {
        if (!started && !closed) {
            throw new IllegalStateException("The loop was not started. Pending: " + pending());
        }
        if (running) {
            throw new IllegalStateException("The running action cannot run the next one.");
        }
        Action action = actions.poll();
        if (action == null) {
            return false;
        }
        String name = names.remove();
        running = true;
        try {
            action.run();
        } catch (Throwable failure) {
            failureHandler.onFailure(name, failure);
        } finally {
            running = false;
        }
        return true;
    }

    /**
     * Runs actions until none is pending, also those that actions queue.
     *
     * @return how many ran
     */
    public int runAll() {
        int ran = 0;
        while (runNext()) {
            ran++;
        }
        return ran;
    }

    public int pendingCount() {
        return actions.size();
    }

    @Override
    public int queued() {
        return actions.size();
    }

    /** Actions take no time of their own. */
    @Override
    public long busyNanos() {
        return 0;
    }

    /** Names of the pending actions, oldest first. */
    public List<String> pending() {
        return new ArrayList<>(names);
    }

    /** What the deadline of a close does: nothing queued runs, the running action is notified. */
    public void cancel() {
        closed = true;
        cancelled = true;
        actions.clear();
        names.clear();
    }

    /** From now on the loop does not terminate before {@link #die}. */
    public void hang() {
        hanging = true;
    }

    public void die() {
        hanging = false;
    }

    // ------------------------------------------------------------------------
    //  EventLoop
    // ------------------------------------------------------------------------

    @Override
    public void start() {
        if (started) {
            throw new IllegalStateException("The loop was started already.");
        }
        started = !closed;
    }

    @Override
    public boolean execute(String name, Action action) {
        if (closed) {
            return false;
        }
        names.add(name);
        actions.add(action);
        return true;
    }

    @Override
    public boolean inside() {
        return running;
    }

    @Override
    public void assertInside() {
        if (!running) {
            throw new IllegalStateException(
                    "Called outside the stepped event loop, on thread '"
                            + Thread.currentThread().getName()
                            + "'.");
        }
    }

    @Override
    public boolean cancelled() {
        return cancelled;
    }

    @Override
    public boolean close(Duration deadline) {
        assertOutside("close");
        closed = true;
        if (!started) {
            cancel();
            return true;
        }
        long start = nanoClock.getAsLong();
        while (!hanging && nanoClock.getAsLong() - start < deadline.toNanos() && runNext()) {
            continue;
        }
        if (!terminated()) {
            cancel();
        }
        return terminated();
    }

    @Override
    public void awaitTermination(Duration interval, Consumer<Duration> stillWaiting) {
        assertOutside("awaitTermination");
        for (int i = 1; !terminated(); i++) {
            if (i > PATIENCE) {
                throw new IllegalStateException(
                        "Nobody ends this loop: close() it, die() when it hangs. Pending: "
                                + pending());
            }
            stillWaiting.accept(interval.multipliedBy(i));
        }
    }

    @Override
    public boolean terminated() {
        return closed && !running && (!hanging || !started) && actions.isEmpty();
    }

    private void assertOutside(String method) {
        if (running) {
            throw new IllegalStateException(
                    method + " was called by an action of the loop and would wait for itself.");
        }
    }
}
