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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.CommitProperties;

import org.apache.flink.types.Row;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;

/**
 * Drops the tags of savepoints whose metadata is gone. In case of doubt a tag stays: it has no
 * path, the path cannot be looked at, or the savepoint may still be being taken.
 */
public final class SavepointTagExpiration {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTagExpiration.class);

    private final FileStoreTable table;
    @Nullable private final LocalDateTime olderThan;
    private final boolean dryRun;

    private SavepointTagExpiration(
            FileStoreTable table, @Nullable LocalDateTime olderThan, boolean dryRun) {
        this.table = table;
        this.olderThan = olderThan;
        this.dryRun = dryRun;
    }

    /** Drops nothing, says what it would drop. */
    public static SavepointTagExpiration dryRun(
            FileStoreTable table, @Nullable LocalDateTime olderThan) {
        return new SavepointTagExpiration(table, olderThan, true);
    }

    /**
     * @param olderThan only tags that were created before; null for all
     */
    public static SavepointTagExpiration of(
            FileStoreTable table, @Nullable LocalDateTime olderThan) {
        return new SavepointTagExpiration(table, olderThan, false);
    }

    /**
     * @return a row per savepoint tag: name, snapshot id, path of the savepoint, what is done with
     *     it, and why; and one without a tag, which is a notice
     */
    public Row[] run() {
        TableHistory history = TableHistory.read(table);
        List<Row> rows = new ArrayList<>();
        for (NamedTag tag : history.tags()) {
            if (tag.isSavepointTag()) {
                rows.add(expire(tag));
            }
        }
        history.unreadableTags()
                .forEach(name -> rows.add(Row.of(name, null, null, "kept", "it cannot be read")));
        rows.add(
                Row.of(
                        null,
                        null,
                        null,
                        "notice",
                        "a savepoint that was moved looks like one that is gone"
                                + (dryRun ? "; drop with dry_run => false" : "")));
        return rows.toArray(new Row[0]);
    }

    private Row expire(NamedTag tag) {
        String path = CommitProperties.savepointPath(tag.tag());
        String whyKept = whyKept(tag, path);
        if (whyKept != null) {
            return Row.of(tag.name(), tag.tag().id(), path, "kept", whyKept);
        }
        String why = "the metadata of its savepoint is gone";
        if (dryRun) {
            return Row.of(tag.name(), tag.tag().id(), path, "would be dropped", why);
        }
        LOG.info(
                "Dropping tag {} of table {}: the metadata of its savepoint {} is gone.",
                tag.name(),
                table.fullName(),
                path);
        table.deleteTag(tag.name());
        return Row.of(tag.name(), tag.tag().id(), path, "dropped", why);
    }

    @Nullable
    private String whyKept(NamedTag tag, @Nullable String path) {
        if (path == null) {
            return "it names no path";
        }
        MetadataPresence metadata = SavepointPath.presence(path);
        if (metadata == MetadataPresence.TRUE) {
            return "its savepoint is there";
        }
        return metadata == MetadataPresence.UNKNOWN
                ? "its path cannot be looked at"
                : whyKeptWithoutMetadata(tag, path);
    }

    @Nullable
    private String whyKeptWithoutMetadata(NamedTag tag, String path) {
        LocalDateTime created = tag.created();
        if (olderThan != null && (created == null || !created.isBefore(olderThan))) {
            return "it is not older than " + olderThan;
        }
        try {
            SavepointPath savepoint = SavepointPath.of(path);
            if (olderThan == null && savepoint.directoryExists()) {
                return "the directory of its savepoint is there without metadata: it may still be"
                        + " being taken; give older_than to drop it";
            }
            if (!savepoint.parentExists()) {
                return "the directory that its savepoint was in is not there either: the storage"
                        + " may not be the one that has it";
            }
            return null;
        } catch (IOException | RuntimeException e) {
            return "its path cannot be looked at: " + e.getMessage();
        }
    }
}
