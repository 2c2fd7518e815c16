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
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.utils.CloseableIterator;

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

    public Snapshot latest() {
        return table().snapshotManager().latestSnapshotFromFileSystem();
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
