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

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Waits without sleeping. To wake a thread up takes 20 us of CPU time of the thread that does it:
 * here that would be the measured one, and as much as it needs for 200 reports.
 */
final class Spin {

    private Spin() {}

    /** Returns when the condition holds, or the time is up. */
    static void until(BooleanSupplier condition, long timeoutMillis) {
        long start = System.nanoTime();
        long timeout = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        while (!condition.getAsBoolean() && System.nanoTime() - start < timeout) {
            Thread.onSpinWait();
        }
    }
}
