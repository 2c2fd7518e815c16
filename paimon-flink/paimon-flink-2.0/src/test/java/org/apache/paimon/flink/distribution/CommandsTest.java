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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.apache.paimon.flink.distribution.Repository.ROOT;
import static org.apache.paimon.flink.distribution.Repository.pages;
import static org.apache.paimon.flink.distribution.Repository.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commands that the pages name: tools, their options, Maven's modules, profiles and tests, and
 * procedures are there. That they do what the pages say is for the tests of the tools.
 */
class CommandsTest {

    /** In a fenced block, or between two backticks. */
    private static final Pattern COMMAND =
            Pattern.compile("(?m)(?:^[ \\t]*|`)((?:\\.\\./)?tools/[a-z][^`\\n]*|mvn [^`\\n]*)");

    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]*");
    private static final Pattern PROCEDURE = Pattern.compile("sys\\.([a-z_]+_savepoint\\w*)");

    private static final Set<String> PHASES =
            new TreeSet<>(Arrays.asList("compile", "test", "package", "verify", "install"));

    private final List<String> wrong = new ArrayList<>();

    @Test
    @DisplayName("Each tool on a page is there, and its usage names the options")
    void toolsHaveTheOptions() throws Exception {
        int checked = 0;
        for (Path page : pages()) {
            for (String command : commands(page)) {
                if (command.startsWith("mvn ")) {
                    continue;
                }
                String[] words = command.split("\\s+");
                Path tool = ROOT.resolve(words[0]);
                if (!Files.exists(tool)) {
                    wrong(page, command, "there is no " + words[0]);
                    continue;
                }
                if (Files.isDirectory(tool) || !Files.isExecutable(tool)) {
                    continue;
                }
                checked++;
                String usage = text(tool);
                Matcher option = OPTION.matcher(command.split("\\s[|#]\\s", 2)[0]);
                while (option.find()) {
                    if (!Pattern.compile(Pattern.quote(option.group()) + "\\b")
                            .matcher(usage)
                            .find()) {
                        wrong(page, command, words[0] + " does not know " + option.group());
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(checked).isGreaterThan(20);
    }

    @Test
    @DisplayName(
            "Each Maven command on a page has phases, modules, profiles and tests that are there")
    void mavenHasWhatItIsToldToRun() throws Exception {
        String poms = allOf("pom.xml");
        int checked = 0;
        for (Path page : pages()) {
            for (String command : commands(page)) {
                if (!command.startsWith("mvn ")) {
                    continue;
                }
                checked++;
                String[] words = command.split("\\s+");
                for (int i = 1; i < words.length; i++) {
                    String word = words[i];
                    if (word.equals("-pl")) {
                        i++;
                        for (String module : words[i].split(",")) {
                            if (!Files.exists(ROOT.resolve(module).resolve("pom.xml"))) {
                                wrong(page, command, "there is no module " + module);
                            }
                        }
                    } else if (word.startsWith("-P")) {
                        if (!poms.contains("<id>" + word.substring(2) + "</id>")) {
                            wrong(page, command, "no POM has the profile " + word.substring(2));
                        }
                    } else if (word.startsWith("-Dtest=") || word.startsWith("-Dit.test=")) {
                        String test = word.substring(word.indexOf('=') + 1).split("#")[0];
                        if (find(test + ".java").isEmpty()) {
                            wrong(page, command, "there is no test " + test);
                        }
                    } else if (word.startsWith("#")) {
                        break;
                    } else if (!word.startsWith("-") && !word.contains(":")) {
                        if (!PHASES.contains(word)) {
                            wrong(page, command, "Maven has no phase " + word);
                        }
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(checked).isGreaterThan(5);
    }

    @Test
    @DisplayName("Each savepoint procedure on a page is one that we have")
    void proceduresAreThere() throws Exception {
        Set<String> named = new TreeSet<>();
        for (Path page : pages()) {
            Matcher procedure = PROCEDURE.matcher(text(page));
            while (procedure.find()) {
                named.add(procedure.group(1));
            }
        }
        Set<String> identifiers = new TreeSet<>();
        for (Path source : find("SavepointProcedure.java", "SavepointTagsProcedure.java")) {
            Matcher identifier = Pattern.compile("\"([a-z]+(?:_[a-z]+)+)\"").matcher(text(source));
            while (identifier.find()) {
                identifiers.add(identifier.group(1));
            }
        }
        assertThat(named).isNotEmpty().isSubsetOf(identifiers);
    }

    // ------------------------------------------------------------------------

    private void wrong(Path page, String command, String what) {
        wrong.add(ROOT.relativize(page) + ": " + command + ": " + what);
    }

    /** A backslash at the end of a line goes on with the next one. */
    private static List<String> commands(Path page) throws IOException {
        List<String> commands = new ArrayList<>();
        Matcher command = COMMAND.matcher(text(page).replaceAll("\\\\\\n\\s*", " "));
        while (command.find()) {
            commands.add(command.group(1).trim().replaceFirst("^\\.\\./", ""));
        }
        return commands;
    }

    /** Sources whose name ends like this. */
    private static List<Path> find(String... endings) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> !file.toString().contains("/target/"))
                    .filter(file -> Arrays.stream(endings).anyMatch(file.toString()::endsWith))
                    .collect(Collectors.toList());
        }
    }

    private static String allOf(String name) throws IOException {
        StringBuilder all = new StringBuilder();
        for (Path file : find("/" + name)) {
            all.append(text(file));
        }
        return all.toString();
    }
}
