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

package org.apache.paimon.flink.benchmark;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The benchmark works with both jars. Two measures only, as tiny as can be: {@code tools/benchmark
 * --smoke} takes all of them.
 */
class BenchmarkSmokeIT {

    @TempDir Path directory;

    @Test
    @DisplayName("The same worker measures this distribution and the released jar")
    void measuresBothJars() throws Exception {
        Path out = directory.resolve("out.json");
        Path log = directory.resolve("log");
        Path classPath = Paths.get(System.getProperty("benchmark.classpath"));
        Process process =
                new ProcessBuilder(
                                Paths.get(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-Xmx256m",
                                "-cp",
                                System.getProperty("benchmark.classes")
                                        + File.pathSeparator
                                        + text(classPath).trim(),
                                Benchmark.class.getName(),
                                "--smoke",
                                "--json",
                                "--only",
                                "checkpoint,tag",
                                "--jar",
                                System.getProperty("benchmark.jar"),
                                "--against",
                                System.getProperty("benchmark.base"),
                                "--dir",
                                directory.resolve("work").toString())
                        .redirectOutput(out.toFile())
                        .redirectError(log.toFile())
                        .start();
        try {
            assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }

        assertThat(process.exitValue()).as(text(log)).isZero();
        assertThat(text(out))
                .contains("\"measure\":\"allocation, event to manifest committable\"")
                .contains("\"measure\":\"cost of a tag, savepoint snapshot newest\"")
                .contains("\"failures\":[]")
                .doesNotContain("null", "not measured");
    }

    private static String text(Path file) throws Exception {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
}
