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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The sources of the classes that go into the jar, read as text: what their string literals say.
 * Literals that are added up make one text, in which {@code …} stands for each value.
 */
final class MainSources {

    private static final String[] MODULES = {
        "paimon-common",
        "paimon-core",
        "paimon-flink/paimon-flink-common",
        "paimon-flink/paimon-flink-2.0"
    };

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

    /** A value within a literal, for a format or for a log. */
    private static final Pattern VALUE = Pattern.compile("%[-0-9,.]*[sdx]|\\{}");

    /** Where a message begins. The last three are methods of ours that make an exception. */
    private static final Pattern MESSAGE =
            Pattern.compile(
                    "LOG\\.(?:warn|error)\\(|new \\w*(?:Exception|Error)\\("
                            + "|\\b(?:problem|corrupt|unknown)\\(");

    private MainSources() {}

    static List<Source> all() {
        List<Source> all = new ArrayList<>();
        for (String module : MODULES) {
            Path main = Repository.ROOT.resolve(module).resolve("src/main");
            try (Stream<Path> files = Files.walk(main)) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .sorted()
                        .forEach(file -> all.add(new Source(file)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all;
    }

    /** One file, without its comments and imports. */
    static final class Source {

        private final String name;
        private final String text;

        private Source(Path file) {
            this.name = file.getFileName().toString();
            StringBuilder code = new StringBuilder();
            for (String line : Repository.text(file).split("\n")) {
                if (!line.trim().matches("(\\*|/\\*|//|import ).*")) {
                    code.append(line).append('\n');
                }
            }
            this.text = code.toString();
        }

        String name() {
            return name;
        }

        String text() {
            return text;
        }

        /** Warnings, errors and the messages of exceptions. */
        List<String> messages() {
            List<String> messages = new ArrayList<>();
            Matcher begin = MESSAGE.matcher(text);
            while (begin.find()) {
                String arguments = text.substring(begin.end(), endOfCall(begin.end()));
                Matcher literal = LITERAL.matcher(arguments);
                if (literal.find()) {
                    messages.add(textFrom(arguments, literal));
                }
            }
            return messages;
        }

        /** Whatever its literals say, from each of them on. */
        List<String> texts() {
            List<String> texts = new ArrayList<>();
            Matcher literal = LITERAL.matcher(text);
            for (int from = 0; literal.find(from); ) {
                from = literal.end();
                texts.add(textFrom(text, literal));
            }
            return texts;
        }

        /** The place of the bracket that closes a call. */
        private int endOfCall(int from) {
            int depth = 1;
            int at = from;
            while (depth > 0) {
                char c = text.charAt(at);
                Matcher literal = LITERAL.matcher(text).region(at, text.length());
                if (c == '"' && literal.lookingAt()) {
                    at = literal.end();
                    continue;
                }
                depth += c == '(' ? 1 : c == ')' ? -1 : 0;
                at++;
            }
            return at - 1;
        }

        private static String textFrom(String code, Matcher first) {
            StringBuilder said = new StringBuilder(first.group(1));
            int end = first.end();
            Matcher next = LITERAL.matcher(code);
            while (next.find(end)) {
                String between = code.substring(end, next.start()).trim();
                boolean added = between.startsWith("+") && between.endsWith("+");
                if (!added || between.contains("?")) {
                    break;
                }
                said.append(between.equals("+") ? "" : "…").append(next.group(1));
                end = next.end();
            }
            return VALUE.matcher(said.toString().replace("\\\"", "\""))
                    .replaceAll("…")
                    .replaceAll("\\s+", " ")
                    .trim();
        }
    }
}
