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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** Durations on a clock that is set by hand. */
class CommitStatisticsTest {

    private final AtomicLong nanos = new AtomicLong(-5);
    private final CommitStatistics statistics = new CommitStatistics(nanos::get);

    @Test
    @DisplayName("Before the first commit and restore there are no durations")
    void knowsNothingAtFirst() {
        assertThat(statistics.commits()).isZero();
        assertThat(statistics.lastCommitMillis()).isEqualTo(-1);
        assertThat(statistics.secondsSinceLastCommit()).isEqualTo(-1);
        assertThat(statistics.restores()).isZero();
        assertThat(statistics.lastRestoreMillis()).isEqualTo(-1);
    }

    @Test
    @DisplayName("A commit counts when it has ended, with how long it took")
    void measuresCommits() {
        long began = statistics.commitBegins();
        pass(Duration.ofMillis(250));
        assertThat(statistics.commits()).isZero();

        statistics.committed(began);
        pass(Duration.ofSeconds(3));
        assertThat(statistics.commits()).isEqualTo(1);
        assertThat(statistics.lastCommitMillis()).isEqualTo(250);
        assertThat(statistics.secondsSinceLastCommit()).isEqualTo(3);
    }

    @Test
    @DisplayName("A restore lasts until what it found is committed")
    void measuresRestores() {
        statistics.restoreBegins();
        pass(Duration.ofMillis(1_200));
        assertThat(statistics.restores()).isZero();

        statistics.restored();
        assertThat(statistics.restores()).isEqualTo(1);
        assertThat(statistics.lastRestoreMillis()).isEqualTo(1_200);
    }

    @Test
    @DisplayName("Busy time is the part of each second between two updates, across sessions")
    void measuresBusyTime() {
        AtomicLong busy = new AtomicLong();
        BusyTime busyTime = new BusyTime(busy::get, nanos::get);
        assertThat(busyTime.getValue()).isZero();

        busy.set(Duration.ofSeconds(2).toNanos());
        pass(Duration.ofSeconds(5));
        busyTime.update();
        assertThat(busyTime.getValue()).isEqualTo(400);

        // The next session's loop has worked for one second so far.
        busy.set(Duration.ofSeconds(1).toNanos());
        pass(Duration.ofSeconds(5));
        busyTime.update();
        assertThat(busyTime.getValue()).isEqualTo(200);

        busyTime.update();
        assertThat(busyTime.getValue()).isEqualTo(200);
    }

    @Test
    @DisplayName("A commit that took less than a millisecond is one, and its age is told")
    void measuresShortCommits() {
        pass(Duration.ofSeconds(10));
        statistics.committed(statistics.commitBegins());
        assertThat(statistics.lastCommitMillis()).isZero();
        assertThat(statistics.secondsSinceLastCommit()).isZero();

        pass(Duration.ofSeconds(7));
        assertThat(statistics.secondsSinceLastCommit()).isEqualTo(7);
    }

    @Test
    @DisplayName("Busy time is zero in a period without actions, whatever was spent before")
    void measuresBusyTimeOfEachPeriod() {
        AtomicLong busy = new AtomicLong(Duration.ofSeconds(3).toNanos());
        BusyTime busyTime = new BusyTime(busy::get, nanos::get);
        busy.addAndGet(Duration.ofSeconds(1).toNanos());
        pass(Duration.ofSeconds(10));
        busyTime.update();
        assertThat(busyTime.getValue()).isEqualTo(100);

        pass(Duration.ofSeconds(10));
        busyTime.update();
        assertThat(busyTime.getValue()).isZero();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
