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
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of this repository, for the tests that compare its pages with what is there. */
final class Repository {

    static final Path ROOT = Paths.get("../..").toAbsolutePath().normalize();

    private Repository() {}

    /** The pages in the root and in {@code docs}. */
    static List<Path> pages() throws IOException {
        try (Stream<Path> inRoot = Files.list(ROOT);
                Stream<Path> inDocs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(inRoot, inDocs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .collect(Collectors.toList());
        }
    }

    static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
