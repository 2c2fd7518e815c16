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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.View;

import java.util.function.LongSupplier;

/**
 * How many milliseconds of each second were spent in actions, between the last two updates. Flink
 * updates a {@link View} every five seconds.
 */
final class BusyTime implements Gauge<Long>, View {

    private static final long MILLIS_PER_SECOND = 1_000;

    private final LongSupplier busyNanos;
    private final LongSupplier nanoClock;

    private volatile long millisPerSecond;
    private long lastBusy;
    private long lastUpdate;

    /**
     * @param busyNanos time spent in actions so far; starts at 0 again with each session
     */
    BusyTime(LongSupplier busyNanos, LongSupplier nanoClock) {
        this.busyNanos = busyNanos;
        this.nanoClock = nanoClock;
        this.lastBusy = busyNanos.getAsLong();
        this.lastUpdate = nanoClock.getAsLong();
    }

    @Override
    public void update() {
        long busy = busyNanos.getAsLong();
        long now = nanoClock.getAsLong();
        long elapsed = now - lastUpdate;
        if (elapsed > 0) {
            long spent = busy < lastBusy ? busy : busy - lastBusy;
            millisPerSecond = Math.min(spent * MILLIS_PER_SECOND / elapsed, MILLIS_PER_SECOND);
        }
        lastBusy = busy;
        lastUpdate = now;
    }

    @Override
    public Long getValue() {
        return millisPerSecond;
    }
}
