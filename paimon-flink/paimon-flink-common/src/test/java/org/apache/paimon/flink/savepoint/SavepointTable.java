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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.Snapshot;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.OwnSnapshot;
import org.apache.paimon.tag.SnapshotPosition;
import org.apache.paimon.tag.TableCreation;
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.apache.flink.types.Row;

import javax.annotation.Nullable;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A table, and savepoints of jobs that write it. */
final class SavepointTable {

    final AppendTableFixture fixture;
    private final Path savepoints;

    private SavepointTable(AppendTableFixture fixture, Path savepoints) {
        this.fixture = fixture;
        this.savepoints = savepoints;
    }

    static SavepointTable create(Path directory) throws Exception {
        File warehouse = directory.resolve("warehouse").toFile();
        return new SavepointTable(
                AppendTableFixture.create(warehouse), directory.resolve("savepoints"));
    }

    FileStoreTable table() throws Exception {
        return fixture.table();
    }

    Path directory(String name) {
        return savepoints.resolve(name);
    }

    /** What a savepoint knows that was taken when these were the newest snapshots. */
    CommitProgress progress(
            long savepointId,
            String run,
            long committedUpTo,
            @Nullable Snapshot anchor,
            @Nullable Snapshot newestOwn)
            throws Exception {
        FileStoreTable table = table();
        return new CommitProgress(
                savepointId,
                run,
                committedUpTo,
                TableCreation.of(table.location(), table.schemaManager()).timeMillis(),
                anchor == null ? SnapshotPosition.START : SnapshotPosition.of(anchor),
                newestOwn == null ? null : OwnSnapshot.of(newestOwn));
    }

    /** The snapshot and the tag of a savepoint, which name its path. */
    Snapshot commitAndTag(String commitUser, String run, long id, String tag, String path, int row)
            throws Exception {
        ManifestCommittable committable =
                new ManifestCommittable(id, null, fixture.write(commitUser, id, row));
        CommitProperties.stamp(committable, "job of " + run, run);
        CommitProperties.stampSavepoint(committable, null);
        committable.addProperty(CommitProperties.SAVEPOINT_PATH, path);
        try (TableCommitImpl commit = table().newCommit(commitUser)) {
            commit.commit(committable);
        }
        Snapshot snapshot = fixture.snapshotManager().latestSnapshotFromFileSystem();
        table().createTag(tag, snapshot.id());
        return snapshot;
    }

    List<Long> snapshotIds() throws Exception {
        List<Long> ids = new ArrayList<>();
        fixture.snapshots().forEach(snapshot -> ids.add(snapshot.id()));
        return ids;
    }

    SavepointRollback rollback(String path) throws Exception {
        return new SavepointRollback(table(), path);
    }

    static List<String> details(Row[] rows, String item) {
        return SqlCalls.details(Arrays.asList(rows), item);
    }
}
