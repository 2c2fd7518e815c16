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

import org.apache.paimon.flink.cluster.Await;
import org.apache.paimon.flink.cluster.ClusterException;

import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

import java.io.IOException;
import java.io.OutputStream;

/** Puts a file where the table's tag directory is; the directory comes back at the end. */
final class TagDirectory implements AutoCloseable {

    private final Round round;
    private final Path tags;
    private final Path aside;
    private final FileSystem files;

    private TagDirectory(Round round) throws IOException {
        this.round = round;
        this.tags = new Path(round.tableDirectory() + "/tag");
        this.aside = new Path(round.tableDirectory() + "/tag-aside");
        this.files = FileSystem.getUnguardedFileSystem(tags.toUri());
    }

    static TagDirectory block(Round round) {
        try {
            TagDirectory blocked = new TagDirectory(round);
            if (!blocked.files.rename(blocked.tags, blocked.aside)) {
                throw new IOException(blocked.tags + " was not moved");
            }
            try (OutputStream out =
                    blocked.files.create(blocked.tags, FileSystem.WriteMode.NO_OVERWRITE)) {
                out.write('x');
            }
            round.broke("tag directory unwritable");
            return blocked;
        } catch (IOException e) {
            throw new ClusterException("cannot block the tag directory: " + e, e);
        }
    }

    /** Takes a savepoint, waits until it is committed, and returns its id. */
    long committedSavepoint() {
        long savepoint =
                round.cluster()
                        .rest()
                        .savepoint(round.job(), round.savepoints(), Round.LIMIT)
                        .checkpointId();
        Await.until("the savepoint to be committed", Round.LIMIT)
                .holds(
                        round.table()::snapshots,
                        all ->
                                all.values().stream()
                                        .anyMatch(s -> s.commitIdentifier() == savepoint));
        return savepoint;
    }

    @Override
    public void close() {
        try {
            files.delete(tags, false);
            if (!files.rename(aside, tags)) {
                throw new IOException(aside + " was not moved");
            }
            round.broke("tag directory writable");
        } catch (IOException e) {
            throw new ClusterException("cannot bring the tag directory back: " + e, e);
        }
    }
}
