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

package org.apache.paimon.flink.sink.testutils;

import org.apache.paimon.Snapshot;
import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.procedure.RollbackToAsLatestProcedure;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.StreamTableCommit;
import org.apache.paimon.table.sink.StreamTableWrite;
import org.apache.paimon.table.sink.StreamWriteBuilder;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.utils.CloseableIterator;
import org.apache.paimon.utils.SnapshotManager;

import org.awaitility.Awaitility;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** A table {@code (id BIGINT, lane INT)} in a directory of the test, and what became of it. */
@SuppressWarnings("try") // the base's close() may be interrupted
public final class AppendTable {

    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final FileSystemCatalog catalog;
    private final Identifier identifier;

    private AppendTable(FileSystemCatalog catalog, Identifier identifier) {
        this.catalog = catalog;
        this.identifier = identifier;
    }

    /** With the hooks of the scenario. */
    public static AppendTable create(
            java.nio.file.Path warehouse, Scenario scenario, Map<String, String> options)
            throws Exception {
        Map<String, String> all = new HashMap<>();
        for (Class<?> callback :
                Arrays.asList(HookedTagCallback.class, HookedCommitCallback.class)) {
            boolean tag = callback == HookedTagCallback.class;
            all.put(tag ? "tag.callbacks" : "commit.callbacks", callback.getName());
            all.put(
                    (tag ? "tag.callback." : "commit.callback.") + callback.getName() + ".param",
                    scenario.id());
        }
        all.putAll(options);
        FileSystemCatalog catalog =
                new FileSystemCatalog(
                        new HookedFileIO(scenario.id()), new Path(warehouse.toUri().toString()));
        catalog.createDatabase("db", true);
        Identifier identifier = Identifier.create("db", "t" + System.nanoTime());
        catalog.createTable(
                identifier,
                Schema.newBuilder()
                        .column("id", DataTypes.BIGINT())
                        .column("lane", DataTypes.INT())
                        .options(all)
                        .build(),
                false);
        return new AppendTable(catalog, identifier);
    }

    /** A table that exists, without hooks. */
    static AppendTable at(String location) {
        Path path = new Path(location);
        return new AppendTable(
                new FileSystemCatalog(new LocalFileIO(), path.getParent().getParent()),
                Identifier.create("db", path.getName()));
    }

    public String location() {
        return table().location().toString();
    }

    /** The table as of now; a new object each time. */
    public FileStoreTable table() {
        try {
            return (FileStoreTable) catalog.getTable(identifier);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** The same with other options, which are not stored. */
    public FileStoreTable table(String... keysAndValues) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            options.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return table().copy(options);
    }

    // ------------------------------------------------------------------------
    //  Content
    // ------------------------------------------------------------------------

    /** Ids in the table, sorted, one entry per row. */
    public List<Long> ids() {
        return table().snapshotManager().latestSnapshotFromFileSystem() == null
                ? Collections.emptyList()
                : ids(table());
    }

    public List<Long> idsAtTag(String tag) {
        return ids(table("scan.tag-name", tag));
    }

    private static List<Long> ids(FileStoreTable table) {
        List<Long> ids = new ArrayList<>();
        ReadBuilder read = table.newReadBuilder();
        try (RecordReader<InternalRow> reader = read.newRead().createReader(read.newScan().plan());
                CloseableIterator<InternalRow> rows = new RecordReaderIterator<>(reader)) {
            while (rows.hasNext()) {
                ids.add(rows.next().getLong(0));
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        Collections.sort(ids);
        return ids;
    }

    /** Every one of these records is there once, and nothing else. */
    public void assertHolds(Set<Long> records) {
        assertThat(describe(ids())).isEqualTo(describe(records));
        assertIdentifiersRise();
    }

    /** A list of many numbers as one that a human can read. */
    private static String describe(Collection<Long> sorted) {
        StringBuilder text = new StringBuilder(sorted.size() + " rows:");
        long from = Long.MIN_VALUE;
        long to = Long.MIN_VALUE;
        for (long id : sorted) {
            if (id != to + 1) {
                text.append(from == Long.MIN_VALUE ? "" : " " + from + ".." + to);
                from = id;
            }
            to = id;
        }
        return text.append(from == Long.MIN_VALUE ? "" : " " + from + ".." + to).toString();
    }

    /** How many files the table has, by their names. */
    public int distinctFiles() {
        Set<String> names = new HashSet<>();
        for (Split split : table().newReadBuilder().newScan().plan().splits()) {
            ((DataSplit) split).dataFiles().forEach(file -> names.add(file.fileName()));
        }
        return names.size();
    }

    // ------------------------------------------------------------------------
    //  Snapshots
    // ------------------------------------------------------------------------

    /** Oldest first. */
    public List<Snapshot> snapshots() {
        try {
            List<Snapshot> snapshots = table().snapshotManager().safelyGetAllSnapshots();
            snapshots.sort(Comparator.comparingLong(Snapshot::id));
            return snapshots;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    public List<Long> identifiers() {
        List<Long> identifiers = new ArrayList<>();
        snapshots().forEach(snapshot -> identifiers.add(snapshot.commitIdentifier()));
        return identifiers;
    }

    public Set<String> commitUsers() {
        Set<String> users = new TreeSet<>();
        snapshots().forEach(snapshot -> users.add(snapshot.commitUser()));
        return users;
    }

    /** No commit user has committed an identifier twice or a smaller one after it. */
    public void assertIdentifiersRise() {
        Map<String, Long> last = new HashMap<>();
        for (Snapshot snapshot : snapshots()) {
            if (snapshot.commitKind() != Snapshot.CommitKind.APPEND) {
                continue;
            }
            Long before = last.put(snapshot.commitUser(), snapshot.commitIdentifier());
            assertThat(before == null || before < snapshot.commitIdentifier())
                    .as("identifiers of %s rise: %s", snapshot.commitUser(), identifiers())
                    .isTrue();
        }
    }

    /** The watermark of no snapshot is before that of an earlier one. */
    public void assertWatermarksRise() {
        long last = Long.MIN_VALUE;
        for (Snapshot snapshot : snapshots()) {
            long watermark = snapshot.watermark() == null ? last : snapshot.watermark();
            assertThat(watermark)
                    .as("watermark of snapshot %s", snapshot.id())
                    .isGreaterThanOrEqualTo(last);
            last = watermark;
        }
    }

    /** Waits until the checkpoint or savepoint, which has data, has become a snapshot. */
    public void awaitCommitted(long checkpointId) {
        Awaitility.await("a snapshot with identifier " + checkpointId)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> identifiers().contains(checkpointId));
    }

    /** The same, by somebody else than this commit user. */
    public void awaitCommittedByAnother(String commitUser, long checkpointId) {
        Awaitility.await("a snapshot with identifier " + checkpointId + " not by " + commitUser)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () ->
                                snapshots().stream()
                                        .anyMatch(
                                                snapshot ->
                                                        !commitUser.equals(snapshot.commitUser())
                                                                && snapshot.commitIdentifier()
                                                                        == checkpointId));
    }

    /** Waits until the newest snapshot is that of the checkpoint or savepoint, which has data. */
    public void awaitNewestCommitted(long checkpointId) {
        Awaitility.await("the newest snapshot has identifier " + checkpointId)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> latest() != null && latest().commitIdentifier() == checkpointId);
    }

    public Snapshot newestWithIdentifier(long identifier) {
        Snapshot newest = null;
        for (Snapshot snapshot : snapshots()) {
            newest = snapshot.commitIdentifier() == identifier ? snapshot : newest;
        }
        assertThat(newest).as("a snapshot with identifier %s", identifier).isNotNull();
        return newest;
    }

    public Snapshot latest() {
        return table().snapshotManager().latestSnapshotFromFileSystem();
    }

    // ------------------------------------------------------------------------
    //  What others do to a table
    // ------------------------------------------------------------------------

    /** Other users commit so many times, without data. */
    public void addForeignSnapshots(int count) throws Exception {
        Snapshot last = latest();
        SnapshotManager snapshots = table().snapshotManager();
        for (long id = last.id() + 1; id <= last.id() + count; id++) {
            Snapshot foreign =
                    new Snapshot(
                            id,
                            last.schemaId(),
                            last.baseManifestList(),
                            last.baseManifestListSize(),
                            last.deltaManifestList(),
                            last.deltaManifestListSize(),
                            null,
                            null,
                            null,
                            "another-user",
                            id,
                            Snapshot.CommitKind.APPEND,
                            last.timeMillis(),
                            last.totalRecordCount(),
                            0,
                            null,
                            last.watermark(),
                            null,
                            null,
                            null,
                            null);
            snapshots.fileIO().writeFile(snapshots.snapshotPath(id), foreign.toJson(), false);
        }
        snapshots.commitLatestHint(last.id() + count);
    }

    /** Another user appends one row that no scenario has. */
    public void appendForeignRow(long id) throws Exception {
        write(table().newBatchWriteBuilder(), Collections.singletonList(id));
    }

    /** Another process commits one row as this commit user. */
    public void commitAs(String commitUser, long identifier, long id) throws Exception {
        StreamWriteBuilder builder = table().newStreamWriteBuilder().withCommitUser(commitUser);
        try (StreamTableWrite write = builder.newWrite();
                StreamTableCommit commit = builder.newCommit()) {
            write.write(GenericRow.of(id, 0));
            commit.commit(identifier, write.prepareCommit(true, identifier));
        }
    }

    /** What a compaction job does in the end: the same rows in other files, and manifests anew. */
    public void rewriteAllFiles() throws Exception {
        write(table().newBatchWriteBuilder().withOverwrite(), ids());
        try (TableCommitImpl commit = table().newCommit("compaction")) {
            commit.compactManifests();
        }
    }

    private static void write(BatchWriteBuilder builder, List<Long> ids) throws Exception {
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            for (Long id : ids) {
                write.write(GenericRow.of(id, 0));
            }
            commit.commit(write.prepareCommit());
        }
    }

    /** Expires all snapshots but the newest. */
    public void expireAllButNewest() {
        table().newExpireSnapshots()
                .config(
                        ExpireConfig.builder()
                                .snapshotRetainMin(1)
                                .snapshotRetainMax(1)
                                .snapshotTimeRetain(Duration.ZERO)
                                .build())
                .expire();
        assertThat(snapshots()).hasSize(1);
    }

    /** {@code CALL sys.rollback_to}. */
    public void rollBackTo(String tag) {
        table().rollbackTo(tag);
    }

    /** {@code CALL sys.rollback_to_as_latest}. */
    public void rollBackToAsLatest(String tag) throws Exception {
        RollbackToAsLatestProcedure procedure = new RollbackToAsLatestProcedure();
        procedure.withCatalog(catalog);
        procedure.call(null, identifier.getFullName(), tag, null);
    }

    public void deleteTag(String tag) {
        table().deleteTag(tag);
    }

    public void drop() throws Exception {
        catalog.dropTable(identifier, false);
    }

    /** Creates the table again after it was dropped. */
    public void createAgain(FileStoreTable dropped) throws Exception {
        Schema.Builder schema = Schema.newBuilder().options(dropped.options());
        dropped.rowType().getFields().forEach(field -> schema.column(field.name(), field.type()));
        Schema withoutPath = schema.build();
        withoutPath.options().remove("path");
        catalog.createTable(identifier, withoutPath, false);
    }

    // ------------------------------------------------------------------------
    //  Tags
    // ------------------------------------------------------------------------

    public Set<String> tags() {
        return new TreeSet<>(table().tagManager().allTagNames());
    }

    /** There are exactly these tags. */
    public void assertTags(String... names) {
        assertThat(tags()).containsExactlyInAnyOrder(names);
    }

    public void awaitTags(String... names) {
        Set<String> expected = new TreeSet<>(Arrays.asList(names));
        // The base writes a tag's file in place, so that a reader may see half of it.
        Awaitility.await("the tags are " + expected)
                .ignoreExceptionsInstanceOf(UncheckedIOException.class)
                .atMost(DEADLINE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(tags()).isEqualTo(expected));
    }

    /** The table at the tag holds these records once each, and nothing else. */
    public void assertTagHolds(String tag, Set<Long> records) {
        assertThat(describe(idsAtTag(tag))).as(tag).isEqualTo(describe(records));
    }
}
