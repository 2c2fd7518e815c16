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

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A program that was run in a directory, and what came of it. */
final class ToolRun {

    final int exitCode;
    final String output;
    final String errors;

    private ToolRun(int exitCode, String output, String errors) {
        this.exitCode = exitCode;
        this.output = output;
        this.errors = errors;
    }

    /** Runs {@code tools/upstream}. */
    static ToolRun upstream(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add("bash");
        command.add(Repository.ROOT.resolve("tools/upstream").toString());
        command.addAll(Arrays.asList(arguments));
        return run(Repository.ROOT, command);
    }

    static boolean works(String program) {
        try {
            return run(Repository.ROOT, Arrays.asList(program, "--version")).exitCode == 0;
        } catch (Exception e) {
            return false;
        }
    }

    static ToolRun run(Path directory, List<String> command) throws Exception {
        File output = Files.createTempFile("tool", ".out").toFile();
        File errors = Files.createTempFile("tool", ".err").toFile();
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command)
                            .directory(directory.toFile())
                            .redirectOutput(output)
                            .redirectError(errors);
            // Neither the settings nor the name of whoever runs the test.
            Map<String, String> environment = builder.environment();
            environment.keySet().removeIf(name -> name.startsWith("GIT_") || name.equals("EMAIL"));
            environment.put("GIT_CONFIG_GLOBAL", "/dev/null");
            environment.put("GIT_CONFIG_NOSYSTEM", "1");
            Process process = builder.start();
            process.getOutputStream().close();
            try {
                assertThat(process.waitFor(3, TimeUnit.MINUTES)).as("%s ends", command).isTrue();
            } finally {
                process.destroyForcibly();
            }
            return new ToolRun(process.exitValue(), text(output), text(errors));
        } finally {
            Files.deleteIfExists(output.toPath());
            Files.deleteIfExists(errors.toPath());
        }
    }

    private static String text(File file) throws IOException {
        return new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
    }
}
