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

package org.apache.paimon.tag;

import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataFilePathFactory;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.operation.FileStoreScan;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.ScanMode;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** The data files of a real table, read from its manifests and its file system. */
public final class StoredTableFiles implements TableFiles {

    private final Supplier<FileStoreTable> table;

    /**
     * @param table asked only when files have to decide
     */
    public StoredTableFiles(Supplier<FileStoreTable> table) {
        this.table = table;
    }

    @Override
    public boolean anyIn(Snapshot snapshot, Collection<CommitMessage> files) {
        return !scan(snapshot, files).withKind(ScanMode.ALL).plan().files().isEmpty();
    }

    @Override
    public boolean anyRemovedBy(Snapshot snapshot, Collection<CommitMessage> files) {
        return !scan(snapshot, files)
                .withKind(ScanMode.DELTA)
                .plan()
                .files(FileKind.DELETE)
                .isEmpty();
    }

    @Override
    public boolean anyRemovedBy(Snapshot snapshot, Snapshot earlier) {
        FileStoreTable current = table.get();
        Set<String> added = new HashSet<>();
        for (ManifestEntry entry : delta(current, earlier).files(FileKind.ADD)) {
            added.add(entry.fileName());
        }
        return delta(current, snapshot).files(FileKind.DELETE).stream()
                .anyMatch(entry -> added.contains(entry.fileName()));
    }

    private static FileStoreScan.Plan delta(FileStoreTable table, Snapshot snapshot) {
        return table.store()
                .newScan()
                .withSnapshot(snapshot)
                .withKind(ScanMode.DELTA)
                .dropStats()
                .plan();
    }

    private FileStoreScan scan(Snapshot snapshot, Collection<CommitMessage> files) {
        Set<String> names = new HashSet<>();
        Set<BinaryRow> partitions = new HashSet<>();
        for (CommitMessage message : files) {
            for (DataFileMeta file : written((CommitMessageImpl) message)) {
                names.add(file.fileName());
                partitions.add(((CommitMessageImpl) message).partition());
            }
        }
        FileStoreTable current = table.get();
        FileStoreScan scan =
                current.store()
                        .newScan()
                        .withSnapshot(snapshot)
                        .withDataFileNameFilter(names::contains)
                        .dropStats();
        if (!current.partitionKeys().isEmpty()) {
            List<BinaryRow> filter = new ArrayList<>(partitions);
            scan.withPartitionFilter(filter);
        }
        return scan;
    }

    @Override
    public Optional<Path> missing(Collection<CommitMessage> files) throws IOException {
        FileStoreTable current = table.get();
        for (CommitMessage message : files) {
            CommitMessageImpl committed = (CommitMessageImpl) message;
            DataFilePathFactory paths =
                    current.store()
                            .pathFactory()
                            .createDataFilePathFactory(committed.partition(), committed.bucket());
            for (DataFileMeta file : written(committed)) {
                Path path = paths.toPath(file);
                if (!current.fileIO().exists(path)) {
                    return Optional.of(path);
                }
            }
        }
        return Optional.empty();
    }

    private static List<DataFileMeta> written(CommitMessageImpl message) {
        List<DataFileMeta> files = new ArrayList<>(message.newFilesIncrement().newFiles());
        files.addAll(message.compactIncrement().compactAfter());
        return files;
    }
}
