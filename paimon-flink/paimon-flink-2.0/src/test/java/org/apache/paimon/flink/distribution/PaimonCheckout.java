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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A small git repository that has the layout of Apache Paimon's, and one commit. */
final class PaimonCheckout {

    static final String SINK =
            "paimon-flink/paimon-flink-common/src/main/java/org/apache/paimon/flink/sink/";
    static final String FACTORIES =
            "paimon-flink/paimon-flink-common/src/main/resources/META-INF/services/"
                    + "org.apache.paimon.factories.Factory";

    final Path directory;

    private PaimonCheckout(Path directory) {
        this.directory = directory;
    }

    static PaimonCheckout create(Path directory) throws Exception {
        PaimonCheckout checkout = new PaimonCheckout(directory.toRealPath());
        checkout.git("init", "--quiet");
        checkout.git("config", "user.name", "A reviewer");
        checkout.git("config", "user.email", "reviewer@example.org");
        checkout.git("config", "core.fsync", "none");
        checkout.write("pom.xml", "<project><artifactId>paimon-parent</artifactId></project>\n");
        checkout.write("paimon-common/pom.xml", "<project/>\n");
        checkout.write("paimon-core/pom.xml", "<project/>\n");
        checkout.write("paimon-flink/paimon-flink-common/pom.xml", "<project/>\n");
        checkout.write(SINK + "RowAppendTableSink.java", "class RowAppendTableSink {}\n");
        checkout.write(SINK + "coordinator/CommittableEvent.java", "class CommittableEvent {}\n");
        checkout.write(SINK + "Other.java", "class Other { CommittableEvent event; }\n");
        // Without an end of its last line.
        checkout.write(FACTORIES, "# theirs\norg.apache.paimon.First\norg.apache.paimon.Second");
        checkout.commit("Theirs");
        return checkout;
    }

    void write(String path, String text) throws IOException {
        Path file = directory.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    String read(String path) throws IOException {
        return new String(Files.readAllBytes(directory.resolve(path)), StandardCharsets.UTF_8);
    }

    void commit(String message) throws Exception {
        git("add", "--all");
        git("commit", "--quiet", "-m", message);
    }

    String head() throws Exception {
        return git("rev-parse", "HEAD").trim();
    }

    /** The commits behind the given one, the oldest first. */
    List<String> commitsSince(String start) throws Exception {
        return lines(git("rev-list", "--reverse", start + "..HEAD"));
    }

    String message(String commit) throws Exception {
        return git("log", "-1", "--format=%B", commit);
    }

    List<String> paths(String commit) throws Exception {
        return lines(git("diff-tree", "--no-commit-id", "--name-only", "-r", commit));
    }

    String status() throws Exception {
        return git("status", "--porcelain");
    }

    String git(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add("git");
        command.addAll(Arrays.asList(arguments));
        ToolRun run = ToolRun.run(directory, command);
        assertThat(run.exitCode).as("%s: %s", command, run.errors).isZero();
        return run.output;
    }

    private static List<String> lines(String output) {
        return output.isEmpty() ? Collections.emptyList() : Arrays.asList(output.split("\n"));
    }
}
