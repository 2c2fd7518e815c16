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

import java.util.Arrays;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;

class TextColumnsTest {

    @Test
    void columnsBeginBelowEachOther() {
        assertThat(
                        TextColumns.align(
                                Arrays.asList(
                                        Arrays.asList("result", "7", "rolled back"),
                                        Arrays.asList("tag", "1200", "a"))))
                .containsExactly("result  7     rolled back", "tag     1200  a");
    }

    @Test
    void noRowsAreNoLines() {
        assertThat(TextColumns.align(Collections.emptyList())).isEmpty();
    }
}
