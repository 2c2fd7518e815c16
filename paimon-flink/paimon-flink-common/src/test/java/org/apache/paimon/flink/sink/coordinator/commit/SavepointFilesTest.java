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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.tag.testutils.CapturedLog;

import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/** What the place of a savepoint says of it. */
class SavepointFilesTest {

    @TempDir private Path directory;

    private final SavepointFiles files = new SavepointFiles();

    @Test
    @DisplayName("L2: metadata, a directory without it, torn metadata, nothing at all")
    void tellsOutcomes() throws Exception {
        String path = directory.toUri().toString();
        assertThat(files.of(path)).isEqualTo(SavepointOutcome.UNFINISHED);

        Path metadata = directory.resolve("_metadata");
        try (OutputStream out = Files.newOutputStream(metadata)) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(1, Collections.emptyList(), Collections.emptyList()),
                    out);
        }
        assertThat(files.of(path)).isEqualTo(SavepointOutcome.COMPLETE);

        byte[] whole = Files.readAllBytes(metadata);
        for (int length = 0; length < whole.length; length++) {
            Files.write(metadata, Arrays.copyOf(whole, length));
            assertThat(files.of(path))
                    .as("%d bytes", length)
                    .isEqualTo(SavepointOutcome.UNFINISHED);
        }
        assertThat(files.of(path + "not-there")).isEqualTo(SavepointOutcome.GONE);
    }

    @Test
    @DisplayName("L2: a file system that is not there does not tell")
    void doesNotTellWithoutAnAnswer() {
        try (CapturedLog log = CapturedLog.of(SavepointFiles.class)) {
            assertThat(files.of("nowhere://host/savepoint-1")).isEqualTo(SavepointOutcome.UNKNOWN);
            assertThat(log.messages())
                    .anyMatch(
                            line -> line.contains("Cannot tell whether the savepoint at nowhere"));
        }
    }

    @Test
    @DisplayName("L2: a file system that hangs is waited for once, and asked again when it answers")
    void waitsOnceForAHangingFileSystem() throws Exception {
        Path pipe = directory.resolve("_metadata");
        assumeThat(mkfifo(pipe)).as("mkfifo made %s", pipe).isTrue();
        SavepointFiles impatient = new SavepointFiles(Duration.ofMillis(200));
        String path = directory.toUri().toString();
        try (CapturedLog log = CapturedLog.of(SavepointFiles.class)) {
            assertThat(impatient.of(path)).isEqualTo(SavepointOutcome.UNKNOWN);
            assertThat(impatient.of(path)).isEqualTo(SavepointOutcome.UNKNOWN);
            assertThat(log.messages())
                    .anyMatch(line -> line.contains("did not answer within PT0.2S"))
                    .anyMatch(line -> line.contains("has not answered an earlier look"));
        }
        // Whoever opens a pipe waits for the other end.
        try (OutputStream end = Files.newOutputStream(pipe)) {
            end.write(new byte[] {1, 2, 3});
        }
        Files.delete(pipe);
        await("the earlier look is answered")
                .atMost(Duration.ofMinutes(1))
                .until(() -> impatient.of(path) == SavepointOutcome.UNFINISHED);
    }

    @Test
    @DisplayName("L2: who is interrupted while it waits stays interrupted, and is told nothing")
    void isInterruptedWhileItWaits() throws Exception {
        Path pipe = directory.resolve("_metadata");
        assumeThat(mkfifo(pipe)).as("mkfifo made %s", pipe).isTrue();
        try (CapturedLog log = CapturedLog.of(SavepointFiles.class)) {
            Thread.currentThread().interrupt();
            SavepointOutcome outcome = files.of(directory.toUri().toString());

            assertThat(Thread.interrupted()).isTrue();
            assertThat(outcome).isEqualTo(SavepointOutcome.UNKNOWN);
            assertThat(log.messages()).anyMatch(line -> line.contains("interrupted"));
        } finally {
            Thread.interrupted();
            // Both ends: whoever opens the pipe waits no longer.
            new RandomAccessFile(pipe.toFile(), "rw").close();
        }
    }

    private static boolean mkfifo(Path pipe) throws InterruptedException {
        try {
            return new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
