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

package org.apache.paimon.flink.cluster.demo;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ExactlyOnceTest {

    private final ExactlyOnce check = new ExactlyOnce(2);

    @Test
    void prefixesOfDifferentLengthAreAllRight() {
        check.split(0, 3, 3, 0, 4);
        check.split(1, 1, 1, 1, 1);

        assertThat(check.records()).isEqualTo(4);
    }

    @Test
    void aGapIsALoss() {
        assertThatThrownBy(() -> check.split(0, 2, 2, 0, 4))
                .hasMessageContainingAll("LOST", "split 0", "3 records", "2 are there");
    }

    @Test
    void aMissingHeadIsALoss() {
        assertThatThrownBy(() -> check.split(1, 2, 2, 3, 5))
                .hasMessageContainingAll("LOST", "should be 1", "is 3");
    }

    @Test
    void aRecordThatIsThereTwiceIsDoubled() {
        assertThatThrownBy(() -> check.split(0, 4, 3, 0, 4))
                .hasMessageContainingAll("DOUBLED", "4 are there");
    }

    @Test
    void aDoubleDoesNotHideAGap() {
        assertThatThrownBy(() -> check.split(0, 3, 2, 0, 4)).hasMessageContaining("LOST");
    }

    @Test
    void aSplitWithoutRecordsIsALoss() {
        check.split(0, 1, 1, 0, 0);

        assertThatThrownBy(check::records).hasMessageContainingAll("LOST", "2 splits");
    }
}
