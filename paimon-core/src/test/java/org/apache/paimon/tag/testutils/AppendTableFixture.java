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

package org.apache.paimon.tag.testutils;

import org.apache.paimon.AppendOnlyFileStore;
import org.apache.paimon.Snapshot;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.StoredTableFiles;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.utils.CloseableIterator;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A real unaware-bucket append table {@code (id INT, name STRING)} in a directory of the test, with
 * the base's own writer, commit and reader. Its file system calls are counted.
 */
@SuppressWarnings("try") // the base's close() may be interrupted
public final class AppendTableFixture {

    public static final String DATABASE = "db";
    public static final String TABLE = "t";

    private final CountingFileIO fileIO;
    private final FileSystemCatalog catalog;
    private final String warehouse;

    private AppendTableFixture(CountingFileIO fileIO, String warehouse) {
        this.fileIO = fileIO;
        this.warehouse = warehouse;
        this.catalog = new FileSystemCatalog(fileIO, new Path(warehouse));
    }

    public static AppendTableFixture create(File directory) throws Exception {
        return create(directory, Collections.emptyMap());
    }

    /**
     * @param options on top of {@code bucket = -1}, {@code write-only = true} and Avro files, which
     *     they may override
     */
    public static AppendTableFixture create(File directory, Map<String, String> options)
            throws Exception {
        return create(directory, options, Collections.emptyList());
    }

    /** The same, with a partition for each name, and so for each row. */
    public static AppendTableFixture createPartitioned(File directory) throws Exception {
        return create(directory, Collections.emptyMap(), Collections.singletonList("name"));
    }

    /** The same in another file system. */
    public static AppendTableFixture create(FileIO fileIO, String warehouse) throws Exception {
        return create(fileIO, warehouse, Collections.emptyMap(), Collections.emptyList());
    }

    private static AppendTableFixture create(
            File directory, Map<String, String> options, List<String> partitionKeys)
            throws Exception {
        return create(LocalFileIO.create(), directory.toURI().toString(), options, partitionKeys);
    }

    private static AppendTableFixture create(
            FileIO fileIO,
            String warehouse,
            Map<String, String> options,
            List<String> partitionKeys)
            throws Exception {
        AppendTableFixture fixture = new AppendTableFixture(new CountingFileIO(fileIO), warehouse);
        fixture.catalog.createDatabase(DATABASE, true);
        fixture.createTable(options, partitionKeys);
        return fixture;
    }

    private void createTable(Map<String, String> options, List<String> partitionKeys)
            throws Exception {
        catalog.createTable(
                Identifier.create(DATABASE, TABLE),
                Schema.newBuilder()
                        .column("id", DataTypes.INT())
                        .column("name", DataTypes.STRING())
                        .partitionKeys(partitionKeys)
                        .option("bucket", "-1")
                        .option("write-only", "true")
                        .option("file.format", "avro")
                        .options(options)
                        .build(),
                false);
    }

    public void dropTable() throws Exception {
        catalog.dropTable(Identifier.create(DATABASE, TABLE), false);
    }

    /** Creates the table again after it was dropped. */
    public void createTableAgain() throws Exception {
        createTable(Collections.emptyMap(), Collections.emptyList());
    }

    public String warehouse() {
        return warehouse;
    }

    public CountingFileIO fileIO() {
        return fileIO;
    }

    /** The table as of now; a new object each time. */
    public FileStoreTable table() throws Exception {
        return (FileStoreTable) catalog.getTable(Identifier.create(DATABASE, TABLE));
    }

    /** The data files of the table as it is when they are asked for. */
    public StoredTableFiles files() {
        return new StoredTableFiles(
                () -> {
                    try {
                        return table();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
    }

    public SnapshotManager snapshotManager() throws Exception {
        return table().snapshotManager();
    }

    public TagManager tagManager() throws Exception {
        return table().tagManager();
    }

    // ------------------------------------------------------------------------
    //  Writing
    // ------------------------------------------------------------------------

    /** Writes files with these ids, without committing them. */
    public List<CommitMessage> write(String commitUser, long identifier, int... ids)
            throws Exception {
        try (StreamTableWrite write = table().newWrite(commitUser)) {
            for (int id : ids) {
                write.write(GenericRow.of(id, BinaryString.fromString("row " + id)));
            }
            return write.prepareCommit(true, identifier);
        }
    }

    /**
     * Commits rows as a streaming job would.
     *
     * @return the table's newest snapshot, which is that of the commit
     */
    public Snapshot commit(String commitUser, long identifier, int... ids) throws Exception {
        return commit(
                commitUser,
                new ManifestCommittable(identifier, null, write(commitUser, identifier, ids)));
    }

    /** Commits rows as a committer of the given run does. */
    public Snapshot commitAs(String commitUser, String runId, long identifier, int... ids)
            throws Exception {
        return commitAs(commitUser, runId, identifier, write(commitUser, identifier, ids));
    }

    /** Commits files that were written before. */
    public Snapshot commitAs(
            String commitUser, String runId, long identifier, List<CommitMessage> files)
            throws Exception {
        ManifestCommittable committable = new ManifestCommittable(identifier, null, files);
        CommitProperties.stamp(committable, "job of " + runId, runId);
        return commit(commitUser, committable);
    }

    /** Commits rows as the complete cut of a savepoint. */
    public Snapshot commitSavepoint(String commitUser, String runId, long identifier, int... ids)
            throws Exception {
        return commitSavepoint(commitUser, runId, identifier, null, ids);
    }

    /** The same, of a savepoint that is written to a path. */
    public Snapshot commitSavepoint(
            String commitUser, String runId, long identifier, String path, int... ids)
            throws Exception {
        ManifestCommittable committable =
                new ManifestCommittable(identifier, null, write(commitUser, identifier, ids));
        CommitProperties.stamp(committable, "job of " + runId, runId);
        CommitProperties.stampSavepoint(committable, path);
        return commit(commitUser, committable);
    }

    private Snapshot commit(String commitUser, ManifestCommittable committable) throws Exception {
        try (TableCommitImpl commit = table().newCommit(commitUser)) {
            commit.ignoreEmptyCommit(false);
            commit.commit(committable);
        }
        return snapshotManager().latestSnapshotFromFileSystem();
    }

    /** Rewrites all files of the table into one per partition, as a compaction job does. */
    public Snapshot compact(String commitUser, long identifier) throws Exception {
        AppendOnlyFileStore store = (AppendOnlyFileStore) table().store();
        Map<BinaryRow, List<DataFileMeta>> files = new HashMap<>();
        for (ManifestEntry entry : store.newScan().plan().files()) {
            files.computeIfAbsent(entry.partition(), partition -> new ArrayList<>())
                    .add(entry.file());
        }
        List<CommitMessage> messages = new ArrayList<>();
        BaseAppendFileStoreWrite write = store.newWrite(commitUser);
        write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
        for (Map.Entry<BinaryRow, List<DataFileMeta>> partition : files.entrySet()) {
            messages.add(
                    new AppendCompactTask(partition.getKey(), partition.getValue())
                            .doCompact(table(), write));
        }
        write.close();
        return commit(commitUser, new ManifestCommittable(identifier, null, messages));
    }

    /** Undoes what was committed after a tag by a snapshot of its own. */
    public Snapshot rollbackToAsLatest(String tagName) throws Exception {
        try (TableCommitImpl commit = table().newCommit("rollback-to-as-latest-of-this-test")) {
            commit.rollbackToAsLatest(tagManager().getOrThrow(tagName));
        }
        return snapshotManager().latestSnapshotFromFileSystem();
    }

    /** Puts snapshots of another user on top of the newest one, without data. */
    public void manySnapshots(String commitUser, int count) throws Exception {
        SnapshotManager snapshots = snapshotManager();
        Snapshot newest = snapshots.latestSnapshotFromFileSystem();
        for (int i = 1; i <= count; i++) {
            long id = newest.id() + i;
            fileIO.writeFile(snapshots.snapshotPath(id), copy(newest, id, commitUser), false);
        }
        hint("LATEST", newest.id() + count);
    }

    private static String copy(Snapshot original, long id, String commitUser) {
        return new Snapshot(
                        id,
                        original.schemaId(),
                        original.baseManifestList(),
                        original.baseManifestListSize(),
                        original.deltaManifestList(),
                        original.deltaManifestListSize(),
                        null,
                        null,
                        null,
                        commitUser,
                        id,
                        Snapshot.CommitKind.APPEND,
                        original.timeMillis(),
                        1,
                        1,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null)
                .toJson();
    }

    /** Overwrites the hint for the newest or the oldest snapshot. */
    public void hint(String name, long id) throws Exception {
        fileIO.overwriteFileUtf8(
                new Path(snapshotManager().snapshotDirectory(), name), String.valueOf(id));
    }

    // ------------------------------------------------------------------------
    //  Reading
    // ------------------------------------------------------------------------

    /** Ids in the table, sorted, one entry per row. */
    public List<Integer> ids() throws Exception {
        return ids(table());
    }

    /** Ids in the table at a tag, sorted, one entry per row. */
    public List<Integer> idsAtTag(String tagName) throws Exception {
        return ids(table().copy(Collections.singletonMap("scan.tag-name", tagName)));
    }

    /** Ids in the table at a snapshot, sorted, one entry per row. */
    public List<Integer> idsAtSnapshot(long snapshotId) throws Exception {
        return ids(
                table().copy(
                                Collections.singletonMap(
                                        "scan.snapshot-id", Long.toString(snapshotId))));
    }

    private static List<Integer> ids(FileStoreTable table) throws Exception {
        List<Integer> ids = new ArrayList<>();
        ReadBuilder read = table.newReadBuilder();
        try (CloseableIterator<InternalRow> rows =
                read.newRead().createReader(read.newScan().plan()).toCloseableIterator()) {
            while (rows.hasNext()) {
                ids.add(rows.next().getInt(0));
            }
        }
        Collections.sort(ids);
        return ids;
    }

    /** Snapshots in the table, oldest first. */
    public List<Snapshot> snapshots() throws Exception {
        List<Snapshot> snapshots = snapshotManager().safelyGetAllSnapshots();
        snapshots.sort((a, b) -> Long.compare(a.id(), b.id()));
        return snapshots;
    }

    // ------------------------------------------------------------------------
    //  Tags and expiration
    // ------------------------------------------------------------------------

    public List<String> tags() throws Exception {
        List<String> tags = tagManager().allTagNames();
        Collections.sort(tags);
        return tags;
    }

    /** Expires all snapshots but the newest ones, as the base does it. */
    public int expireAllBut(int retained) throws Exception {
        return table().newExpireSnapshots()
                .config(
                        ExpireConfig.builder()
                                .snapshotRetainMin(retained)
                                .snapshotRetainMax(retained)
                                .snapshotTimeRetain(Duration.ZERO)
                                .build())
                .expire();
    }
}
