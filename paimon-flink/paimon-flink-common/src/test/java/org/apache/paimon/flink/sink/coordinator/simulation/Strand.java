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

import java.util.concurrent.Semaphore;

/**
 * A piece of work that can stop in its middle and go on later, one of which runs at a time: the
 * simulation's thread and the strand's hand the turn to each other.
 *
 * <p>It makes a commit hang, or a coordinator wait for its predecessor, inside the real call.
 */
final class Strand {

    private static final ThreadLocal<Strand> CURRENT = new ThreadLocal<>();

    private final Runnable work;
    private final Semaphore strandTurn = new Semaphore(0);
    private final Semaphore callerTurn = new Semaphore(0);

    private boolean begun;
    private boolean done;
    private boolean killed;
    private Throwable failure;

    Strand(Runnable work) {
        this.work = work;
    }

    /** The strand that the caller runs on, or null. */
    static Strand current() {
        return CURRENT.get();
    }

    /** Lets it run until it stops or is done. */
    void resume() {
        if (!begun) {
            begun = true;
            Turns.execute(this::run);
        } else {
            strandTurn.release();
        }
        callerTurn.acquireUninterruptibly();
        if (failure instanceof Violation) {
            throw (Violation) failure;
        }
        if (failure != null) {
            throw new IllegalStateException("A strand ended by " + failure, failure);
        }
    }

    private void run() {
        CURRENT.set(this);
        try {
            work.run();
        } catch (Throwable t) {
            failure = killed ? null : t;
        } finally {
            CURRENT.remove();
            done = true;
            callerTurn.release();
        }
    }

    /** Called on the strand: hands the turn back until somebody resumes it. */
    void pause() {
        callerTurn.release();
        strandTurn.acquireUninterruptibly();
        if (killed) {
            throw new ProcessDied();
        }
    }

    /** Ends it where it stands, as the death of its process does. */
    void kill() {
        if (begun && !done) {
            killed = true;
            resume();
        }
    }

    boolean done() {
        return done;
    }
}
