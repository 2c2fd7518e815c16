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

package org.apache.paimon.utils;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32C;

import static org.assertj.core.api.Assertions.assertThat;

/** Known answers, and those of the JDK that runs the tests; with its checksum and without. */
class Crc32cTest {

    @Test
    @DisplayName("The check value of CRC-32C, and the examples of RFC 3720")
    void knownAnswers() {
        byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
        assertThat(Crc32c.of(new byte[0])).isZero();
        assertThat(Crc32c.of(digits)).isEqualTo(0xE3069283);
        assertThat(Crc32c.of(new byte[32])).isEqualTo(0x8A9136AA);
        assertThat(Crc32c.byTables(digits)).isEqualTo(0xE3069283);
    }

    @Test
    @DisplayName("As the JDK computes it, for every length around a step and some long ones")
    void agreesWithTheJdk() {
        Random random = new Random(20261201);
        for (int length = 0; length < 2_000; length += length < 64 ? 1 : 97) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            CRC32C jdk = new CRC32C();
            jdk.update(bytes);
            assertThat(Crc32c.byTables(bytes))
                    .as("%d bytes", length)
                    .isEqualTo((int) jdk.getValue())
                    .isEqualTo(Crc32c.of(bytes));
        }
    }
}
