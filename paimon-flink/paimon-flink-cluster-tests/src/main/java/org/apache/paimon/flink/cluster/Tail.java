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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The end of a text file, for messages about processes that went wrong. */
final class Tail {

    private Tail() {}

    /** The last non-empty lines joined with " | "; empty if there is no such file. */
    static String of(Path file, int lines) {
        List<String> all = new ArrayList<>();
        for (String line : text(file).split("\\R")) {
            if (!line.trim().isEmpty()) {
                all.add(line.trim());
            }
        }
        return String.join(" | ", all.subList(Math.max(0, all.size() - lines), all.size()));
    }

    /** The whole file; empty if there is none. */
    static String text(Path file) {
        try {
            return Files.exists(file)
                    ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
                    : "";
        } catch (IOException e) {
            throw new ClusterException("cannot read " + file, e);
        }
    }

    /** Whether the file holds one of the texts. */
    static boolean mentions(Path file, String... texts) {
        String content = text(file);
        return Arrays.stream(texts).anyMatch(content::contains);
    }
}
