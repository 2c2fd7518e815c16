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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.utils.EventLoop;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * The event loop of one session, stepped by the simulation. Other than a {@code SteppedEventLoop}
 * it can stop in the middle of an action, on a {@link Strand}.
 *
 * <pre>
 *   step()                 runs the next action, as far as it gets
 *   deadlinePassed()       what the deadline of close() does: drops the queue, interrupts
 *   finish()               runs the pending close(), once it would return
 * </pre>
 */
final class SimulatedLoop implements EventLoop {

    /** Told by the loop before and after it runs. */
    interface Listener {

        void entered(SimulatedLoop loop);

        void left(SimulatedLoop loop);

        void violated(Violation violation);
    }

    final int number;
    final SimulatedProcess process;
    final SimulatedJob job;
    private final FailureHandler failureHandler;
    private final Listener listener;
    private final Deque<String> names = new ArrayDeque<>();
    private final Deque<Action> actions = new ArrayDeque<>();

    private boolean started;
    private boolean running;
    private boolean closed;
    private boolean cancelled;
    private Strand strand;
    private SimulatedLoop waitingFor;

    /** The close() of the coordinator, which waits for this loop's end; null before. */
    private Runnable closer;

    /** Runs it, while it waits for another loop; else null. */
    private Strand closing;

    /** As whom it commits; null before it knows. */
    String user;

    /** Its process died before it had done what was queued. */
    boolean killedAtWork;

    private boolean finished;

    SimulatedLoop(
            int number,
            SimulatedProcess process,
            SimulatedJob job,
            FailureHandler failureHandler,
            Listener listener) {
        this.number = number;
        this.process = process;
        this.job = job;
        this.failureHandler = failureHandler;
        this.listener = listener;
    }

    // ------------------------------------------------------------------------
    //  By hand
    // ------------------------------------------------------------------------

    /** Whether {@link #step} would get anywhere. */
    boolean canStep() {
        if (!process.alive()) {
            return false;
        }
        if (strand != null) {
            return waitingFor == null || waitingFor.terminated() || cancelled;
        }
        return started && !running && !actions.isEmpty();
    }

    /** Whether a commit has stopped in its middle. */
    boolean hanging() {
        return strand != null && waitingFor == null;
    }

    boolean nextOpens() {
        return started && strand == null && !actions.isEmpty() && "open".equals(names.peek());
    }

    /** Runs the next action, or the rest of the one that stopped. */
    void step(boolean mayStop) {
        if (strand != null) {
            resume();
            return;
        }
        Action action = actions.remove();
        String name = names.remove();
        running = true;
        if (mayStop) {
            strand = new Strand(() -> run(name, action));
            resume();
        } else {
            listener.entered(this);
            run(name, action);
            listener.left(this);
            running = false;
        }
    }

    private void resume() {
        listener.entered(this);
        strand.resume();
        listener.left(this);
        if (strand.done()) {
            strand = null;
            running = false;
        }
    }

    private void run(String name, Action action) {
        try {
            action.run();
        } catch (Violation violation) {
            // Not the coordinator's to deal with.
            listener.violated(violation);
        } catch (Throwable failure) {
            if (!process.alive()) {
                return;
            }
            failureHandler.onFailure(name, failure);
        }
    }

    /** Stops the running action here until the next {@link #step}. */
    void hang() {
        Strand current = Strand.current();
        if (current != null) {
            current.pause();
        }
    }

    void setCloser(Runnable closer) {
        this.closer = closer;
    }

    boolean closing() {
        return closer != null && !finished;
    }

    void deadlinePassed() {
        closed = true;
        cancelled = true;
        names.clear();
        actions.clear();
    }

    /** Whether {@link #finish} may be called: close() would return. */
    boolean canFinish() {
        if (!closing() || !process.alive()) {
            return false;
        }
        return closing == null
                ? !running && (!started || actions.isEmpty())
                : waitingFor.terminated();
    }

    /** Runs the pending close(), as far as it gets. */
    void finish() {
        closed = true;
        if (closing == null) {
            closing = new Strand(closer);
        }
        // L2: the closer may delete tags, in place of the loop that is dead.
        SimulatedLoop before = process.running();
        process.running(this);
        try {
            closing.resume();
        } finally {
            process.running(before);
        }
        if (closing.done()) {
            closing = null;
            finished = true;
        }
    }

    /** Its process has died. */
    void kill() {
        killedAtWork |= running || !actions.isEmpty() || closing();
        if (closing != null) {
            closing.kill();
            closing = null;
        }
        if (strand != null) {
            strand.kill();
            strand = null;
        }
        process.running(null);
        running = false;
        deadlinePassed();
    }

    boolean idle() {
        return !running && actions.isEmpty();
    }

    List<String> pending() {
        return new ArrayList<>(names);
    }

    // ------------------------------------------------------------------------
    //  EventLoop
    // ------------------------------------------------------------------------

    @Override
    public void start() {
        if (started) {
            throw new IllegalStateException(this + " was started already.");
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
            throw new IllegalStateException("Called outside of " + this + ".");
        }
    }

    @Override
    public boolean cancelled() {
        return cancelled;
    }

    @Override
    public int queued() {
        return actions.size();
    }

    /** Time stands still here. */
    @Override
    public long busyNanos() {
        return 0;
    }

    /** Called by a closer only, when the queue is empty or the deadline has passed. */
    @Override
    public boolean close(Duration deadline) {
        closed = true;
        if (!started) {
            deadlinePassed();
        }
        return terminated();
    }

    @Override
    public void awaitTermination(Duration interval, Consumer<Duration> stillWaiting)
            throws InterruptedException {
        Strand current = Strand.current();
        SimulatedLoop waiting = process.running();
        if (terminated()) {
            return;
        }
        if (current == null || waiting == null) {
            throw new IllegalStateException("Nobody ends " + this + ".");
        }
        stillWaiting.accept(interval);
        waiting.waitingFor = this;
        while (!terminated()) {
            current.pause();
            if (waiting.cancelled && waiting.closing == null) {
                throw new InterruptedException("The waiting loop was closed.");
            }
        }
        waiting.waitingFor = null;
    }

    @Override
    public boolean terminated() {
        return !process.alive() || (closed && !running && actions.isEmpty());
    }

    @Override
    public String toString() {
        return "loop " + number + " of process " + process.number;
    }
}
