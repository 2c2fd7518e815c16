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

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Compares the savepoints that are complete with the table. Knows nothing of the code under test
 * but the names of the tags, {@code savepoint-ID} and {@code savepoint-ID-SNAPSHOT}.
 *
 * <p>A completed savepoint needs a tag when its snapshot is committed, or when nothing was killed
 * or paused between its start and the next checkpoint. Otherwise a failover may go back to before
 * it: then it is never committed, and has no tag.
 */
public final class Oracle {

    private static final String PREFIX = "savepoint-";

    private final List<Violation> violations = new ArrayList<>();
    private int tagsChecked;
    private int uncommitted;

    /**
     * Checks all tags and savepoints.
     *
     * @param calm ids of the savepoints that nothing disturbed
     */
    public void checkSavepoints(
            Collection<SavepointFacts> complete, Set<Long> calm, TableView table) {
        for (String tag : table.tags()) {
            if (tag.startsWith(PREFIX)) {
                checkTag(tag, complete, table);
            }
        }
        for (SavepointFacts savepoint : complete) {
            checkSavepoint(savepoint, calm.contains(savepoint.id()), table);
        }
    }

    private void checkTag(String tag, Collection<SavepointFacts> complete, TableView table) {
        tagsChecked++;
        List<SavepointFacts> named =
                complete.stream()
                        .filter(savepoint -> isNameOf(tag, savepoint.id()))
                        .collect(Collectors.toList());
        if (named.isEmpty()) {
            // L2
            add(
                    Violation.Kind.TAG_WITHOUT_SAVEPOINT,
                    "tag " + tag + " is there, and no savepoint of its id has metadata");
            return;
        }
        Content content = table.atTag(tag);
        if (named.stream().noneMatch(s -> !content.differenceTo(s.offsets()).isPresent())) {
            SavepointFacts first = named.get(0);
            add(
                    Violation.Kind.TAG_CONTENT,
                    String.format(
                            "tag %s is not what %s holds: %s",
                            tag, first, content.differenceTo(first.offsets()).get()));
        }
    }

    private void checkSavepoint(SavepointFacts savepoint, boolean calm, TableView table) {
        Set<Long> snapshots = table.snapshotsOf(savepoint.id());
        for (long snapshot : snapshots) {
            table.atSnapshot(snapshot)
                    .differenceTo(savepoint.offsets())
                    .ifPresent(
                            difference ->
                                    add(
                                            Violation.Kind.SNAPSHOT_CONTENT,
                                            String.format(
                                                    "snapshot %d has the identifier of %s, but %s",
                                                    snapshot, savepoint, difference)));
        }
        boolean tagged =
                table.tags().stream()
                        .filter(tag -> isNameOf(tag, savepoint.id()))
                        .anyMatch(
                                tag ->
                                        !table.atTag(tag)
                                                .differenceTo(savepoint.offsets())
                                                .isPresent());
        if (tagged || !savepoint.hasData()) {
            return;
        }
        if (calm || !snapshots.isEmpty()) {
            add(
                    Violation.Kind.MISSING_TAG,
                    String.format(
                            "%s at %s has no tag with its content; snapshots of its identifier: %s",
                            savepoint, savepoint.location(), snapshots));
        } else {
            uncommitted++;
        }
    }

    /** Checks that the head holds each record before these offsets exactly once. */
    public void checkHead(String when, Map<Integer, Long> sent, TableView table) {
        table.head()
                .differenceTo(sent)
                .ifPresent(
                        difference ->
                                add(
                                        Violation.Kind.HEAD_CONTENT,
                                        "head " + when + ": " + difference));
    }

    static boolean isNameOf(String tag, long id) {
        return tag.equals(PREFIX + id) || tag.startsWith(PREFIX + id + "-");
    }

    private void add(Violation.Kind kind, String text) {
        violations.add(new Violation(kind, text));
    }

    public List<Violation> violations() {
        return Collections.unmodifiableList(violations);
    }

    public int tagsChecked() {
        return tagsChecked;
    }

    /** Completed savepoints without a tag because a failover went back to before them. */
    public int uncommitted() {
        return uncommitted;
    }
}
