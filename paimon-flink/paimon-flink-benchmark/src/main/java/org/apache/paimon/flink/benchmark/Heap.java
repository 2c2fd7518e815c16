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

package org.apache.paimon.flink.benchmark;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Live bytes on the heap of this process: what is left after a full collection. */
final class Heap {

    private Heap() {}

    static long live() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Looks for the highest number of live bytes, by one full collection after the other. */
    static final class Watch implements AutoCloseable {

        private final CountDownLatch stopped = new CountDownLatch(1);
        private final AtomicLong highest = new AtomicLong();
        private final Thread thread;

        /**
         * @param pauseMillis between two collections, during which those get on who are watched
         */
        Watch(long pauseMillis) {
            this.thread = new Thread(() -> lookUntilStopped(pauseMillis), "heap-watch");
            thread.setDaemon(true);
            thread.start();
        }

        private void lookUntilStopped(long pauseMillis) {
            try {
                do {
                    look();
                } while (!stopped.await(pauseMillis, TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** Also called by whoever is at a point that must not be missed. */
        void look() {
            highest.accumulateAndGet(live(), Math::max);
        }

        long highest() {
            return highest.get();
        }

        @Override
        public void close() throws InterruptedException {
            stopped.countDown();
            thread.join();
        }
    }
}
