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

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Threads that hand the turn to each other, some dozen times per schedule.
 *
 * <p>Where the JDK has virtual threads that may block anywhere (from JDK 24 on), handing over costs
 * next to nothing, and a simulation runs two to three times as fast. Elsewhere they are ordinary
 * threads, and find the same.
 */
final class Turns {

    private static final int VIRTUAL_THREADS_SINCE = 24;

    private static final boolean VIRTUAL = Runtime.version().feature() >= VIRTUAL_THREADS_SINCE;

    private static final ThreadFactory FACTORY = VIRTUAL ? virtual() : Turns::daemon;

    /** Virtual threads are not worth keeping. */
    private static final Executor THREADS =
            VIRTUAL
                    ? work -> FACTORY.newThread(work).start()
                    : Executors.newCachedThreadPool(FACTORY);

    private Turns() {}

    static Thread newThread(Runnable work) {
        return FACTORY.newThread(work);
    }

    static void execute(Runnable work) {
        THREADS.execute(work);
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "simulation");
        thread.setDaemon(true);
        return thread;
    }

    /** What {@code Thread.ofVirtual().factory()} gives; JDK 17 cannot compile that. */
    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory)
                    Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("This JDK's virtual threads are unlike JDK 24's.", e);
        }
    }
}
