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
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.fs.Path;
import org.apache.paimon.manifest.ExpireFileEntry;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.TableFiles;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A table of nothing but snapshot and tag files, in memory. The base's managers read and write
 * those; what stands for manifests is a {@link Content} per snapshot.
 *
 * <p>A data file is a number. A compaction rewrites it: its rows stay, under the same number, but
 * the file does not belong to the table any more. It exists as long as a snapshot or tag has it;
 * one that was never committed exists as well.
 */
final class MemoryTable implements SimulatedTable {

    private static final Path LOCATION = new Path("/table");
    private static final String SNAPSHOTS = LOCATION + "/snapshot/snapshot-";
    private static final String TAGS = LOCATION + "/tag/tag-";

    /** To parse a path takes longer than to read the file behind it. */
    private static final Map<String, Path> PATHS = new ConcurrentHashMap<>();

    private final MemoryFileIO fileIO;
    private final SnapshotManager snapshotManager;
    private final TagManager tagManager;
    private final boolean forceSnapshots;
    private final List<SnapshotView> newSnapshots = new ArrayList<>();

    /** What each snapshot holds, by its time, which is never used again. */
    private final Map<Long, Content> contents = new HashMap<>();

    private final BitSet everCommitted = new BitSet();
    private final TableFiles files = new KnownFiles();
    private Content head = new Content(new BitSet(), new BitSet(), new BitSet(), new BitSet());
    private boolean tagsChanged = true;
    private long earliest = 1;
    private long latest;
    private long clock;

    MemoryTable(MemoryFileIO.Watcher watcher, boolean forceSnapshots) {
        this.forceSnapshots = forceSnapshots;
        this.fileIO =
                new MemoryFileIO(
                        new MemoryFileIO.Watcher() {
                            @Override
                            public void before(MemoryFileIO.Change change, String path)
                                    throws IOException {
                                if (path.startsWith(TAGS)) {
                                    tagsChanged = true;
                                }
                                watcher.before(change, path);
                            }

                            @Override
                            public void after(MemoryFileIO.Change change, String path)
                                    throws IOException {
                                watcher.after(change, path);
                            }
                        });
        this.snapshotManager = new KnowingSnapshotManager();
        this.tagManager = new KnowingTagManager();
    }

    /** What a crash in the middle of writing a file leaves behind. */
    void tear(String path) {
        byte[] content = fileIO.peek(path);
        if (content != null) {
            fileIO.poke(path, java.util.Arrays.copyOf(content, content.length / 2));
        }
    }

    @Override
    public Committer<Committable, ManifestCommittable> committer(Committer.Context context) {
        return new MemoryCommitter(context.commitUser());
    }

    @Override
    public SnapshotManager snapshotManager() {
        return snapshotManager;
    }

    @Override
    public TagManager tagManager() {
        return tagManager;
    }

    @Override
    public TagDeletion tagDeletion() {
        return new NoFilesTagDeletion(fileIO);
    }

    @Override
    public TableFiles files() {
        return files;
    }

    @Override
    public long creationMillis() {
        return 1;
    }

    @Override
    public CommitMessage newFile(int number) {
        return new SimulatedFile(number);
    }

    @Override
    public CheckpointCommittablesSerializer serializer() {
        return SimulatedFile.SERIALIZER;
    }

    @Override
    public void expireAllBut(int retained) {
        for (long id = latest - retained; id > 0; id--) {
            if (fileIO.peek(SNAPSHOTS + id) == null) {
                break;
            }
            fileIO.drop(SNAPSHOTS + id);
        }
        earliest = Math.max(earliest, latest - retained + 1);
    }

    @Override
    public void commitByAnother(int times) {
        for (int i = 0; i < times; i++) {
            write(
                    "another",
                    clock,
                    "APPEND",
                    Collections.emptyMap(),
                    new int[0],
                    head.unchanged(),
                    0);
        }
    }

    @Override
    public boolean compact() {
        if (head.files.isEmpty()) {
            return false;
        }
        Content compacted = new Content(head.rows, new BitSet(), new BitSet(), head.files);
        write("another", clock, "COMPACT", Collections.emptyMap(), new int[0], compacted, 0);
        return true;
    }

    @Override
    public void rollbackTo(TagView tag) {
        if (tag.snapshotId < earliest) {
            fileIO.poke(SNAPSHOTS + tag.snapshotId, snapshotIn(tag).toJson().getBytes(UTF_8));
        }
        rollbackTo(tag.snapshotId);
    }

    @Override
    public void rollbackTo(long snapshotId) {
        for (long id = snapshotId + 1; id <= latest; id++) {
            fileIO.drop(SNAPSHOTS + id);
        }
        for (TagView other : tags()) {
            if (other.snapshotId > snapshotId) {
                fileIO.drop(TAGS + other.name);
            }
        }
        latest = snapshotId;
        earliest = Math.min(earliest, latest);
        head = contents.get(snapshot(latest).timeMillis());
        tagsChanged = true;
    }

    @Override
    public boolean rollsBackAsLatest() {
        return true;
    }

    @Override
    public void rollbackToAsLatest(TagView tag) {
        rollbackToAsLatest(snapshotIn(tag));
    }

    @Override
    public void rollbackToAsLatest(long snapshotId) {
        rollbackToAsLatest(snapshot(snapshotId));
    }

    private void rollbackToAsLatest(Snapshot target) {
        Content content = contents.get(target.timeMillis());
        BitSet added = (BitSet) content.files.clone();
        added.andNot(head.files);
        BitSet removed = (BitSet) head.files.clone();
        removed.andNot(content.files);
        write(
                "rollback-to-as-latest-" + clock,
                Long.MAX_VALUE,
                "OVERWRITE",
                Collections.emptyMap(),
                new int[0],
                new Content(content.rows, content.files, added, removed),
                target.id());
    }

    @Override
    public void deleteTag(TagView tag) {
        fileIO.drop(TAGS + tag.name);
        tagsChanged = true;
    }

    private Snapshot snapshot(long id) {
        return Snapshot.fromJson(new String(fileIO.peek(SNAPSHOTS + id), UTF_8));
    }

    private Snapshot snapshotIn(TagView tag) {
        return Tag.fromJson(new String(fileIO.peek(TAGS + tag.name), UTF_8)).trimToSnapshot();
    }

    /** Files that belong to no snapshot and no tag any more. */
    @Override
    public BitSet deletedFiles() {
        BitSet deleted = (BitSet) everCommitted.clone();
        deleted.andNot(head.files);
        for (long id = latest; id >= earliest && !deleted.isEmpty(); id--) {
            deleted.andNot(contents.get(timeOf(fileIO.peek(SNAPSHOTS + id))).files);
        }
        for (String path : fileIO.paths(TAGS)) {
            byte[] json = fileIO.peek(path);
            if (!deleted.isEmpty() && new String(json, UTF_8).trim().endsWith("}")) {
                deleted.andNot(contents.get(timeOf(json)).files);
            }
        }
        return deleted;
    }

    private static long timeOf(byte[] json) {
        String text = new String(json, UTF_8);
        int from = text.indexOf("\"timeMillis\"");
        from = text.indexOf(':', from) + 1;
        int to = text.indexOf(',', from);
        return Long.parseLong(text.substring(from, to).trim());
    }

    @Override
    public List<SnapshotView> newSnapshots() {
        if (newSnapshots.isEmpty()) {
            return Collections.emptyList();
        }
        List<SnapshotView> fresh = new ArrayList<>(newSnapshots);
        newSnapshots.clear();
        return fresh;
    }

    @Override
    public boolean tagsChanged() {
        return tagsChanged;
    }

    @Override
    public List<TagView> tags() {
        tagsChanged = false;
        List<TagView> tags = new ArrayList<>();
        for (String path : fileIO.paths(TAGS)) {
            String json = new String(fileIO.peek(path), UTF_8);
            if (json.trim().endsWith("}")) {
                Tag tag = Tag.fromJson(json);
                tags.add(
                        new TagView(
                                path.substring(TAGS.length()),
                                tag.id(),
                                tag.commitUser(),
                                tag.commitIdentifier()));
            }
        }
        return tags;
    }

    @Override
    public boolean snapshotExists(long id) {
        return fileIO.peek(SNAPSHOTS + id) != null;
    }

    @Override
    public void close() {}

    private void write(
            String user,
            long identifier,
            String kind,
            Map<String, String> properties,
            int[] files,
            Content content,
            long target) {
        long id = latest + 1;
        StringBuilder json = new StringBuilder(300);
        json.append("{\"version\":3,\"uuid\":\"").append(id).append('-').append(++clock);
        json.append("\",\"id\":").append(id);
        json.append(",\"schemaId\":0,\"baseManifestList\":\"b\",\"deltaManifestList\":\"d\"");
        json.append(",\"commitUser\":\"").append(user);
        json.append("\",\"commitIdentifier\":").append(identifier);
        json.append(",\"commitKind\":\"").append(kind);
        json.append("\",\"timeMillis\":").append(clock);
        json.append(",\"totalRecordCount\":").append(content.rows.cardinality());
        json.append(",\"deltaRecordCount\":0");
        String separator = ",\"properties\":{";
        for (Map.Entry<String, String> property : properties.entrySet()) {
            json.append(separator).append('"').append(property.getKey());
            json.append("\":\"").append(property.getValue()).append('"');
            separator = ",";
        }
        json.append(properties.isEmpty() ? "}" : "}}");
        fileIO.poke(SNAPSHOTS + id, json.toString().getBytes(UTF_8));
        latest = id;
        head = content;
        contents.put(clock, content);
        newSnapshots.add(new SnapshotView(id, user, identifier, files, target));
    }

    private static Path path(String path) {
        return PATHS.computeIfAbsent(path, Path::new);
    }

    /** The base's, with the ids of the oldest and newest snapshot in memory instead of in hints. */
    private final class KnowingSnapshotManager extends SnapshotManager {

        private static final long serialVersionUID = 1L;

        private KnowingSnapshotManager() {
            super(fileIO, LOCATION, "main", null, null);
        }

        @Override
        public Path snapshotPath(long id) {
            return path(SNAPSHOTS + id);
        }

        @Override
        public Long latestSnapshotIdFromFileSystem() {
            return latest == 0 ? null : (Long) latest;
        }

        @Override
        public Long earliestSnapshotId() {
            return latest == 0 ? null : (Long) earliest;
        }
    }

    private final class KnowingTagManager extends TagManager {

        private KnowingTagManager() {
            super(fileIO, LOCATION);
        }

        @Override
        public Path tagPath(String name) {
            return path(TAGS + name);
        }
    }

    /** Commits as the base does: one snapshot per identifier, in order. */
    private final class MemoryCommitter implements Committer<Committable, ManifestCommittable> {

        private final String user;

        private MemoryCommitter(String user) {
            this.user = user;
        }

        @Override
        public boolean forceCreatingSnapshot() {
            return forceSnapshots;
        }

        @Override
        public ManifestCommittable combine(
                long checkpointId, long watermark, List<Committable> committables) {
            return combine(
                    checkpointId,
                    watermark,
                    new ManifestCommittable(checkpointId, watermark),
                    committables);
        }

        @Override
        public ManifestCommittable combine(
                long checkpointId,
                long watermark,
                ManifestCommittable manifestCommittable,
                List<Committable> committables) {
            for (Committable committable : committables) {
                manifestCommittable.addFileCommittable(committable.commitMessage());
            }
            return manifestCommittable;
        }

        @Override
        public void commit(List<ManifestCommittable> committables) {
            for (ManifestCommittable committable : committables) {
                int[] files = new int[committable.fileCommittables().size()];
                for (int i = 0; i < files.length; i++) {
                    files[i] = ((SimulatedFile) committable.fileCommittables().get(i)).number;
                }
                write(
                        user,
                        committable.identifier(),
                        "APPEND",
                        committable.properties(),
                        files,
                        head.with(files),
                        0);
                for (int file : files) {
                    everCommitted.set(file);
                }
            }
        }

        /**
         * The base takes everything up to its user's newest identifier for committed. It refuses
         * what is not when its files are gone.
         */
        @Override
        public int filterAndCommit(
                List<ManifestCommittable> committables,
                boolean checkAppendFiles,
                boolean partitionMarkDoneRecoverFromState)
                throws IOException {
            long newest = newestIdentifier();
            List<ManifestCommittable> missing = new ArrayList<>();
            for (ManifestCommittable committable : committables) {
                if (committable.identifier() > newest) {
                    missing.add(committable);
                    if (checkAppendFiles
                            && files.missing(committable.fileCommittables()).isPresent()) {
                        throw new IllegalStateException(
                                "Files of commit "
                                        + committable.identifier()
                                        + " are gone: a very old savepoint.");
                    }
                }
            }
            commit(missing);
            return missing.size();
        }

        private long newestIdentifier() {
            for (long id = latest; id > 0; id--) {
                byte[] json = fileIO.peek(SNAPSHOTS + id);
                if (json == null) {
                    break;
                }
                Snapshot snapshot = Snapshot.fromJson(new String(json, UTF_8));
                if (snapshot.commitUser().equals(user)) {
                    return snapshot.commitIdentifier();
                }
            }
            return Long.MIN_VALUE;
        }

        @Override
        public Map<Long, List<Committable>> groupByCheckpoint(
                Collection<Committable> committables) {
            throw new UnsupportedOperationException("The coordinator does not group.");
        }

        @Override
        public void close() {}
    }

    /** What stands for the manifests of one snapshot. Not changed any more. */
    private static final class Content {

        final BitSet rows;
        final BitSet files;
        final BitSet added;
        final BitSet removed;

        Content(BitSet rows, BitSet files, BitSet added, BitSet removed) {
            this.rows = rows;
            this.files = files;
            this.added = added;
            this.removed = removed;
        }

        Content unchanged() {
            return added.isEmpty() && removed.isEmpty()
                    ? this
                    : new Content(rows, files, new BitSet(), new BitSet());
        }

        Content with(int[] newFiles) {
            BitSet fresh = new BitSet();
            for (int file : newFiles) {
                fresh.set(file);
            }
            BitSet allRows = (BitSet) rows.clone();
            allRows.or(fresh);
            BitSet allFiles = (BitSet) files.clone();
            allFiles.or(fresh);
            return new Content(allRows, allFiles, fresh, new BitSet());
        }
    }

    /** What {@code StoredTableFiles} reads from manifests. */
    private final class KnownFiles implements TableFiles {

        @Override
        public boolean anyIn(Snapshot snapshot, Collection<CommitMessage> written) {
            return numbers(written).intersects(contents.get(snapshot.timeMillis()).files);
        }

        @Override
        public boolean anyRemovedBy(Snapshot snapshot, Collection<CommitMessage> written) {
            return numbers(written).intersects(contents.get(snapshot.timeMillis()).removed);
        }

        @Override
        public boolean anyRemovedBy(Snapshot snapshot, Snapshot earlier) {
            return contents.get(earlier.timeMillis())
                    .added
                    .intersects(contents.get(snapshot.timeMillis()).removed);
        }

        @Override
        public Optional<Path> missing(Collection<CommitMessage> written) {
            BitSet missing = numbers(written);
            missing.and(deletedFiles());
            return missing.isEmpty()
                    ? Optional.empty()
                    : Optional.of(path(LOCATION + "/bucket-0/" + missing.nextSetBit(0)));
        }

        private BitSet numbers(Collection<CommitMessage> written) {
            BitSet numbers = new BitSet();
            for (CommitMessage file : written) {
                numbers.set(((SimulatedFile) file).number);
            }
            return numbers;
        }
    }

    /** Deletes tags of a table that has no files. */
    private static final class NoFilesTagDeletion extends TagDeletion {

        private NoFilesTagDeletion(MemoryFileIO fileIO) {
            super(fileIO, null, null, null, null, null, false, 1);
        }

        @Override
        public void cleanUnusedDataFiles(Snapshot snapshot, Predicate<ExpireFileEntry> skipper) {}

        @Override
        public void cleanUnusedManifests(Snapshot snapshot, Set<String> skipped) {}

        @Override
        public Predicate<ExpireFileEntry> dataFileSkipper(List<Snapshot> fromSnapshots) {
            return file -> true;
        }

        @Override
        public Set<String> manifestSkippingSet(List<Snapshot> skippingSnapshots) {
            return Collections.emptySet();
        }

        @Override
        public void cleanEmptyDirectories() {}
    }
}
