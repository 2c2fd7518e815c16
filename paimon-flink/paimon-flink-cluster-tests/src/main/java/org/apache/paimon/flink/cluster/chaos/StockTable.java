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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.TableDirectory;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;

import java.io.IOException;
import java.net.URI;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A table {@code (part INT, id BIGINT)} read by the released jar, which is on this JVM's class path
 * without our classes. What was read at a tag or snapshot is kept: neither ever changes.
 */
public final class StockTable implements TableView {

    private static final String OURS = "org.apache.paimon.tag.SavepointTagger";

    private final URI location;
    private final TableDirectory directory;
    private final Map<Long, Content> bySnapshot = new HashMap<>();

    public StockTable(URI location) {
        requireReleasedJar();
        this.location = location;
        this.directory = new TableDirectory(location);
    }

    private static void requireReleasedJar() {
        try {
            Class.forName(OURS);
        } catch (ClassNotFoundException e) {
            return;
        }
        throw new ClusterException(
                "the oracle needs the released Paimon jar, but "
                        + OURS
                        + " of the distribution is on the class path; put the released jar there");
    }

    private Table open() {
        Path path = new Path(location.toString());
        try {
            return FileStoreTableFactory.create(
                    FileIO.get(path, CatalogContext.create(new Options())), path);
        } catch (IOException e) {
            throw new ClusterException("cannot open the table at " + location + ": " + e, e);
        }
    }

    @Override
    public Set<String> tags() {
        return directory.tags().keySet();
    }

    @Override
    public Content atTag(String tag) {
        TableDirectory.Snapshot tagged = directory.tags().get(tag);
        Content known = bySnapshot.get(tagged.id());
        if (known == null) {
            known = read(Collections.singletonMap("scan.tag-name", tag));
            bySnapshot.put(tagged.id(), known);
        }
        return known;
    }

    @Override
    public Set<Long> snapshotsOf(long commitIdentifier) {
        return directory.snapshots().values().stream()
                .filter(snapshot -> snapshot.commitIdentifier() == commitIdentifier)
                .map(TableDirectory.Snapshot::id)
                .collect(Collectors.toSet());
    }

    @Override
    public Content atSnapshot(long snapshot) {
        return bySnapshot.computeIfAbsent(
                snapshot,
                id -> read(Collections.singletonMap("scan.snapshot-id", Long.toString(id))));
    }

    @Override
    public Content head() {
        return read(Collections.emptyMap());
    }

    /** The table was rolled back: snapshot ids are used again. */
    public void forget() {
        bySnapshot.clear();
    }

    private Content read(Map<String, String> options) {
        Content content = new Content();
        ReadBuilder builder = open().copy(options).newReadBuilder();
        try (RecordReader<InternalRow> reader =
                builder.newRead().createReader(builder.newScan().plan())) {
            reader.forEachRemaining(row -> content.add(row.getInt(0), row.getLong(1)));
        } catch (IOException e) {
            throw new ClusterException("cannot read " + location + " with " + options, e);
        }
        return content;
    }
}
