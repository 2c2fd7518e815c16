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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import static org.assertj.core.api.Assertions.assertThat;

/** The clock of the restore. */
class OtherThreadsClockTest {

    private static final long WORK_NANOS = 200_000;

    @Test
    @DisplayName("Work far below the 10 ms of the process's clock is measured, each time")
    void resolvesShortWork() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            for (int i = 0; i < 20; i++) {
                OtherThreadsClock clock = OtherThreadsClock.start();
                long worked = other.submit(OtherThreadsClockTest::work).get();

                assertThat(clock.nanos()).isGreaterThanOrEqualTo(worked);
            }
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    @DisplayName("What the measuring thread does itself is not counted")
    void leavesTheCallerOut() {
        OtherThreadsClock clock = OtherThreadsClock.start();
        long worked = 0;
        while (worked < 1_000 * WORK_NANOS) {
            worked += work();
        }

        assertThat(clock.nanos()).isLessThan(worked);
    }

    private static long work() {
        long start = DrivenCoordinator.ownCpuNanos();
        long worked = 0;
        while (worked < WORK_NANOS) {
            worked = DrivenCoordinator.ownCpuNanos() - start;
        }
        return worked;
    }
}
