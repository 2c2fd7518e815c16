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
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.TableCreation;

import org.apache.flink.types.Row;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rolls a table back to the snapshot that belongs to a savepoint or retained checkpoint, so that
 * the job restored from it writes every row once. A refusal changes nothing.
 */
public final class SavepointRollback {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointRollback.class);

    private final FileStoreTable table;
    private final SavepointPath path;
    private boolean dryRun;
    private boolean force;
    @Nullable private RunningWriters runningWriters;

    private final List<Row> result = new ArrayList<>();

    /**
     * @param savepoint path of the savepoint, with or without a scheme
     */
    public SavepointRollback(FileStoreTable table, String savepoint) {
        this.table = table;
        this.path = SavepointPath.of(savepoint);
    }

    /** Only says what it would do. */
    public SavepointRollback dryRun() {
        dryRun = true;
        return this;
    }

    /** Does it also when commits of other users or user tags go with it. */
    public SavepointRollback force() {
        force = true;
        return this;
    }

    /** Refuses while a job of this JobManager writes the table. */
    public SavepointRollback askJobManager(String hostAndPort) {
        runningWriters = new RunningWriters(hostAndPort);
        return this;
    }

    /**
     * @return what was found and done: rows of an item and its value
     * @throws IllegalArgumentException when there is no savepoint
     * @throws IllegalStateException when it is refused
     */
    public Row[] run() {
        SavepointContent savepoint =
                new SavepointReader(SavepointRollback.class.getClassLoader()).read(path);
        TableHistory history = TableHistory.read(table);
        requireReadableTags(history);
        SnapshotFinder finder =
                new SnapshotFinder(savepoint, table.fullName(), history, creationMillis());
        FoundSnapshot target = finder.find();
        Set<String> commitUsers =
                savepoint.sinks().stream()
                        .map(SavepointSink::commitUser)
                        .collect(Collectors.toSet());
        RollbackPlan plan =
                new RollbackPlan(target, savepoint.checkpointId(), commitUsers, history);
        describe(savepoint, plan);
        checkRunningJobs(history, plan);
        checkObjections(savepoint, plan);
        if (dryRun) {
            add("result", "dry run: nothing was changed");
        } else {
            rollBack(savepoint, plan);
        }
        return result.toArray(new Row[0]);
    }

    private void requireReadableTags(TableHistory history) {
        if (!history.unreadableTags().isEmpty()) {
            throw new IllegalStateException(
                    String.format(
                            "The tags %s of table %s cannot be read. If nobody is just writing"
                                    + " them, remove their files from %s first.",
                            history.unreadableTags(),
                            table.fullName(),
                            table.tagManager().tagDirectory()));
        }
    }

    private long creationMillis() {
        return TableCreation.of(table.location(), table.schemaManager()).timeMillis();
    }

    private void describe(SavepointContent savepoint, RollbackPlan plan) {
        FoundSnapshot target = plan.target();
        add("savepoint", path.toString());
        add("checkpoint_id", String.valueOf(savepoint.checkpointId()));
        add("snapshot_id", String.valueOf(target.snapshot().id()));
        add("snapshot", SnapshotFinder.describe(target.snapshot()));
        if (target.tag() != null) {
            add("tag", target.tag());
        }
        add("reason", target.reason());
        target.passedOver().forEach(other -> add("passed_over", other));
        plan.goingSnapshots().forEach(going -> add("snapshots_going", going));
        plan.goingTags().forEach(going -> add("tag_going", going));
        for (SavepointSink sink : savepoint.sinks()) {
            if (sink.progress() == null
                    && sink.commitUser().equals(target.snapshot().commitUser())) {
                add(
                        "notice",
                        "the savepoint does not say which run committed it (the stock release and"
                                + " the operator path without auto-tag write none): if the table"
                                + " was rolled back before, and the job has used its checkpoint ids"
                                + " a second time, look at the snapshot first");
            }
        }
    }

    private void checkRunningJobs(TableHistory history, RollbackPlan plan) {
        if (runningWriters == null) {
            add(
                    "notice",
                    "the job that writes the table has to be stopped before the rollback; with"
                            + " job_manager => 'host:port' this is checked");
            return;
        }
        Set<String> jobIds = new HashSet<>();
        for (Snapshot snapshot : history.snapshotsAndTagged()) {
            String jobId = CommitProperties.jobId(snapshot);
            if (jobId != null) {
                jobIds.add(jobId);
            }
        }
        List<String> running = runningWriters.of(table.name(), jobIds);
        running.forEach(job -> add("running_job", job));
        if (!running.isEmpty() && !dryRun) {
            throw new IllegalStateException(
                    String.format(
                            "Table %s is not rolled back to snapshot %d while jobs write it: %s."
                                    + " Stop them first. A job that writes another table of this"
                                    + " name is no obstacle: leave out job_manager then.",
                            table.fullName(),
                            plan.target().snapshot().id(),
                            String.join("; ", running)));
        }
    }

    private void checkObjections(SavepointContent savepoint, RollbackPlan plan) {
        List<String> objections = plan.objections();
        objections.forEach(objection -> add("needs_force", objection));
        if (!objections.isEmpty() && !force && !dryRun) {
            throw new IllegalStateException(
                    String.format(
                            "Rolling table %s back to snapshot %d for %s would take more with it:"
                                    + " %s. Use force => true to do it nevertheless, and"
                                    + " dry_run => true to see all that goes.",
                            table.fullName(),
                            plan.target().snapshot().id(),
                            savepoint,
                            String.join("; ", objections)));
        }
    }

    private void rollBack(SavepointContent savepoint, RollbackPlan plan) {
        FoundSnapshot target = plan.target();
        if (plan.isEmpty()) {
            add("result", "the table is there already: nothing was changed");
            return;
        }
        Long newest = table.snapshotManager().latestSnapshotIdFromFileSystem();
        if (newest != null && newest > plan.newestSnapshotId()) {
            throw new IllegalStateException(
                    String.format(
                            "Table %s was just written: snapshot %d has appeared above snapshot %d."
                                    + " Nothing was changed. Stop what writes it, and try again.",
                            table.fullName(), newest, plan.newestSnapshotId()));
        }
        LOG.info(
                "Rolling table {} back to {} for {}: {}. With it go {} and the tags {}.",
                table.fullName(),
                SnapshotFinder.describe(target.snapshot()),
                savepoint,
                target.reason(),
                plan.goingSnapshots(),
                plan.goingTags());
        if (target.tag() != null) {
            table.rollbackTo(target.tag());
        } else {
            table.rollbackTo(target.snapshot().id());
        }
        add("result", "rolled back");
    }

    private void add(String item, String value) {
        result.add(Row.of(item, value));
    }
}
