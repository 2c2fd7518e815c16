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

package org.apache.paimon.flink.cluster.demo;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** What {@code tools/demo} says before it starts anything. */
class DemoScriptTest {

    private static final Path SCRIPT = Paths.get("..", "..", "tools", "demo");

    @TempDir private Path directory;

    private int exitCode;
    private String output;

    private void run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(Arrays.asList("bash", SCRIPT.toString()));
        command.addAll(Arrays.asList(arguments));
        File file = directory.resolve("output").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(file);
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        exitCode = process.exitValue();
        output = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    }

    @Test
    void helpNamesEveryOption() throws Exception {
        run(Map.of(), "--help");

        assertThat(exitCode).isZero();
        assertThat(output)
                .contains("--jar", "--dir", "--port", "--end", "--keep", "--json", "Exit code");
    }

    @Test
    void anUnknownOptionIsNamedBeforeAnythingIsBuilt() throws Exception {
        run(Map.of(), "--bogus");

        assertThat(exitCode).isEqualTo(2);
        assertThat(output).contains("'--bogus'", "--help");
    }

    @Test
    void aDirectoryThatIsNotEmptyIsRefused() throws Exception {
        Files.createFile(directory.resolve("mine"));

        run(Map.of(), "--dir", directory.toString());

        assertThat(exitCode).isEqualTo(2);
        assertThat(output).contains("not empty", directory.toString());
    }

    @Test
    void aMissingJavaIsSaidInPlainWords() throws Exception {
        run(Map.of("JAVA_HOME", directory.resolve("nowhere").toString()));

        assertThat(exitCode).isEqualTo(2);
        assertThat(output).contains("nowhere", "JDK 17", "JAVA_HOME");
    }

    @Test
    void aJavaThatIsTooOldIsSaidInPlainWords() throws Exception {
        Path old =
                Files.createDirectories(directory.resolve("jdk8").resolve("bin")).resolve("java");
        Files.write(
                old,
                "#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n"
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(old.toFile().setExecutable(true)).isTrue();

        run(Map.of("JAVA_HOME", directory.resolve("jdk8").toString()));

        assertThat(exitCode).isEqualTo(2);
        assertThat(output).contains("is Java 1", "JDK 17 or newer");
    }
}
