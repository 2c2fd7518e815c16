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
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

/**
 * CPU time of all threads but the calling one since the clock was started, to the nanosecond: of
 * those that live when it is read. The CPU time of the process comes in steps of 10 ms, and holds
 * the JIT compiler's and the garbage collector's as well.
 */
final class OtherThreadsClock {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Map<Long, Long> before = read();

    static OtherThreadsClock start() {
        return new OtherThreadsClock();
    }

    long nanos() {
        long nanos = 0;
        for (Map.Entry<Long, Long> thread : read().entrySet()) {
            nanos += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
        }
        return nanos;
    }

    private static Map<Long, Long> read() {
        long own = Thread.currentThread().getId();
        Map<Long, Long> nanos = new HashMap<>();
        for (long id : THREADS.getAllThreadIds()) {
            // -1 when it has ended by now.
            long cpu = id == own ? -1 : THREADS.getThreadCpuTime(id);
            if (cpu >= 0) {
                nanos.put(id, cpu);
            }
        }
        return nanos;
    }
}
