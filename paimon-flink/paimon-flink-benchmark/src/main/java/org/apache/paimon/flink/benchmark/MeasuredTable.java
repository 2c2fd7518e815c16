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

package org.apache.paimon.flink.benchmark;

import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryRowWriter;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.StreamTableCommit;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.types.DataTypes;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * An unaware-bucket append table of five columns, partitioned by day, and descriptions of files in
 * it: taken from a file that the table's own writer wrote, so that statistics and names have their
 * usual size.
 */
final class MeasuredTable {

    static final Identifier NAME = Identifier.create("benchmark", "orders");

    private final FileSystemCatalog catalog;
    private final CommitMessageImpl template;

    private MeasuredTable(FileSystemCatalog catalog) throws Exception {
        this.catalog = catalog;
        try (StreamTableWrite write = table().newWrite("template")) {
            for (int i = 0; i < 1_000; i++) {
                write.write(row(i, "2026-01-01"));
            }
            this.template = (CommitMessageImpl) write.prepareCommit(true, 1).get(0);
        }
    }

    static MeasuredTable create(java.nio.file.Path directory, Map<String, String> options)
            throws Exception {
        return create(LocalFileIO.create(), directory, options);
    }

    static MeasuredTable create(
            FileIO fileIO, java.nio.file.Path directory, Map<String, String> options)
            throws Exception {
        FileSystemCatalog catalog =
                new FileSystemCatalog(fileIO, new Path(directory.toUri().toString()));
        catalog.createDatabase(NAME.getDatabaseName(), true);
        catalog.createTable(
                NAME,
                Schema.newBuilder()
                        .column("id", DataTypes.BIGINT())
                        .column("customer", DataTypes.STRING())
                        .column("amount", DataTypes.DOUBLE())
                        .column("at", DataTypes.TIMESTAMP(3))
                        .column("day", DataTypes.STRING())
                        .partitionKeys("day")
                        .option("bucket", "-1")
                        .option("write-only", "true")
                        .option("file.format", "avro")
                        .options(options)
                        .build(),
                false);
        return new MeasuredTable(catalog);
    }

    /** The table as of now; a new object each time. */
    FileStoreTable table() throws Exception {
        return (FileStoreTable) catalog.getTable(NAME);
    }

    FileStoreTable table(Map<String, String> dynamicOptions) throws Exception {
        return table().copy(dynamicOptions);
    }

    static GenericRow row(long id, String day) {
        return GenericRow.of(
                id,
                BinaryString.fromString("customer-" + id % 10_000),
                id * 0.25,
                Timestamp.fromEpochMillis(1_767_225_600_000L + id),
                BinaryString.fromString(day));
    }

    /** One snapshot by another user, as most tables have. */
    void addSnapshot() throws Exception {
        try (StreamTableCommit commit = table().newCommit("template")) {
            commit.commit(1, Collections.singletonList(template));
        }
    }

    /** So many new files, each in a partition of its own. */
    List<Committable> files(int count, long checkpointId) {
        List<Committable> files = new ArrayList<>(count);
        DataFileMeta meta = template.newFilesIncrement().newFiles().get(0);
        for (int i = 0; i < count; i++) {
            DataFileMeta file = meta.rename("data-" + UUID.randomUUID() + "-0.avro");
            files.add(
                    new Committable(
                            checkpointId,
                            new CommitMessageImpl(
                                    day(i),
                                    template.bucket(),
                                    template.totalBuckets(),
                                    new DataIncrement(
                                            Collections.singletonList(file),
                                            Collections.emptyList(),
                                            Collections.emptyList()),
                                    CompactIncrement.emptyIncrement())));
        }
        return files;
    }

    private static BinaryRow day(int index) {
        BinaryRow row = new BinaryRow(1);
        BinaryRowWriter writer = new BinaryRowWriter(row);
        writer.writeString(0, BinaryString.fromString(String.format("day-%06d", index)));
        writer.complete();
        return row;
    }
}
