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

package org.apache.paimon.flink.cluster.chaos;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** Which checkpoints are complete, by their files. */
class CheckpointFilesTest {

    @TempDir private Path directory;

    @Test
    void onlyACheckpointWithMetadataIsComplete() throws Exception {
        assertThat(highest()).isZero();
        complete("job/chk-9");
        complete("job/chk-10");
        Files.createDirectories(directory.resolve("job/chk-11"));
        complete("other/chk-12");

        assertThat(highest()).isEqualTo(10);
    }

    private void complete(String checkpoint) throws Exception {
        Path folder = Files.createDirectories(directory.resolve(checkpoint));
        Files.write(folder.resolve("_metadata"), new byte[] {1});
    }

    private long highest() {
        String root = directory.toUri().toString().replaceAll("/$", "");
        return CheckpointFiles.highestComplete(java.net.URI.create(root), "job");
    }
}
