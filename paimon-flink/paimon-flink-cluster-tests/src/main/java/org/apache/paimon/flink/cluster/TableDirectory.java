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

package org.apache.paimon.flink.cluster;

import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * The snapshots and tags of a Paimon table , read from the JSON files of its directory, which may
 * be a local one or one in HDFS: cheap enough to wait for a tag or a commit to appear, and
 * independent of the code under test.
 */
public final class TableDirectory {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SNAPSHOT = "snapshot-";
    private static final String TAG = "tag-";

    private final Path directory;

    public TableDirectory(java.nio.file.Path directory) {
        this(directory.toUri());
    }

    public TableDirectory(URI directory) {
        this.directory = new Path(directory);
    }

    /** Snapshots by id; a snapshot that expires while this reads is left out. */
    public SortedMap<Long, Snapshot> snapshots() {
        SortedMap<Long, Snapshot> snapshots = new TreeMap<>();
        forEachFile(
                "snapshot", SNAPSHOT, (suffix, snapshot) -> snapshots.put(snapshot.id(), snapshot));
        return snapshots;
    }

    public Optional<Snapshot> latest() {
        SortedMap<Long, Snapshot> snapshots = snapshots();
        return snapshots.isEmpty()
                ? Optional.empty()
                : Optional.of(snapshots.get(snapshots.lastKey()));
    }

    /** Tagged snapshots by the name of their tag. */
    public SortedMap<String, Snapshot> tags() {
        SortedMap<String, Snapshot> tags = new TreeMap<>();
        forEachFile("tag", TAG, tags::put);
        return tags;
    }

    private void forEachFile(String folder, String prefix, BiConsumer<String, Snapshot> consumer) {
        Path path = new Path(directory, folder);
        try {
            FileSystem files = FileSystem.getUnguardedFileSystem(path.toUri());
            for (FileStatus file : list(files, path)) {
                String name = file.getPath().getName();
                if (name.startsWith(prefix)) {
                    String suffix = name.substring(prefix.length());
                    read(files, file.getPath()).ifPresent(found -> consumer.accept(suffix, found));
                }
            }
        } catch (IOException e) {
            throw new ClusterException("cannot list " + path + ": " + e, e);
        }
    }

    /** What a directory holds; nothing when there is none. */
    public static FileStatus[] list(FileSystem files, Path path) throws IOException {
        try {
            FileStatus[] found = files.listStatus(path);
            return found == null ? new FileStatus[0] : found;
        } catch (FileNotFoundException e) {
            return new FileStatus[0];
        }
    }

    private static Optional<Snapshot> read(FileSystem files, Path file) {
        try (InputStream in = files.open(file)) {
            JsonNode node = JSON.readTree(in);
            Map<String, String> properties = new TreeMap<>();
            node.path("properties")
                    .fields()
                    .forEachRemaining(e -> properties.put(e.getKey(), e.getValue().asText()));
            return Optional.of(
                    new Snapshot(
                            node.path("id").asLong(),
                            node.path("commitUser").asText(),
                            node.path("commitIdentifier").asLong(),
                            node.path("commitKind").asText(),
                            node.path("totalRecordCount").asLong(),
                            properties));
        } catch (FileNotFoundException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new ClusterException("cannot read " + file, e);
        }
    }

    /** What a snapshot or tag file says. */
    public static final class Snapshot {
        private final long id;
        private final String commitUser;
        private final long commitIdentifier;
        private final String commitKind;
        private final long records;
        private final Map<String, String> properties;

        Snapshot(
                long id,
                String commitUser,
                long commitIdentifier,
                String commitKind,
                long records,
                Map<String, String> properties) {
            this.id = id;
            this.commitUser = commitUser;
            this.commitIdentifier = commitIdentifier;
            this.commitKind = commitKind;
            this.records = records;
            this.properties = Collections.unmodifiableMap(properties);
        }

        public long id() {
            return id;
        }

        public String commitUser() {
            return commitUser;
        }

        /** The checkpoint it was committed for. */
        public long commitIdentifier() {
            return commitIdentifier;
        }

        public String commitKind() {
            return commitKind;
        }

        /** Records in the whole table. */
        public long records() {
            return records;
        }

        /** Such as {@code flink.checkpoint-id}. */
        public Map<String, String> properties() {
            return properties;
        }

        @Override
        public String toString() {
            return String.format(
                    "snapshot %d (checkpoint %d, %d records)", id, commitIdentifier, records);
        }
    }
}
