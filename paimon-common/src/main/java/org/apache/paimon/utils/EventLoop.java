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
import java.util.function.Consumer;

/**
 * Runs actions one at a time, in the order in which they were queued: what only they touch needs no
 * lock, and whoever queues them never blocks.
 *
 * <p><b>Threads.</b> {@link #start}, {@link #execute}, {@link #inside}, {@link #cancelled} and
 * {@link #terminated} may be called from any thread and never wait. {@link #close} and {@link
 * #awaitTermination} block their caller and are refused inside the loop.
 *
 * <p><b>Failures.</b> A failing action reaches the one {@link FailureHandler}, on the loop's
 * thread. The loop goes on with the next action: what may still happen is the handler's decision.
 *
 * <p><b>Start and end</b> (A7: never two committers).
 *
 * <ul>
 *   <li>NEW takes actions and runs none, until {@link #start} makes it OPEN.
 *   <li>DRAINING, after a close: takes no new action; what was queued before runs to its end.
 *   <li>CANCELLED, when the close's deadline has passed: drops what is queued and interrupts the
 *       running action, once. An action with several side effects asks {@link #cancelled} before
 *       each of them.
 *   <li>TERMINATED: no action runs nor ever will. Only from here on may a successor start. An
 *       action that ignores interrupts keeps the loop CANCELLED as long as it likes.
 * </ul>
 */
public interface EventLoop {

    /**
     * Starts to run what is queued. Does nothing when the loop was closed before: it is terminated,
     * and no action of it ever runs.
     *
     * @throws IllegalStateException when the loop was started already
     */
    void start();

    /**
     * Queues an action, also before the start.
     *
     * @param name names the action in logs and failures
     * @return false when intake has stopped; the action is dropped then and never runs
     */
    boolean execute(String name, Action action);

    /** Whether the caller is an action of this loop. */
    boolean inside();

    /**
     * @throws IllegalStateException naming both threads, when the caller is not an action of this
     *     loop
     */
    void assertInside();

    /**
     * Whether no further side effect must start: the deadline of {@link #close} has passed, the
     * loop was closed before its start, or (asked inside the loop) its thread carries an interrupt.
     */
    boolean cancelled();

    /**
     * Stops intake and waits until the queue has run out; when the deadline passes first, drops
     * what is still queued, sets {@link #cancelled} and interrupts the running action, and returns
     * at once. May be called again to wait for longer; concurrent calls each wait for their own
     * deadline and the earliest one cancels. A loop that was not started drops its queue and is
     * terminated at once.
     *
     * @return whether the loop is terminated
     * @throws InterruptedException when the caller is interrupted while it waits. Nobody minds the
     *     deadline from then on, so the loop is cancelled as if it had passed.
     * @throws IllegalStateException when called inside the loop
     */
    boolean close(Duration deadline) throws InterruptedException;

    /**
     * Waits, however long it takes, until the loop is terminated. Neither starts nor closes it.
     *
     * @param interval how often to report that the wait goes on
     * @param stillWaiting gets the time waited so far, on the caller's thread
     * @throws IllegalStateException when called inside the loop
     */
    void awaitTermination(Duration interval, Consumer<Duration> stillWaiting)
            throws InterruptedException;

    /** How many actions wait for their turn. Callable from any thread. */
    int queued();

    /**
     * For how long this loop has run actions since its start, in nanoseconds, the running one
     * included. Callable from any thread.
     */
    long busyNanos();

    /** Whether no action runs nor ever will. */
    boolean terminated();

    /** What a loop runs. */
    @FunctionalInterface
    interface Action {

        void run() throws Throwable;
    }

    /** Where the failures of a loop's actions go. Called inside the loop. */
    @FunctionalInterface
    interface FailureHandler {

        void onFailure(String actionName, Throwable failure);
    }
}
