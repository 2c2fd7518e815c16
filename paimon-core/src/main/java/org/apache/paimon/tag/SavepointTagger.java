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
import org.apache.paimon.fs.Path;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.FileNotFoundException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import static org.apache.paimon.tag.SavepointTagException.rootMessage;

/**
 * Creates, recognises and deletes the tags of one commit user's savepoints.
 *
 * <p><b>Who calls it.</b> Whoever commits, on both commit paths (T9), on one thread.
 *
 * <p><b>Names.</b> A tag is owned when it is on the very snapshot of its savepoint, or on one that
 * names the same savepoint ({@link #isOwned}); any other is never touched (T5). The tag of
 * savepoint S on snapshot N:
 *
 * <pre>
 *   savepoint-S   savepoint-S-N   createTag
 *   -----------   -------------   ---------------------------------------
 *   owned         any             keeps savepoint-S           (T4)
 *   any           owned           keeps savepoint-S-N         (T4)
 *   absent        not owned       creates savepoint-S
 *   not owned     absent          creates savepoint-S-N       (T5)
 *   not owned     not owned       fails, and touches neither  (T5)
 * </pre>
 *
 * <p><b>Callbacks</b> (T6) are created anew, notified and closed for each creation and deletion:
 * the base's {@code TagManager} closes what is passed to it. A creation is notified at least once,
 * a deletion at most once.
 *
 * <p><b>Recovery</b> (A8). Nothing is remembered: call again, whatever a crash has interrupted.
 */
public final class SavepointTagger {

    public static final String TAG_PREFIX = "savepoint-";

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTagger.class);

    private final String commitUser;
    private final SnapshotManager snapshotManager;
    private final TagCallbackNotifier callbacks;
    private final TagFiles files;
    private final SavepointTagStatistics statistics;

    /**
     * @param tagDeletions a new one for each deletion
     * @param callbacks new ones for each creation and deletion; they are closed here
     * @param timeRetained {@code tag.default-time-retained}, null to keep tags until they are
     *     deleted
     * @param statistics counts what this does
     */
    public SavepointTagger(
            String commitUser,
            SnapshotManager snapshotManager,
            TagManager tagManager,
            Supplier<TagDeletion> tagDeletions,
            Supplier<List<TagCallback>> callbacks,
            @Nullable Duration timeRetained,
            SavepointTagStatistics statistics) {
        this.commitUser = commitUser;
        this.snapshotManager = snapshotManager;
        this.callbacks = new TagCallbackNotifier(callbacks);
        this.statistics = statistics;
        this.files = new TagFiles(snapshotManager, tagManager, tagDeletions, timeRetained);
    }

    /** The numbers so far, updated as this goes on. */
    public SavepointTagStatistics statistics() {
        return statistics;
    }

    // ------------------------------------------------------------------------
    //  Creation
    // ------------------------------------------------------------------------

    /**
     * Tags the snapshot of a savepoint, unless an owned tag exists already, and notifies the
     * callbacks: also of a tag that exists, since nobody knows whether an earlier attempt got that
     * far.
     *
     * @return the tag's name, or empty when the snapshot has gone meanwhile (T10)
     * @throws IllegalArgumentException when the snapshot is not that of the savepoint
     * @throws SavepointTagException when the tag could not be created, when both its names are
     *     taken, or when a callback failed although the tag exists; to be called again
     */
    public Optional<String> createTag(long savepointId, Snapshot snapshot) {
        checkBelongs(savepointId, snapshot);
        try {
            Optional<String> tag = createOrKeep(savepointId, snapshot);
            tag.ifPresent(name -> statistics.tagged(savepointId));
            return tag;
        } catch (SavepointTagException e) {
            statistics.countFailure();
            throw e;
        }
    }

    private Optional<String> createOrKeep(long savepointId, Snapshot snapshot) {
        List<TagFiles.Found> names = look(savepointId, snapshot);
        for (TagFiles.Found found : names) {
            if (found.tag != null && isOwned(found.tag, snapshot)) {
                // T4: the tag stays as it is. T6: the callbacks may not have heard of it.
                callbacks.created(found.name, found.tag.id());
                return Optional.of(found.name);
            }
        }
        Optional<String> created = createFile(savepointId, snapshot, names);
        created.ifPresent(name -> callbacks.created(name, snapshot.id()));
        return created;
    }

    /**
     * T10: counts and logs that a savepoint stays untagged because its snapshot was not found. No
     * tag is looked for: without the snapshot none can be known as its own.
     */
    public void snapshotGone(long savepointId) {
        statistics.countSnapshotGone();
        LOG.warn(
                "Savepoint {} of commit user {} stays untagged: its snapshot is gone, or was not "
                        + "found within bounds. It can be restored from, but the table cannot be "
                        + "rolled back to it.",
                savepointId,
                commitUser);
    }

    /** Creates the tag's file under the first of its names that is free. */
    private Optional<String> createFile(
            long savepointId, Snapshot snapshot, List<TagFiles.Found> names) {
        List<String> takenNames = new ArrayList<>(names.size());
        for (TagFiles.Found found : names) {
            String taken = found.taken();
            if (taken == null) {
                if (!exists(snapshot)) {
                    snapshotGone(savepointId);
                    return Optional.empty();
                }
                Tag written = files.write(found.name, snapshot);
                if (isOwned(written, snapshot)) {
                    return keepWhileSnapshotExists(savepointId, found.name, snapshot);
                }
                // Somebody else created it at the same moment, and came last.
                taken = "on " + SnapshotIdentity.of(written);
            }
            takenNames.add(found.name + " exists " + taken);

            // T5: not ours, so not to be touched.
            statistics.countCollision();
            LOG.warn(
                    "The name {} is taken: it exists {}. That is left alone; savepoint {} on {} "
                            + "needs another name.",
                    found.name,
                    taken,
                    savepointId,
                    SnapshotIdentity.of(snapshot));
        }
        throw new SavepointTagException(
                String.format(
                        "Savepoint %d on %s cannot be tagged: %s. Both are left alone. Rename or"
                                + " delete one of them.",
                        savepointId,
                        SnapshotIdentity.of(snapshot),
                        String.join(", and ", takenNames)));
    }

    /**
     * T10: takes the tag back when its snapshot expired while it was being created. Whether that
     * expiration has spared the files of the tag, is not known.
     */
    private Optional<String> keepWhileSnapshotExists(
            long savepointId, String name, Snapshot snapshot) {
        if (exists(snapshot)) {
            statistics.countCreated();
            LOG.debug("Created tag {} on {}.", name, SnapshotIdentity.of(snapshot));
            return Optional.of(name);
        }
        files.delete(name);
        snapshotGone(savepointId);
        return Optional.empty();
    }

    // ------------------------------------------------------------------------
    //  What lies under a name
    // ------------------------------------------------------------------------

    private List<TagFiles.Found> look(long savepointId, Snapshot snapshot) {
        List<TagFiles.Found> found = new ArrayList<>(2);
        for (String name : names(savepointId, snapshot)) {
            found.add(files.look(name, snapshot));
        }
        return found;
    }

    // ------------------------------------------------------------------------
    //  Deletion
    // ------------------------------------------------------------------------

    /**
     * Deletes the owned tag of a savepoint (A1), under whichever of its names, and notifies the
     * callbacks. What is not owned is left alone, also when a file that is no tag cannot be
     * recognized to be the beginning of the owned one.
     *
     * @param snapshot the one that was committed for the savepoint; it may have expired since
     * @return whether there was an owned tag
     * @throws IllegalArgumentException when the snapshot is not that of the savepoint
     * @throws SavepointTagException when the file system failed so that it is not known whose the
     *     tag is, when it could not be deleted, or when a callback failed although the tag is gone
     */
    public boolean deleteTag(long savepointId, Snapshot snapshot) {
        checkBelongs(savepointId, snapshot);
        try {
            return deleteOwned(savepointId, snapshot);
        } catch (SavepointTagException e) {
            statistics.countFailure();
            throw e;
        }
    }

    private boolean deleteOwned(long savepointId, Snapshot snapshot) {
        boolean deleted = false;
        for (TagFiles.Found found : look(savepointId, snapshot)) {
            if (found.tag != null && isOwned(found.tag, snapshot)) {
                files.delete(found.name);
                deleted = true;
                statistics.countDeleted();
                LOG.info("Deleted tag {} on {}.", found.name, SnapshotIdentity.of(found.tag));
                callbacks.deleted(found.name);
            } else if (found.taken() != null) {
                LOG.info(
                        "{} exists {}. It is left alone: the aborted savepoint {} was committed as"
                                + " {}.",
                        found.name,
                        found.taken(),
                        savepointId,
                        SnapshotIdentity.of(snapshot));
            }
        }
        return deleted;
    }

    // ------------------------------------------------------------------------
    //  Names and ownership
    // ------------------------------------------------------------------------

    /** The names that the tag of a savepoint may have, the preferred one first. */
    private static List<String> names(long savepointId, Snapshot snapshot) {
        String plain = TAG_PREFIX + savepointId;
        return Arrays.asList(plain, plain + "-" + snapshot.id());
    }

    /**
     * Whether a tag under one of the names of a savepoint is the savepoint's: it is on the very
     * snapshot, or on one of this commit user that names the savepoint's path (L1). Commit user and
     * identifier alone do not make it owned, since a job restored from an older savepoint uses
     * checkpoint ids a second time.
     *
     * <p>The one place that decides this.
     */
    private boolean isOwned(Tag tag, Snapshot snapshot) {
        if (SnapshotIdentity.of(snapshot).matches(tag)) {
            return true;
        }
        String path = CommitProperties.savepointPath(snapshot);
        return path != null
                && commitUser.equals(tag.commitUser())
                && path.equals(CommitProperties.savepointPath(tag));
    }

    /** Refuses a snapshot that was not committed by this commit user for this savepoint. */
    private void checkBelongs(long savepointId, Snapshot snapshot) {
        if (!commitUser.equals(snapshot.commitUser())
                || snapshot.commitIdentifier() != savepointId) {
            throw new IllegalArgumentException(
                    String.format(
                            "Savepoint %d of commit user %s was not committed as %s.",
                            savepointId, commitUser, SnapshotIdentity.of(snapshot)));
        }
    }

    /** Whether the very snapshot is in the table. */
    private boolean exists(Snapshot snapshot) {
        Path path = snapshotManager.snapshotPath(snapshot.id());
        try {
            return SnapshotIdentity.of(snapshot)
                    .matches(SnapshotManager.tryFromPath(snapshotManager.fileIO(), path));
        } catch (FileNotFoundException e) {
            return false;
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot read the snapshot to be tagged, %s: %s", path, rootMessage(e)),
                    e);
        }
    }
}
