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

import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.TableDirectory;

import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Checkpoints and savepoints as far as their files say: known sooner than by REST. */
final class CheckpointFiles {

    private static final String PREFIX = "chk-";

    private CheckpointFiles() {}

    /** The directories of those below a directory whose metadata is written. */
    static List<Path> completeIn(FileSystem files, Path directory) throws IOException {
        List<Path> complete = new ArrayList<>();
        for (FileStatus file : TableDirectory.list(files, directory)) {
            if (file.isDir() && files.exists(metadata(file.getPath()))) {
                complete.add(file.getPath());
            }
        }
        return complete;
    }

    static Path metadata(Path directory) {
        return new Path(directory, "_metadata");
    }

    /** The highest id of a checkpoint whose metadata is written; 0 if there is none. */
    static long highestComplete(URI checkpoints, String job) {
        Path path = new Path(checkpoints + "/" + job);
        long highest = 0;
        try {
            for (Path checkpoint :
                    completeIn(FileSystem.getUnguardedFileSystem(path.toUri()), path)) {
                String name = checkpoint.getName();
                if (name.startsWith(PREFIX)) {
                    highest = Math.max(highest, Long.parseLong(name.substring(PREFIX.length())));
                }
            }
            return highest;
        } catch (IOException e) {
            throw new ClusterException("cannot list " + path + ": " + e, e);
        }
    }
}
