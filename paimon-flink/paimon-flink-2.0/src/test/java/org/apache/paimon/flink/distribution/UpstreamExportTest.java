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

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** {@code tools/upstream export}, on a small repository with the layout of Apache Paimon's. */
class UpstreamExportTest {

    private static final Path ROOT = Repository.ROOT;
    private static final String DELETED = PaimonCheckout.SINK + "coordinator/CommittableEvent.java";

    @TempDir private Path temporary;

    private Path directory;
    private PaimonCheckout checkout;

    @BeforeEach
    void createCheckout() throws Exception {
        for (String program : new String[] {"bash", "git"}) {
            assumeTrue(ToolRun.works(program), "skipped: there is no '" + program + "' here");
        }
        directory = Files.createDirectory(temporary.resolve("a checkout"));
        checkout = PaimonCheckout.create(directory);
    }

    @Test
    @DisplayName(
            "each topic is one commit, with its sources, its tests and the text of its promises")
    void eachTopicIsOneCommit() throws Exception {
        UpstreamTopics list = UpstreamTopics.read();
        String start = checkout.head();

        ToolRun run = export();

        assertThat(run.exitCode).as(run.errors).isZero();
        assertThat(checkout.status()).isEmpty();
        List<String> commits = checkout.commitsSince(start);
        assertThat(commits).hasSameSizeAs(list.topics).hasSizeGreaterThan(8);
        Set<String> exported = new TreeSet<>();
        for (int i = 0; i < commits.size(); i++) {
            UpstreamTopics.Topic topic = list.topics.get(i);
            String message = checkout.message(commits.get(i));
            assertThat(message).startsWith(topic.title + "\n\n");
            for (String promise : topic.promises) {
                assertThat(message.replaceAll("\\s+", " "))
                        .contains(" " + promise + " " + textOf(promise));
            }
            List<String> paths = new ArrayList<>(checkout.paths(commits.get(i)));
            paths.remove(DELETED);
            assertThat(paths)
                    .containsExactlyInAnyOrderElementsOf(
                            Stream.concat(topic.files.stream(), topic.merged.stream())
                                    .collect(Collectors.toList()));
            assertThat(paths).as("tests of '%s'", topic.title).anyMatch(this::isTest);
            for (String path : topic.files) {
                assertThat(Files.readAllBytes(directory.resolve(path)))
                        .as(path)
                        .isEqualTo(Files.readAllBytes(ROOT.resolve(path)));
            }
            assertThat(exported).doesNotContainAnyElementsOf(paths);
            exported.addAll(paths);
        }
        assertThat(exported)
                .allMatch(
                        path ->
                                path.matches(
                                        "paimon-(common|core|flink/paimon-flink-common)/src/.*"))
                .doesNotContainAnyElementsOf(list.left)
                .hasSize(sources().size() - list.left.size());
        assertThat(sources()).containsAll(exported).containsAll(list.left);
    }

    @Test
    @DisplayName("the test that is named after a class comes with it, or with the next topic")
    void testsComeAlong() throws Exception {
        List<UpstreamTopics.Topic> topics = UpstreamTopics.read().topics;
        Map<String, Integer> topicOf = new TreeMap<>();
        for (int i = 0; i < topics.size(); i++) {
            for (String path : topics.get(i).files) {
                topicOf.put(path, i);
            }
        }
        List<String> apart = new ArrayList<>();
        int pairs = 0;
        for (String path : topicOf.keySet()) {
            String test = path.replace("/src/main/", "/src/test/").replace(".java", "Test.java");
            if (!isTest(path) && topicOf.containsKey(test)) {
                pairs++;
                int later = topicOf.get(test) - topicOf.get(path);
                if (later < 0 || later > 1) {
                    apart.add(test);
                }
            }
        }
        assertThat(apart).isEmpty();
        assertThat(pairs).isGreaterThan(25);
    }

    @Test
    @DisplayName("services files are merged, and what becomes needless is deleted and looked for")
    void servicesAndDeletions() throws Exception {
        ToolRun run = export();

        assertThat(run.exitCode).as(run.errors).isZero();
        assertThat(checkout.read(PaimonCheckout.FACTORIES))
                .startsWith("# theirs\norg.apache.paimon.First\norg.apache.paimon.Second\n")
                .contains("\norg.apache.paimon.flink.procedure.SavepointTagsProcedure\n")
                .doesNotContain("The distribution");
        assertThat(directory.resolve(DELETED)).doesNotExist();
        assertThat(run.errors)
                .contains("Other.java names CommittableEvent, which is deleted")
                .contains("FlinkWriteSink.java replaces a class of the release, and is new")
                .doesNotContain("RowAppendTableSink.java replaces");
    }

    @Test
    @DisplayName("a second export commits what has changed since, and nothing else")
    void secondExport() throws Exception {
        assertThat(export().exitCode).isZero();
        String first = checkout.head();

        ToolRun second = export();

        assertThat(second.exitCode).isZero();
        assertThat(second.output).contains("Nothing to commit");
        assertThat(checkout.head()).isEqualTo(first);

        String path = UpstreamTopics.read().topics.get(2).files.get(0);
        checkout.write(path, "class Changed {}\n");
        checkout.commit("A change");
        String changed = checkout.head();

        ToolRun third = export();
        assertThat(third.exitCode).as(third.output + third.errors).isZero();
        assertThat(checkout.commitsSince(changed)).hasSize(1);
        assertThat(checkout.paths("HEAD")).containsExactly(path);
    }

    @Test
    @DisplayName("--dry-run names each commit and each file, and changes nothing")
    void dryRun() throws Exception {
        UpstreamTopics list = UpstreamTopics.read();
        String start = checkout.head();
        String objects = checkout.git("count-objects");

        ToolRun run = ToolRun.upstream("export", directory.toString(), "--dry-run");

        assertThat(run.exitCode).as(run.errors).isZero();
        for (UpstreamTopics.Topic topic : list.topics) {
            assertThat(run.output).contains(topic.title);
            assertThat(run.output).contains(topic.files);
        }
        assertThat(run.output)
                .contains("    new      paimon-common/src/")
                .contains("    changed  " + PaimonCheckout.SINK + "RowAppendTableSink.java")
                .contains("    changed  " + PaimonCheckout.FACTORIES)
                .contains("    deleted  " + DELETED)
                .contains("T1  " + textOf("T1").substring(0, 40));
        assertThat(checkout.head()).isEqualTo(start);
        assertThat(checkout.status()).isEmpty();
        assertThat(checkout.git("count-objects")).isEqualTo(objects);
    }

    // ------------------------------------------------------------------------
    //  What is refused
    // ------------------------------------------------------------------------

    @Test
    @DisplayName(
            "bad input: a directory that is no checkout of Apache Paimon is refused by what it lacks")
    void noCheckoutOfPaimon() throws Exception {
        Path plain = Files.createDirectory(temporary.resolve("plain"));
        assertRefused(plain, "is no git checkout");
        assertRefused(directory.resolve("paimon-core"), "is not the root of its git checkout");
        assertRefused(temporary.resolve("nowhere"), "there is no directory");

        checkout.git("rm", "--quiet", "-r", "paimon-core");
        checkout.commit("Without a module");
        assertRefused(directory, "it has no directory paimon-core");
        checkout.write("pom.xml", "<project><artifactId>other</artifactId></project>\n");
        checkout.commit("Another project");
        assertRefused(directory, "its pom.xml has not the artifactId paimon-parent");
        checkout.git("rm", "--quiet", "pom.xml");
        checkout.commit("No project");
        assertRefused(directory, "it has no pom.xml");
    }

    @Test
    @DisplayName("bad input: a checkout that is not clean is refused, and stays as it is")
    void notClean() throws Exception {
        String start = checkout.head();
        checkout.write("paimon-core/new.txt", "work in progress\n");

        assertRefused(directory, "is not clean, git status says '?? paimon-core/new.txt'");
        assertThat(checkout.head()).isEqualTo(start);
        assertThat(checkout.read("paimon-core/new.txt")).isEqualTo("work in progress\n");
    }

    @Test
    @DisplayName("bad input: a file of ours that lies there ignored is refused, and stays as it is")
    void ignoredFile() throws Exception {
        String path = UpstreamTopics.read().topics.get(0).files.get(0);
        checkout.write(".gitignore", path + "\n");
        checkout.commit("Ignore it");
        checkout.write(path, "mine\n");

        assertRefused(directory, "has the file " + path + ", which git ignores");
        assertThat(checkout.read(path)).isEqualTo("mine\n");
    }

    @Test
    @DisplayName("bad input: git must know who commits")
    void noIdentity() throws Exception {
        checkout.git("config", "--unset", "user.name");
        checkout.git("config", "--unset", "user.email");
        checkout.git("config", "user.useConfigOnly", "true");

        assertRefused(directory, "git does not know who commits");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "export | export needs the directory of a checkout of Apache Paimon",
                "export a b | export takes one argument, and found 'a' and 'b'",
                "export a --json | unknown option '--json' of export",
                "export a --topics | option --topics needs a value",
                "export a --topics nowhere | option --topics: there is no file 'nowhere'",
                "import | unknown command 'import', known are export and verify"
            },
            quoteCharacter = '"')
    @DisplayName("bad input: what is wrong with the command line is said, with exit code 2")
    void badOptions(String arguments, String message) throws Exception {
        ToolRun run = ToolRun.upstream(arguments.split(" "));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.errors).contains(message).contains("see tools/upstream --help");
    }

    @Test
    @DisplayName("the help names every option and exit code")
    void help() throws Exception {
        ToolRun run = ToolRun.upstream("export", "--help");

        assertThat(run.exitCode).isZero();
        assertThat(run.output)
                .contains("export DIR", "--dry-run", "--topics")
                .contains("verify JAR", "--from", "--json", "Exit code of verify");
    }

    @Test
    @DisplayName("bad input: when git does not move the branch, the checkout is as it was")
    void branchDoesNotMove() throws Exception {
        String start = checkout.head();
        Path hook = directory.resolve(".git/hooks/reference-transaction");
        Files.createDirectories(hook.getParent());
        Files.write(hook, "#!/bin/sh\necho not today\nexit 1\n".getBytes(StandardCharsets.UTF_8));
        assertThat(hook.toFile().setExecutable(true)).isTrue();

        ToolRun run = export();

        assertThat(run.exitCode).as(run.output).isEqualTo(1);
        assertThat(run.errors).contains("git did not move the branch").contains("not today");
        assertThat(checkout.head()).isEqualTo(start);
        assertThat(checkout.status()).isEmpty();
    }

    // ------------------------------------------------------------------------
    //  Topics that do not match the sources
    // ------------------------------------------------------------------------

    @Test
    @DisplayName(
            "bad input: a source that is in no topic, in two, or is none, is named with exit code 1")
    void topicsDoNotMatch() throws Exception {
        String list = new String(Files.readAllBytes(UpstreamTopics.LIST), StandardCharsets.UTF_8);
        UpstreamTopics.Topic first = UpstreamTopics.read().topics.get(0);
        String path = first.files.get(0);
        String line = "file " + path + "\n";

        assertMismatch(list.replace(line, ""), "these files are in no topic", path);
        assertMismatch(list.replace(line, line + line), "these files stand more than once", path);
        assertMismatch(
                list.replace(line, line + "file paimon-core/src/Gone.java\n"),
                "do not exist",
                "paimon-core/src/Gone.java");
        assertMismatch(
                list.replace("leave " + path, "") + "leave " + path + "\n",
                "cannot be read",
                "\"leave\" takes a path and the reason");
        assertMismatch(
                list.replace("\nfile ", "\nfiles "), "cannot be read", "unknown word \"files\"");
        assertMismatch(
                list.replace("delete " + DELETED + "\n", ""), "overlays.txt", "CommittableEvent");
    }

    @Test
    @DisplayName(
            "bad input: a promise that is not kept, not known or not named in the topic's files")
    void promisesDoNotMatch() throws Exception {
        String list = new String(Files.readAllBytes(UpstreamTopics.LIST), StandardCharsets.UTF_8);
        UpstreamTopics.Topic first = UpstreamTopics.read().topics.get(0);

        assertMismatch(list.replaceAll("(?m)^(promises .*) U1\\b", "$1"), "these promises", "U1");
        assertMismatch(
                list.replaceFirst("\npromises ", "\npromises T99 "), "these promises", "T99");
        assertMismatch(
                list.replaceFirst("\npromises ", "\npromises U1 "),
                "no file of this topic names promise U1",
                first.title);
    }

    // ------------------------------------------------------------------------

    private ToolRun export() throws Exception {
        return ToolRun.upstream("export", directory.toString());
    }

    private void assertRefused(Path to, String message) throws Exception {
        ToolRun run = ToolRun.upstream("export", to.toString());

        assertThat(run.exitCode).as(run.errors).isEqualTo(2);
        assertThat(run.errors).startsWith("tools/upstream: ").contains(message);
    }

    private void assertMismatch(String topics, String message, String name) throws Exception {
        String start = checkout.head();
        Path list = temporary.resolve("topics.txt");
        Files.write(list, topics.getBytes(StandardCharsets.UTF_8));

        ToolRun run = ToolRun.upstream("export", directory.toString(), "--topics", list.toString());

        assertThat(run.exitCode).as(run.errors).isEqualTo(1);
        assertThat(run.errors).contains(message).contains(name);
        assertThat(checkout.head()).isEqualTo(start);
        assertThat(checkout.status()).isEmpty();
    }

    private boolean isTest(String path) {
        return path.contains("/src/test/");
    }

    private static Set<String> sources() throws Exception {
        Set<String> sources = new TreeSet<>();
        for (String module :
                new String[] {"paimon-common", "paimon-core", "paimon-flink/paimon-flink-common"}) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
                files.filter(Files::isRegularFile)
                        .forEach(file -> sources.add(ROOT.relativize(file).toString()));
            }
        }
        return sources;
    }

    private static String textOf(String promise) throws Exception {
        String page =
                new String(
                        Files.readAllBytes(ROOT.resolve("docs/promises.md")),
                        StandardCharsets.UTF_8);
        Matcher row =
                Pattern.compile("(?m)^\\| <a id=\"" + promise + "\"></a>\\w+ \\| (.*) \\|$")
                        .matcher(page);
        assertThat(row.find()).as("%s is on the page of the promises", promise).isTrue();
        return row.group(1);
    }
}
