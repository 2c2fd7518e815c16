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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The reviewed list {@code overlays.txt}: what the distribution changes in the base. */
final class Overlays {

    private final Set<String> replaced = new TreeSet<>();
    private final Set<String> added = new TreeSet<>();
    private final Set<String> removed = new TreeSet<>();

    static Overlays read(Path list) throws IOException {
        return parse(Files.readAllLines(list));
    }

    static Overlays parse(List<String> lines) {
        Overlays overlays = new Overlays();
        Set<String> seen = new TreeSet<>();
        for (String line : lines) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] words = line.split(" +");
            if (words.length != 2) {
                throw new IllegalArgumentException(
                        "a line of the list is '<verb> <entry>', found '" + line + "'");
            }
            if (!seen.add(words[1])) {
                throw new IllegalArgumentException("the list names " + words[1] + " twice");
            }
            overlays.entriesOf(words[0]).add(words[1]);
        }
        return overlays;
    }

    private Set<String> entriesOf(String verb) {
        switch (verb) {
            case "replaced":
                return replaced;
            case "added":
                return added;
            case "removed":
                return removed;
            default:
                throw new IllegalArgumentException(
                        "unknown verb '" + verb + "', known are replaced, added and removed");
        }
    }

    Set<String> replaced() {
        return replaced;
    }

    Set<String> added() {
        return added;
    }

    Set<String> removed() {
        return removed;
    }

    /** Every entry of the jar that is ours. */
    Set<String> ours() {
        Set<String> ours = new TreeSet<>(replaced);
        ours.addAll(added);
        return ours;
    }

    /** Every entry of the base that did not stay. */
    Set<String> gone() {
        Set<String> gone = new TreeSet<>(replaced);
        gone.addAll(removed);
        return gone;
    }
}
