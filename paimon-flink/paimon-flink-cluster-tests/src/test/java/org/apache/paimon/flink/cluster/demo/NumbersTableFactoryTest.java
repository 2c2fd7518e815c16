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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.util.stream.Collectors;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

class NumbersTableFactoryTest {

    @Test
    @DisplayName("each split has the numbers of one residue, in order")
    void splitsHaveTheNumbersOfOneResidue() {
        assertThat(
                        LongStream.range(0, 12)
                                .map(index -> NumbersTableFactory.number(index, 12, 4))
                                .boxed()
                                .collect(Collectors.toList()))
                .containsExactly(0L, 4L, 8L, 1L, 5L, 9L, 2L, 6L, 10L, 3L, 7L, 11L);
    }
}
