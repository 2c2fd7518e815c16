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

import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A1, A2: what one JobMaster knows of aborts. */
class AbortedCheckpointsTest {

    private final AbortedCheckpoints aborted = new AbortedCheckpoints();

    @Test
    @DisplayName("A1: an abort is remembered, and carried out once")
    void remembersAborts() {
        aborted.add(5);
        aborted.add(3);

        assertThat(aborted.contains(5)).isTrue();
        assertThat(aborted.contains(4)).isFalse();
        assertThat(aborted.notCarriedOut()).containsExactly(5L, 3L);
        aborted.carriedOut(5);
        aborted.carriedOut(5);
        assertThat(aborted.notCarriedOut()).containsExactly(3L);
        assertThat(aborted.contains(5)).as("A2: for late reports").isTrue();
    }

    @Test
    @DisplayName("A1: an id that is aborted a second time is carried out a second time")
    void abortedTwice() {
        aborted.add(5);
        aborted.carriedOut(5);
        aborted.add(5);

        assertThat(aborted.notCarriedOut()).containsExactly(5L);
    }

    @Test
    @DisplayName("A1: the oldest aborts are forgotten, the newest 1,024 are kept")
    void forgetsTheOldest() {
        LongStream.rangeClosed(1, 3_000).forEach(aborted::add);

        assertThat(aborted.contains(1_976)).isFalse();
        assertThat(aborted.contains(1_977)).isTrue();
        assertThat(aborted.contains(3_000)).isTrue();
        assertThat(aborted.notCarriedOut()).hasSize(1_024).startsWith(1_977L);
    }

    @Test
    @DisplayName("A1: carrying one out while going through them is allowed")
    void carriesOutWhileReading() {
        aborted.add(1);
        aborted.add(2);
        for (Long id : aborted.notCarriedOut()) {
            aborted.carriedOut(id);
        }

        assertThat(aborted.notCarriedOut()).isEmpty();
    }
}
