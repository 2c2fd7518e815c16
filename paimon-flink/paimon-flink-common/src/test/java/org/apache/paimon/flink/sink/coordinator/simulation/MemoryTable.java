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
import org.apache.paimon.tag.Tag;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * A table of nothing but snapshot and tag files, in memory. The base's managers read and write
 * those; a data file is a number in the snapshot's record here.
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
    public void commitByAnother() {
        write("another", clock, Collections.emptyMap(), new int[0]);
    }

    @Override
    public void rollbackTo(TagView tag) {
        byte[] json = fileIO.peek(TAGS + tag.name);
        if (tag.snapshotId < earliest) {
            String snapshot =
                    Tag.fromJson(new String(json, StandardCharsets.UTF_8))
                            .trimToSnapshot()
                            .toJson();
            fileIO.poke(SNAPSHOTS + tag.snapshotId, snapshot.getBytes(StandardCharsets.UTF_8));
        }
        for (long id = tag.snapshotId + 1; id <= latest; id++) {
            fileIO.drop(SNAPSHOTS + id);
        }
        for (TagView other : tags()) {
            if (other.snapshotId > tag.snapshotId) {
                fileIO.drop(TAGS + other.name);
            }
        }
        latest = tag.snapshotId;
        earliest = Math.min(earliest, latest);
        tagsChanged = true;
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
            String json = new String(fileIO.peek(path), StandardCharsets.UTF_8);
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

    private void write(String user, long identifier, Map<String, String> properties, int[] files) {
        long id = latest + 1;
        StringBuilder json = new StringBuilder(300);
        json.append("{\"version\":3,\"uuid\":\"").append(id).append('-').append(++clock);
        json.append("\",\"id\":").append(id);
        json.append(",\"schemaId\":0,\"baseManifestList\":\"b\",\"deltaManifestList\":\"d\"");
        json.append(",\"commitUser\":\"").append(user);
        json.append("\",\"commitIdentifier\":").append(identifier);
        json.append(",\"commitKind\":\"APPEND\",\"timeMillis\":").append(clock);
        json.append(",\"totalRecordCount\":0,\"deltaRecordCount\":0");
        String separator = ",\"properties\":{";
        for (Map.Entry<String, String> property : properties.entrySet()) {
            json.append(separator).append('"').append(property.getKey());
            json.append("\":\"").append(property.getValue()).append('"');
            separator = ",";
        }
        json.append(properties.isEmpty() ? "}" : "}}");
        fileIO.poke(SNAPSHOTS + id, json.toString().getBytes(StandardCharsets.UTF_8));
        latest = id;
        newSnapshots.add(new SnapshotView(id, user, identifier, files));
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
                write(user, committable.identifier(), committable.properties(), files);
            }
        }

        /** The base takes everything up to its user's newest identifier for committed. */
        @Override
        public int filterAndCommit(
                List<ManifestCommittable> committables,
                boolean checkAppendFiles,
                boolean partitionMarkDoneRecoverFromState) {
            long newest = newestIdentifier();
            List<ManifestCommittable> missing = new ArrayList<>();
            for (ManifestCommittable committable : committables) {
                if (committable.identifier() > newest) {
                    missing.add(committable);
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
                Snapshot snapshot = Snapshot.fromJson(new String(json, StandardCharsets.UTF_8));
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
