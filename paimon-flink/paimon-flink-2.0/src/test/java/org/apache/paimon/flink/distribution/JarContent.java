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

package org.apache.paimon.flink.distribution;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The entries of one jar, in the order in which the file has them. Read as a stream, because the
 * central directory would hide an entry that is written twice.
 */
final class JarContent {

    private final Map<String, byte[]> entries = new LinkedHashMap<>();
    private final Set<String> duplicates = new TreeSet<>();

    static JarContent read(Path jar) throws IOException {
        try (InputStream in = Files.newInputStream(jar)) {
            return read(in);
        }
    }

    static JarContent read(InputStream in) throws IOException {
        JarContent content = new JarContent();
        ZipInputStream zip = new ZipInputStream(in);
        for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
            content.add(entry.getName(), zip.readAllBytes());
        }
        return content;
    }

    JarContent add(String name, byte[] bytes) {
        if (entries.put(name, bytes) != null) {
            duplicates.add(name);
        }
        return this;
    }

    boolean has(String name) {
        return entries.containsKey(name);
    }

    byte[] bytes(String name) {
        byte[] bytes = entries.get(name);
        if (bytes == null) {
            throw new IllegalArgumentException("the jar has no entry " + name);
        }
        return bytes;
    }

    boolean sameBytes(JarContent other, String name) {
        return Arrays.equals(bytes(name), other.bytes(name));
    }

    List<String> names() {
        return new ArrayList<>(entries.keySet());
    }

    Set<String> duplicates() {
        return duplicates;
    }
}
