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

import javax.annotation.Nullable;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.zip.Checksum;

/**
 * The CRC-32C checksum (Castagnoli). Stateless.
 *
 * <p>{@code java.util.zip} has it from Java 9 on, where the processor computes it. Before that,
 * tables do: eight bytes per step, by eight tables.
 */
public final class Crc32c {

    /** The polynomial 0x1EDC6F41, its bits reversed. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private static final int SLICES = 8;
    private static final int VALUES = 256;
    private static final int BYTE = 0xFF;

    /** Slice s, value v: what v contributes when s bytes follow it in one step. */
    private static final int[] TABLE = table();

    /** Makes the JDK's own; null where there is none. */
    @Nullable private static final MethodHandle OF_THE_JDK = ofTheJdk();

    private Crc32c() {}

    @Nullable
    private static MethodHandle ofTheJdk() {
        try {
            return MethodHandles.publicLookup()
                    .findConstructor(
                            Class.forName("java.util.zip.CRC32C"),
                            MethodType.methodType(void.class))
                    .asType(MethodType.methodType(Checksum.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static int[] table() {
        int[] table = new int[SLICES * VALUES];
        for (int value = 0; value < VALUES; value++) {
            int crc = value;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = (crc & 1) == 0 ? crc >>> 1 : crc >>> 1 ^ POLYNOMIAL;
            }
            table[value] = crc;
        }
        for (int i = VALUES; i < table.length; i++) {
            int shorter = table[i - VALUES];
            table[i] = shorter >>> Byte.SIZE ^ table[shorter & BYTE];
        }
        return table;
    }

    public static int of(byte[] bytes) {
        if (OF_THE_JDK == null) {
            return byTables(bytes);
        }
        Checksum checksum = newChecksum();
        checksum.update(bytes, 0, bytes.length);
        return (int) checksum.getValue();
    }

    private static Checksum newChecksum() {
        try {
            return (Checksum) OF_THE_JDK.invokeExact();
        } catch (Throwable e) {
            // A constructor without arguments that does nothing.
            throw new IllegalStateException(e);
        }
    }

    static int byTables(byte[] bytes) {
        int[] table = TABLE;
        int crc = -1;
        int i = 0;
        for (int end = bytes.length - SLICES; i <= end; i += SLICES) {
            int low =
                    crc
                            ^ (bytes[i] & BYTE
                                    | (bytes[i + 1] & BYTE) << 8
                                    | (bytes[i + 2] & BYTE) << 16
                                    | bytes[i + 3] << 24);
            crc =
                    table[7 * VALUES + (low & BYTE)]
                            ^ table[6 * VALUES + (low >>> 8 & BYTE)]
                            ^ table[5 * VALUES + (low >>> 16 & BYTE)]
                            ^ table[4 * VALUES + (low >>> 24)]
                            ^ table[3 * VALUES + (bytes[i + 4] & BYTE)]
                            ^ table[2 * VALUES + (bytes[i + 5] & BYTE)]
                            ^ table[VALUES + (bytes[i + 6] & BYTE)]
                            ^ table[bytes[i + 7] & BYTE];
        }
        for (; i < bytes.length; i++) {
            crc = crc >>> Byte.SIZE ^ table[(crc ^ bytes[i]) & BYTE];
        }
        return ~crc;
    }
}
