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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The snapshots and tags of a Paimon table on the local file system, read from the JSON files of
 * its directory: cheap enough to wait for a tag or a commit to appear, and independent of the code
 * under test.
 */
public final class TableDirectory {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SNAPSHOT = "snapshot-";
    private static final String TAG = "tag-";

    private final Path directory;

    public TableDirectory(Path directory) {
        this.directory = directory;
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

    private void forEachFile(
            String folder,
            String prefix,
            java.util.function.BiConsumer<String, Snapshot> consumer) {
        Path path = directory.resolve(folder);
        if (!Files.isDirectory(path)) {
            return;
        }
        try (Stream<Path> files = Files.list(path)) {
            files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .forEach(
                            file ->
                                    read(file)
                                            .ifPresent(
                                                    snapshot ->
                                                            consumer.accept(
                                                                    suffix(file, prefix),
                                                                    snapshot)));
        } catch (IOException e) {
            throw new ClusterException("cannot list " + path, e);
        }
    }

    private static String suffix(Path file, String prefix) {
        return file.getFileName().toString().substring(prefix.length());
    }

    private static Optional<Snapshot> read(Path file) {
        try {
            JsonNode node = JSON.readTree(Files.readAllBytes(file));
            return Optional.of(
                    new Snapshot(
                            node.path("id").asLong(),
                            node.path("commitUser").asText(),
                            node.path("commitIdentifier").asLong(),
                            node.path("commitKind").asText(),
                            node.path("totalRecordCount").asLong()));
        } catch (NoSuchFileException e) {
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

        Snapshot(
                long id,
                String commitUser,
                long commitIdentifier,
                String commitKind,
                long records) {
            this.id = id;
            this.commitUser = commitUser;
            this.commitIdentifier = commitIdentifier;
            this.commitKind = commitKind;
            this.records = records;
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

        @Override
        public String toString() {
            return String.format(
                    "snapshot %d (checkpoint %d, %d records)", id, commitIdentifier, records);
        }
    }
}
