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

package org.apache.paimon.flink.cluster;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class PortsTest {

    private final List<String> said = new ArrayList<>();
    private final Ports ports = new Ports(said::add);

    @Test
    void aFreePreferredPortIsTakenWithoutAWord() {
        int free = new Ports(line -> {}).pick();

        assertThat(ports.pick("the Web UI", free)).isEqualTo(free);
        assertThat(said).isEmpty();
    }

    @Test
    void aTakenPortIsReplacedByAnotherAndTheLogSaysSo() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName(Ports.HOST))) {
            int port = ports.pick("the Web UI", other.getLocalPort());

            assertThat(port).isNotEqualTo(other.getLocalPort());
            assertThat(said)
                    .singleElement()
                    .asString()
                    .contains("the Web UI", "" + other.getLocalPort(), "" + port);
        }
    }

    @Test
    void aPortIsNeverGivenOutTwiceEvenIfItsProcessHasNotBoundItYet() {
        Set<Integer> given = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            assertThat(given.add(ports.pick())).isTrue();
        }
        int one = given.iterator().next();

        assertThat(ports.pick("the Web UI", one)).isNotIn(given);
    }
}
