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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.StoreCommitter;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.tag.StoredTableFiles;
import org.apache.paimon.tag.TableFiles;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.CountingFileIO;
import org.apache.paimon.utils.Pair;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A table of the base on a local disk: a file of the simulation is a row with its number. */
final class RealTable implements SimulatedTable {

    private static final String ANOTHER = "another";

    private final Path directory;
    private final AppendTableFixture fixture;
    private final FileStoreTable table;
    private final boolean forceSnapshots;
    private List<Integer> lastContent = Collections.emptyList();
    private long lastSeen;

    private RealTable(Simulation simulation, Path directory, boolean forceSnapshots)
            throws Exception {
        this.directory = directory;
        this.forceSnapshots = forceSnapshots;
        this.fixture =
                AppendTableFixture.create(
                        directory.toFile(),
                        forceSnapshots
                                ? Collections.singletonMap("commit.force-create-snapshot", "true")
                                : Collections.emptyMap());
        this.table = fixture.table();
        // As in memory, there is a snapshot of somebody else: the base waits when there is no hint.
        commitByAnother(1);
        fixture.fileIO()
                .hook(
                        (call, path) -> {
                            boolean change =
                                    call == CountingFileIO.Call.CREATE
                                            || call == CountingFileIO.Call.DELETE;
                            if (change
                                    && path.getName().startsWith("tag-")
                                    && simulation.inLoop()) {
                                simulation.beforeTag(path.toString());
                            }
                        });
    }

    /** Starts a run on a new table in a temporary directory, which the end of the run removes. */
    static Simulation start(RunConfig config) throws Exception {
        Path directory = Files.createTempDirectory("simulated-table");
        return new Simulation(
                config,
                simulation -> {
                    try {
                        return new RealTable(simulation, directory, config.forceSnapshots);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    @Override
    public Committer<Committable, ManifestCommittable> committer(Committer.Context context) {
        TableCommitImpl commit = table.newCommit(context.commitUser());
        return new StoreCommitter(table, commit.ignoreEmptyCommit(!forceSnapshots), context);
    }

    @Override
    public SnapshotManager snapshotManager() {
        return table.snapshotManager();
    }

    @Override
    public TagManager tagManager() {
        return table.tagManager();
    }

    @Override
    public TagDeletion tagDeletion() {
        return table.store().newTagDeletion();
    }

    @Override
    public TableFiles files() {
        return new StoredTableFiles(() -> table);
    }

    @Override
    public long creationMillis() {
        return table.schemaManager().earliestCreationTime();
    }

    @Override
    public CommitMessage newFile(int number) throws Exception {
        return fixture.write("writer", 0, number).get(0);
    }

    @Override
    public CheckpointCommittablesSerializer serializer() {
        return new CheckpointCommittablesSerializer(
                new CommittableSerializer(new CommitMessageSerializer()));
    }

    @Override
    public void expireAllBut(int retained) throws Exception {
        fixture.expireAllBut(retained);
    }

    @Override
    public void commitByAnother(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            fixture.commit(ANOTHER, snapshotCount(), -1);
        }
    }

    @Override
    public boolean compact() {
        // To see which rows a rewritten file holds takes a reader of each snapshot; memory has it.
        return false;
    }

    @Override
    public boolean rollsBackAsLatest() {
        return false;
    }

    @Override
    public void rollbackToAsLatest(TagView tag) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void rollbackToAsLatest(long snapshotId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void deleteTag(TagView tag) throws Exception {
        fixture.table().deleteTag(tag.name);
    }

    private long snapshotCount() {
        Long latest = table.snapshotManager().latestSnapshotIdFromFileSystem();
        return latest == null ? 0 : latest;
    }

    @Override
    public void rollbackTo(TagView tag) throws Exception {
        fixture.table().rollbackTo(tag.name);
        rolledBackTo(tag.snapshotId);
    }

    @Override
    public void rollbackTo(long snapshotId) throws Exception {
        fixture.table().rollbackTo(snapshotId);
        rolledBackTo(snapshotId);
    }

    private void rolledBackTo(long snapshotId) throws Exception {
        lastSeen = snapshotId;
        lastContent = contentOf(snapshotId);
    }

    @Override
    public List<SnapshotView> newSnapshots() throws Exception {
        List<SnapshotView> fresh = new ArrayList<>();
        for (long latest = snapshotCount(); lastSeen < latest; lastSeen++) {
            Snapshot snapshot = table.snapshotManager().tryGetSnapshot(lastSeen + 1);
            // What another commits is of no interest, and to read a table takes long.
            List<Integer> content =
                    ANOTHER.equals(snapshot.commitUser()) ? lastContent : contentOf(snapshot.id());
            List<Integer> added = new ArrayList<>(content);
            for (Integer file : lastContent) {
                added.remove(file);
            }
            lastContent = content;
            fresh.add(
                    new SnapshotView(
                            snapshot.id(),
                            snapshot.commitUser(),
                            snapshot.commitIdentifier(),
                            added.stream().mapToInt(Integer::intValue).toArray()));
        }
        return fresh;
    }

    /** Numbers of the files in a snapshot, those that are there twice twice. */
    private List<Integer> contentOf(long snapshotId) throws Exception {
        return fixture.idsAtSnapshot(snapshotId).stream()
                .filter(id -> id >= 0)
                .collect(Collectors.toList());
    }

    /** Any: it matters only where the table was rolled back. */
    @Override
    public BitSet deletedFiles() {
        BitSet all = new BitSet();
        all.set(0, 10_000);
        return all;
    }

    @Override
    public boolean tagsChanged() {
        return true;
    }

    @Override
    public List<TagView> tags() {
        List<TagView> tags = new ArrayList<>();
        for (Pair<Tag, String> entry : table.tagManager().tagObjects()) {
            Tag tag = entry.getKey();
            tags.add(
                    new TagView(
                            entry.getValue(), tag.id(), tag.commitUser(), tag.commitIdentifier()));
        }
        return tags;
    }

    @Override
    public boolean snapshotExists(long id) {
        return table.snapshotManager().snapshotExists(id);
    }

    @Override
    public void close() {
        fixture.fileIO().clearHook();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
