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

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Reads the hexadecimal files that {@code tools/golden-reports/generate} has written. */
public final class GoldenBytes {

    private GoldenBytes() {}

    public static byte[] read(String name) throws IOException {
        String resource = "/golden/" + name + ".hex";
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = GoldenBytes.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException("No golden bytes " + resource + ".");
            }
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                for (int i = 0; i < line.length(); i += 2) {
                    bytes.write(Integer.parseInt(line.substring(i, i + 2), 16));
                }
            }
        }
        return bytes.toByteArray();
    }
}
