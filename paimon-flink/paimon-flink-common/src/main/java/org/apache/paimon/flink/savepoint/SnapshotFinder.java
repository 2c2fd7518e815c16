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
import org.apache.paimon.tag.CommitProgress;
import org.apache.paimon.tag.CommitProperties;

import javax.annotation.Nullable;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Finds the snapshot of a table that belongs to a savepoint. Pure: works on what was read.
 *
 * <p><b>Rules</b>, for each sink of the savepoint that writes the table, in this order:
 *
 * <ol>
 *   <li>the savepoint tag whose snapshot names the path of the savepoint (L1);
 *   <li>in the course that the savepoint belongs to ({@link SinkCourse}), the savepoint tag with
 *       its id;
 *   <li>there, the newest snapshot of the sink's commit user up to the savepoint's id.
 * </ol>
 *
 * <p>With several sinks the earliest of their snapshots is taken: what the other sinks committed
 * after it is replayed from the savepoint. One that lies before what another sink had committed
 * when the savepoint was taken is passed over, since that is not replayed.
 */
final class SnapshotFinder {

    private final SavepointContent savepoint;
    private final String table;
    private final TableHistory history;
    private final long tableCreationMillis;
    private final List<NamedTag> tagsThatNameThePath;

    SnapshotFinder(
            SavepointContent savepoint,
            String table,
            TableHistory history,
            long tableCreationMillis) {
        this.savepoint = savepoint;
        this.table = table;
        this.history = history;
        this.tableCreationMillis = tableCreationMillis;
        this.tagsThatNameThePath = tagsThatNameThePath(savepoint, history);
    }

    /** The sinks that write the table, with what they committed to it. */
    List<SinkCourse> courses() {
        List<Snapshot> snapshots = history.snapshotsAndTagged();
        List<SinkCourse> courses = new ArrayList<>();
        for (SavepointSink sink : savepoint.sinks()) {
            SinkCourse course = new SinkCourse(sink, savepoint.checkpointId(), snapshots);
            CommitProgress progress = sink.progress();
            if (progress == null
                    ? course.hasCommitted()
                    : progress.tableCreationMillis() == tableCreationMillis
                            && (course.hasCommitted() || progress.newestOwn() != null)) {
                courses.add(course);
            }
        }
        return courses;
    }

    /**
     * @throws IllegalStateException when there is none, or it cannot be told
     */
    FoundSnapshot find() {
        List<SinkCourse> courses = courses();
        List<FoundSnapshot> candidates = new ArrayList<>();
        for (SinkCourse course : courses) {
            candidateOf(course).ifPresent(candidates::add);
        }
        candidates.addAll(namedByUnknownSinks());
        if (candidates.isEmpty()) {
            throw notFound(courses);
        }
        candidates.sort(Comparator.comparingLong(candidate -> candidate.snapshot().id()));
        long lowest = 0;
        for (SinkCourse course : courses) {
            lowest = Math.max(lowest, course.lowestPossibleId());
        }
        FoundSnapshot found = null;
        List<String> passedOver = new ArrayList<>();
        for (FoundSnapshot candidate : candidates) {
            if (found == null && candidate.snapshot().id() >= lowest) {
                found = candidate;
            } else if (found == null || !isSame(found, candidate)) {
                passedOver.add(
                        describe(candidate.snapshot())
                                + (found == null
                                        ? ": what another sink had committed before the savepoint"
                                                + " lies behind it"
                                        : ": of several candidates the earliest is taken; what lies"
                                                + " behind it is replayed from the savepoint"));
            }
        }
        if (found == null) {
            throw gone(courses);
        }
        requireNothingBeyond(found, courses);
        return new FoundSnapshot(found.snapshot(), found.tag(), found.reason(), passedOver);
    }

    private static boolean isSame(FoundSnapshot a, FoundSnapshot b) {
        return a.snapshot().id() == b.snapshot().id();
    }

    private Optional<FoundSnapshot> candidateOf(SinkCourse course) {
        String commitUser = course.sink().commitUser();
        for (NamedTag tag : tagsThatNameThePath) {
            if (tag.tag().commitUser().equals(commitUser)) {
                return Optional.of(namedByPath(tag));
            }
        }
        return course.newestUpToSavepoint().map(this::taggedOr).map(this::candidate);
    }

    /** Of the two snapshots that one commit may have, the tag may be on the first. */
    private Snapshot taggedOr(Snapshot newest) {
        for (NamedTag tag : history.tags()) {
            if (tag.isSavepointTag()
                    && tag.tag().commitIdentifier() == savepoint.checkpointId()
                    && tag.tag().commitIdentifier() == newest.commitIdentifier()
                    && tag.tag().commitUser().equals(newest.commitUser())
                    && Objects.equals(
                            CommitProperties.runId(tag.tag()), CommitProperties.runId(newest))) {
                return tag.snapshot();
            }
        }
        return newest;
    }

    private FoundSnapshot namedByPath(NamedTag tag) {
        return new FoundSnapshot(
                tag.snapshot(),
                tag.name(),
                "the tag " + tag.name() + " names the path of the savepoint",
                new ArrayList<>());
    }

    private FoundSnapshot candidate(Snapshot snapshot) {
        String tag = tagOn(snapshot);
        boolean isSavepoints = snapshot.commitIdentifier() == savepoint.checkpointId();
        String reason =
                tag != null && isSavepoints
                        ? String.format(
                                "the tag %s is on the snapshot of commit user %s for savepoint %d",
                                tag, snapshot.commitUser(), savepoint.checkpointId())
                        : String.format(
                                "it is the newest snapshot of commit user %s up to savepoint %d in"
                                        + " the course of the savepoint (its identifier is %d)",
                                snapshot.commitUser(),
                                savepoint.checkpointId(),
                                snapshot.commitIdentifier());
        return new FoundSnapshot(snapshot, tag, reason, new ArrayList<>());
    }

    /** Savepoint tags come first; any other will do to roll back to. */
    @Nullable
    private String tagOn(Snapshot snapshot) {
        String found = null;
        for (NamedTag tag : history.tagsOn(snapshot)) {
            if (found == null || tag.isSavepointTag()) {
                found = tag.name();
            }
        }
        return found;
    }

    private static List<NamedTag> tagsThatNameThePath(
            SavepointContent savepoint, TableHistory history) {
        List<NamedTag> named = new ArrayList<>();
        for (NamedTag tag : history.tags()) {
            if (tag.isSavepointTag()
                    && tag.tag().commitIdentifier() == savepoint.checkpointId()
                    && savepoint.path().isNamedBy(CommitProperties.savepointPath(tag.tag()))) {
                named.add(tag);
            }
        }
        return named;
    }

    /** Of sinks whose commit user cannot be read in the savepoint. */
    private List<FoundSnapshot> namedByUnknownSinks() {
        List<FoundSnapshot> found = new ArrayList<>();
        for (NamedTag tag : tagsThatNameThePath) {
            if (savepoint.sinks().stream()
                    .noneMatch(sink -> sink.commitUser().equals(tag.tag().commitUser()))) {
                found.add(namedByPath(tag));
            }
        }
        return found;
    }

    private void requireNothingBeyond(FoundSnapshot found, List<SinkCourse> courses) {
        for (SinkCourse course : courses) {
            Optional<Snapshot> beyond = course.firstBeyondSavepoint();
            if (beyond.isPresent() && beyond.get().id() <= found.snapshot().id()) {
                throw new IllegalStateException(
                        String.format(
                                "No snapshot of table %s holds what %s holds: %s would be taken,"
                                        + " but %s lies before it and holds more. Use"
                                        + " sys.rollback_to with a snapshot that you have looked"
                                        + " at, or another savepoint.",
                                table,
                                savepoint,
                                describe(found.snapshot()),
                                describe(beyond.get())));
            }
        }
    }

    private IllegalStateException notFound(List<SinkCourse> courses) {
        if (!courses.isEmpty()) {
            return gone(courses);
        }
        StringBuilder others = new StringBuilder();
        for (SavepointSink sink : savepoint.sinks()) {
            others.append(others.length() == 0 ? "" : ", ").append(sink);
            if (sink.progress() != null
                    && sink.progress().tableCreationMillis() != tableCreationMillis) {
                others.append(" of a table created at ")
                        .append(Instant.ofEpochMilli(sink.progress().tableCreationMillis()));
            }
        }
        return new IllegalStateException(
                String.format(
                        "No sink of %s has committed to table %s (created at %s). The commit users"
                                + " in the savepoint: %s. Give the savepoint of a job that writes"
                                + " this table, or the table that this job writes.",
                        savepoint,
                        table,
                        Instant.ofEpochMilli(tableCreationMillis),
                        others.length() == 0 ? "none" : others));
    }

    private IllegalStateException gone(List<SinkCourse> courses) {
        return new IllegalStateException(
                String.format(
                        "The snapshot of %s is gone from table %s, and so is its tag: nothing is"
                                + " left of what commit user %s had committed up to then. Restore"
                                + " an older or a newer savepoint whose snapshot or tag is there"
                                + " (sys.savepoint_tags names them).",
                        savepoint, table, courses.get(0).sink()));
    }

    static String describe(Snapshot snapshot) {
        return String.format(
                "snapshot %d of commit user %s with identifier %d",
                snapshot.id(), snapshot.commitUser(), snapshot.commitIdentifier());
    }
}
