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

package org.apache.paimon.flink.sink.coordinator.report;

import org.apache.paimon.utils.Crc32c;

import java.util.Objects;

/** Length and CRC-32C of a report's bytes. */
public final class ReportChecksum {

    private final int length;
    private final int crc32c;

    ReportChecksum(int length, int crc32c) {
        this.length = length;
        this.crc32c = crc32c;
    }

    static ReportChecksum of(byte[] bytes) {
        return new ReportChecksum(bytes.length, Crc32c.of(bytes));
    }

    int length() {
        return length;
    }

    int crc32c() {
        return crc32c;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ReportChecksum
                && length == ((ReportChecksum) other).length
                && crc32c == ((ReportChecksum) other).crc32c;
    }

    @Override
    public int hashCode() {
        return Objects.hash(length, crc32c);
    }

    @Override
    public String toString() {
        return String.format("%d bytes with CRC-32C %08x", length, crc32c);
    }
}
