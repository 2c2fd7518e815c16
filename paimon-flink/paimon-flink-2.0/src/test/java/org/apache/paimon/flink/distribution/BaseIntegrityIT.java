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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The base is the pinned file, and a changed byte in it stops the build. The stop is tried on the
 * real rule of {@code tools/paimon-base}: a Maven of its own runs that one execution on a copy of
 * the jar. It needs no network, since the build around this test has just used the same plugin.
 */
class BaseIntegrityIT {

    private static final long DEADLINE_SECONDS = 300;

    @TempDir private Path folder;

    @Test
    void theBaseHasThePinnedSum() throws Exception {
        assertThat(sha256(BuiltFiles.base())).isEqualTo(pinned());
    }

    @Test
    void theRuleAcceptsTheReleasedBytes() throws Exception {
        Outcome outcome = verify(BuiltFiles.base());

        assertThat(outcome.exitCode).as(outcome.output).isZero();
    }

    @Test
    void oneChangedByteStopsTheBuildAndBothSumsAreNamed() throws Exception {
        byte[] bytes = Files.readAllBytes(BuiltFiles.base());
        bytes[bytes.length / 2] ^= 1;
        Path changed = folder.resolve("changed.jar");
        Files.write(changed, bytes);

        Outcome outcome = verify(changed);

        assertThat(outcome.exitCode).as(outcome.output).isNotZero();
        assertThat(outcome.output).contains("BUILD FAILURE", sha256(changed), pinned());
    }

    private Outcome verify(Path jar) throws IOException, InterruptedException {
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        Path log = folder.resolve("maven.log");
        ProcessBuilder builder =
                new ProcessBuilder(
                        BuiltFiles.path("maven.home")
                                .resolve("bin")
                                .resolve(windows ? "mvn.cmd" : "mvn")
                                .toString(),
                        "--batch-mode",
                        "--offline",
                        "--file",
                        BuiltFiles.root().resolve("tools/paimon-base/pom.xml").toString(),
                        "-Dmaven.legacyLocalRepo=true",
                        "-Dmaven.repo.local=" + BuiltFiles.text("maven.repo.local"),
                        "-Dpaimon.base.jar=" + jar,
                        "enforcer:enforce@verify-checksum");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.redirectErrorStream(true).redirectOutput(log.toFile());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS))
                    .as("Maven ended within %s seconds", DEADLINE_SECONDS)
                    .isTrue();
            return new Outcome(process.exitValue(), Files.readString(log));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String pinned() {
        return BuiltFiles.text("distribution.base.sha256");
    }

    private static String sha256(Path file) throws IOException, NoSuchAlgorithmException {
        byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        StringBuilder text = new StringBuilder();
        for (byte b : sum) {
            text.append(String.format("%02x", b));
        }
        return text.toString();
    }

    private static final class Outcome {
        private final int exitCode;
        private final String output;

        private Outcome(int exitCode, String output) {
            this.exitCode = exitCode;
            this.output = output;
        }
    }
}
