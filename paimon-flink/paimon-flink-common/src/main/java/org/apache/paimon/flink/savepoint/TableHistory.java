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

import org.apache.paimon.Snapshot;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.SnapshotIdentity;
import org.apache.paimon.tag.Tag;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The snapshots and tags of a table, read once. Immutable. */
final class TableHistory {

    private static final Logger LOG = LoggerFactory.getLogger(TableHistory.class);

    private final Map<Long, Snapshot> snapshots = new TreeMap<>();
    private final List<NamedTag> tags = new ArrayList<>();
    private final List<String> unreadableTags = new ArrayList<>();

    TableHistory(List<Snapshot> snapshots, List<NamedTag> tags, List<String> unreadableTags) {
        snapshots.forEach(snapshot -> this.snapshots.put(snapshot.id(), snapshot));
        this.tags.addAll(tags);
        this.tags.sort(
                Comparator.comparingLong((NamedTag tag) -> tag.tag().id())
                        .thenComparing(NamedTag::name));
        this.unreadableTags.addAll(unreadableTags);
    }

    static TableHistory read(FileStoreTable table) {
        try {
            List<NamedTag> tags = new ArrayList<>();
            List<String> unreadable = new ArrayList<>();
            for (String name : table.tagManager().tagNames(name -> true)) {
                readTag(table, name, tags, unreadable);
            }
            return new TableHistory(
                    table.snapshotManager().safelyGetAllSnapshots(), tags, unreadable);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "The snapshots of table " + table.fullName() + " cannot be listed.", e);
        }
    }

    private static void readTag(
            FileStoreTable table, String name, List<NamedTag> tags, List<String> unreadable) {
        try {
            Optional<Tag> tag = table.tagManager().get(name);
            if (tag.isPresent()) {
                tags.add(new NamedTag(name, tag.get(), created(table, name, tag.get())));
            }
        } catch (RuntimeException e) {
            LOG.warn("The tag {} of table {} cannot be read.", name, table.fullName(), e);
            unreadable.add(name);
        }
    }

    /** The base writes the time only into tags that are retained for a limited time. */
    @Nullable
    private static LocalDateTime created(FileStoreTable table, String name, Tag tag) {
        if (tag.getTagCreateTime() != null) {
            return tag.getTagCreateTime();
        }
        try {
            long millis =
                    table.fileIO()
                            .getFileStatus(table.tagManager().tagPath(name))
                            .getModificationTime();
            return LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneId.systemDefault());
        } catch (IOException e) {
            LOG.debug("Nobody knows when tag {} was created.", name, e);
            return null;
        }
    }

    /** All tags that can be read, by their snapshots. */
    List<NamedTag> tags() {
        return Collections.unmodifiableList(tags);
    }

    List<NamedTag> tagsAfter(long snapshotId) {
        return tags.stream()
                .filter(tag -> tag.tag().id() > snapshotId)
                .collect(Collectors.toList());
    }

    /** Names of the files among the tags that hold no tag, or a part of one. */
    List<String> unreadableTags() {
        return Collections.unmodifiableList(unreadableTags);
    }

    List<Snapshot> snapshotsAfter(long snapshotId) {
        return snapshots.values().stream()
                .filter(snapshot -> snapshot.id() > snapshotId)
                .collect(Collectors.toList());
    }

    boolean hasSnapshot(long snapshotId) {
        return snapshots.containsKey(snapshotId);
    }

    /**
     * Oldest first: the snapshots, and those that only tags keep. A tag on another snapshot than
     * the one that has its id now is of no use, since the base would not roll back to it.
     */
    List<Snapshot> snapshotsAndTagged() {
        Map<Long, Snapshot> all = new TreeMap<>(snapshots);
        tags.forEach(tag -> all.putIfAbsent(tag.tag().id(), tag.snapshot()));
        return new ArrayList<>(all.values());
    }

    /** The tags on this very snapshot. */
    List<NamedTag> tagsOn(Snapshot snapshot) {
        SnapshotIdentity identity = SnapshotIdentity.of(snapshot);
        return tags.stream()
                .filter(tag -> identity.matches(tag.tag()))
                .collect(Collectors.toList());
    }
}
