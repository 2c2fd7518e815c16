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
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.TagCallback;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Creates, recognises and deletes the tags of one commit user's savepoints.
 *
 * <p><b>Who calls it.</b> Whoever commits, on both commit paths (T9) and on the thread that
 * commits: one thread. {@link #statistics} may be read from any.
 *
 * <p><b>Names.</b> The tag of savepoint S is {@code savepoint-S}. A tag is <em>owned</em> when the
 * snapshot in it carries our commit user and the identifier S; only owned tags are ever deleted.
 * When somebody else has that name, S is tagged as {@code savepoint-S-<end of the commit user>}:
 *
 * <pre>
 *   savepoint-S   savepoint-S-&lt;end&gt;   createTag
 *   -----------   -----------------   ------------------------------------------
 *   owned         any                 keeps savepoint-S           (T4)
 *   any           owned               keeps savepoint-S-&lt;end&gt;     (T4)
 *   absent        not owned           creates savepoint-S
 *   foreign       absent              creates savepoint-S-&lt;end&gt;   (T5)
 *   foreign       foreign             fails, and touches neither  (T5)
 * </pre>
 *
 * <p><b>Callbacks</b> (T6). The base's {@code TagManager} closes the callbacks it is handed, but
 * not when it finds nothing to do. So it gets none: they are asked for anew for each creation and
 * each deletion, all of them are told, then all are closed here. They are told after the tag file
 * is there, or gone; a creation is told again whenever the tag is found to exist already, for
 * nobody knows whether the last attempt got that far. That is at least once for a creation, and at
 * most once for a deletion.
 *
 * <p><b>Recovery</b> (A8). Nothing is remembered here. Every method may be called again after a
 * crash at any point:
 *
 * <ul>
 *   <li>before the tag file: the tag is created;
 *   <li>amid the tag file, which the base writes in place: what a crash leaves behind is the
 *       beginning of the very file that is due, or nothing at all. That is removed and written
 *       anew. Any other file that is no tag is somebody else's, perhaps left by a crash of theirs:
 *       it is not touched, and its name is taken (T5);
 *   <li>between tag file and callbacks: the tag is owned, the callbacks are told.
 * </ul>
 *
 * <p><b>Oddities, on purpose.</b> The base overwrites when two processes create a tag of one name
 * at once, and swallows a failure to delete the file: so the file is read after both. When the
 * snapshot vanishes while it is being tagged (another job's expiration), the tag is removed again
 * although that expiration might have spared its files: whether it has, no one can tell (T10).
 */
public final class SavepointTagger {

    public static final String TAG_PREFIX = "savepoint-";

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTagger.class);

    /** How much of the commit user tells two jobs apart; by default it ends in a UUID. */
    private static final int SUFFIX_LENGTH = 8;

    private final String commitUser;
    private final SnapshotManager snapshotManager;
    private final TagManager tagManager;
    private final Supplier<TagDeletion> tagDeletions;
    private final Supplier<List<TagCallback>> callbacks;
    @Nullable private final Duration timeRetained;
    private final FileIO fileIO;
    private final SavepointTagStatistics statistics = new SavepointTagStatistics();

    /**
     * @param tagDeletions a new one for each deletion
     * @param callbacks new ones for each creation and deletion; they are closed here
     * @param timeRetained {@code tag.default-time-retained}, null to keep tags until they are
     *     deleted
     */
    public SavepointTagger(
            String commitUser,
            SnapshotManager snapshotManager,
            TagManager tagManager,
            Supplier<TagDeletion> tagDeletions,
            Supplier<List<TagCallback>> callbacks,
            @Nullable Duration timeRetained) {
        this.commitUser = commitUser;
        this.snapshotManager = snapshotManager;
        this.tagManager = tagManager;
        this.tagDeletions = tagDeletions;
        this.callbacks = callbacks;
        this.timeRetained = timeRetained;
        this.fileIO = snapshotManager.fileIO();
    }

    /** The numbers so far, updated as this goes on. */
    public SavepointTagStatistics statistics() {
        return statistics;
    }

    // ------------------------------------------------------------------------
    //  Creation
    // ------------------------------------------------------------------------

    /**
     * Tags the snapshot of a savepoint, unless an owned tag exists already, and tells the
     * callbacks.
     *
     * @return the tag's name, or empty when the snapshot has gone meanwhile (T10)
     * @throws IllegalArgumentException when the snapshot is not that of the savepoint
     * @throws SavepointTagException when the tag could not be created, when both its names are
     *     taken, or when a callback failed although the tag exists; to be called again
     */
    public Optional<String> createTag(long savepointId, Snapshot snapshot) {
        if (!isOwn(savepointId, snapshot)) {
            throw new IllegalArgumentException(
                    String.format(
                            "Savepoint %d of commit user %s cannot be tagged on %s.",
                            savepointId, commitUser, describe(snapshot)));
        }

        List<Found> names = new ArrayList<>(2);
        for (String name : names(savepointId)) {
            names.add(look(name, snapshot));
        }
        for (Found found : names) {
            if (found.tag != null && isOwn(savepointId, found.tag)) {
                // T4: the tag stays as it is. T6: the callbacks may not have heard of it.
                tellCreation(found.name, found.tag);
                return Optional.of(found.name);
            }
        }
        Optional<String> created = createFile(savepointId, snapshot, names);
        created.ifPresent(name -> tellCreation(name, snapshot));
        return created;
    }

    /**
     * Settles a savepoint whose snapshot was not found: it may have been tagged before it went (T4,
     * T6). If not, it stays untagged (T10).
     *
     * @return the owned tag's name, or empty when there is none
     * @throws SavepointTagException when the file system failed so that it is not known whether
     *     there is a tag, or when a callback failed; to be called again
     */
    public Optional<String> keepTag(long savepointId) {
        for (String name : names(savepointId)) {
            Optional<Tag> tag = readOwn(name, savepointId);
            if (tag.isPresent()) {
                tellCreation(name, tag.get());
                return Optional.of(name);
            }
        }
        snapshotGone(savepointId);
        return Optional.empty();
    }

    private void snapshotGone(long savepointId) {
        statistics.countSnapshotGone();
        LOG.warn(
                "Savepoint {} of commit user {} stays untagged: its snapshot is gone, or was not "
                        + "found within bounds. It can be restored from, but the table cannot be "
                        + "rolled back to it.",
                savepointId,
                commitUser);
    }

    /** Creates the tag's file under the first of its names that is free. */
    private Optional<String> createFile(long savepointId, Snapshot snapshot, List<Found> names) {
        for (Found found : names) {
            String taken = found.taken();
            if (taken == null) {
                if (!exists(snapshot)) {
                    snapshotGone(savepointId);
                    return Optional.empty();
                }
                Tag written = write(found.name, snapshot);
                if (isOwn(savepointId, written)) {
                    return keepWhileSnapshotExists(savepointId, found.name, snapshot);
                }
                // Somebody else created it at the same moment, and came last.
                taken = "on " + describe(written);
            }

            // T5: not ours, so not to be touched.
            statistics.countCollision();
            LOG.warn(
                    "Tag {} exists {}. It is left alone; savepoint {} on {} gets another name.",
                    found.name,
                    taken,
                    savepointId,
                    describe(snapshot));
        }
        throw new SavepointTagException(
                String.format(
                        "Savepoint %d on %s cannot be tagged: the tags %s exist on other snapshots,"
                                + " which are left alone. Rename or delete one of them.",
                        savepointId, describe(snapshot), names(savepointId)));
    }

    /** T10: takes the tag back when its snapshot expired while it was being created. */
    private Optional<String> keepWhileSnapshotExists(
            long savepointId, String name, Snapshot snapshot) {
        if (exists(snapshot)) {
            statistics.countCreated();
            LOG.info("Created tag {} on {}.", name, describe(snapshot));
            return Optional.of(name);
        }
        deleteFile(name);
        snapshotGone(savepointId);
        return Optional.empty();
    }

    /**
     * Writes the tag's file.
     *
     * @return what the file says afterwards
     */
    private Tag write(String name, Snapshot snapshot) {
        Optional<Tag> written;
        try {
            tagManager.createTag(snapshot, name, timeRetained, Collections.emptyList(), false);
            written = read(name);
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot create tag %s on %s in directory %s: %s",
                            name, describe(snapshot), tagManager.tagDirectory(), rootMessage(e)),
                    e);
        }
        if (!written.isPresent()) {
            throw new SavepointTagException(
                    String.format(
                            "Tag %s on %s was created, but its file %s does not exist.",
                            name, describe(snapshot), tagManager.tagPath(name)));
        }
        return written.get();
    }

    /** Looks under a name, and removes what a crash has left in the middle of this very tag. */
    private Found look(String name, Snapshot snapshot) {
        try {
            return new Found(name, read(name).orElse(null), false);
        } catch (SavepointTagException unreadable) {
            Path path = tagManager.tagPath(name);
            String content = contentOf(path, unreadable);
            if (!isTorn(content, snapshot)) {
                return new Found(name, null, true);
            }
            LOG.warn(
                    "The file {} of tag {} breaks off in its middle: a crash has interrupted its "
                            + "creation. Creating it again.",
                    path,
                    name);
            try {
                fileIO.delete(path, false);
            } catch (IOException e) {
                unreadable.addSuppressed(e);
                throw unreadable;
            }
            return new Found(name, null, false);
        }
    }

    /**
     * What a file holds that could not be read as a tag.
     *
     * @throws SavepointTagException the one given, when the file cannot be read at all just now
     */
    private String contentOf(Path path, SavepointTagException unreadable) {
        try {
            return fileIO.readFileUtf8(path);
        } catch (IOException e) {
            throw unreadable;
        }
    }

    /** Whether a file that is no tag holds the first part of the tag of this snapshot. */
    private static boolean isTorn(String content, Snapshot snapshot) {
        String found = withoutSpace(content);
        // A tag says what its snapshot says, and then when it was created and how long it stays.
        String json = withoutSpace(snapshot.toJson());
        String head = json.substring(0, json.lastIndexOf('}'));
        return head.startsWith(found) || found.startsWith(head);
    }

    private static String withoutSpace(String json) {
        return json.replaceAll("\\s", "");
    }

    // ------------------------------------------------------------------------
    //  Deletion
    // ------------------------------------------------------------------------

    /**
     * Deletes the owned tag of a savepoint (A1), under whichever of its names, and tells the
     * callbacks. What is not owned is left alone, and so is a file that is no tag.
     *
     * @return whether there was an owned tag
     * @throws SavepointTagException when the file system failed so that it is not known whose the
     *     tag is, when it could not be deleted, or when a callback failed although the tag is gone
     */
    public boolean deleteTag(long savepointId) {
        boolean deleted = false;
        for (String name : names(savepointId)) {
            Optional<Tag> tag = readOwn(name, savepointId);
            if (tag.isPresent()) {
                deleteFile(name);
                deleted = true;
                statistics.countDeleted();
                LOG.info("Deleted tag {} on {}.", name, describe(tag.get()));
                tell("deletion", name, callback -> callback.notifyDeletion(name));
            }
        }
        return deleted;
    }

    private void deleteFile(String name) {
        try {
            tagManager.deleteTag(
                    name, tagDeletions.get(), snapshotManager, Collections.emptyList());
            if (!read(name).isPresent()) {
                return;
            }
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot delete tag %s in directory %s: %s",
                            name, tagManager.tagDirectory(), rootMessage(e)),
                    e);
        }
        throw new SavepointTagException(
                String.format(
                        "Cannot delete tag %s: its file %s is still there. Delete the tag by hand.",
                        name, tagManager.tagPath(name)));
    }

    // ------------------------------------------------------------------------
    //  Names and ownership
    // ------------------------------------------------------------------------

    /** The names that the tag of a savepoint may have, the preferred one first. */
    private List<String> names(long savepointId) {
        String plain = TAG_PREFIX + savepointId;
        String suffix = commitUser.substring(Math.max(0, commitUser.length() - SUFFIX_LENGTH));
        return Arrays.asList(plain, plain + "-" + suffix);
    }

    private boolean isOwn(long savepointId, Snapshot snapshotOrTag) {
        return commitUser.equals(snapshotOrTag.commitUser())
                && snapshotOrTag.commitIdentifier() == savepointId;
    }

    /** The owned tag under a name. A file that is no tag is nobody's here, and left alone. */
    private Optional<Tag> readOwn(String name, long savepointId) {
        try {
            return read(name).filter(tag -> isOwn(savepointId, tag));
        } catch (SavepointTagException unreadable) {
            contentOf(tagManager.tagPath(name), unreadable);
            LOG.warn("Leaving a tag alone that may be of savepoint {}.", savepointId, unreadable);
            return Optional.empty();
        }
    }

    /** A tag as its file has it now, or empty when there is no such file. */
    private Optional<Tag> read(String name) {
        Path path = tagManager.tagPath(name);
        try {
            return Optional.of(Tag.tryFromPath(fileIO, path));
        } catch (FileNotFoundException e) {
            return Optional.empty();
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot read tag %s: %s. If its file %s is no valid tag, remove it.",
                            name, rootMessage(e), path),
                    e);
        }
    }

    /** Whether the snapshot is in the table; an other one with its id is not meant. */
    private boolean exists(Snapshot snapshot) {
        Path path = snapshotManager.snapshotPath(snapshot.id());
        try {
            Snapshot found = SnapshotManager.tryFromPath(fileIO, path);
            return isOwn(snapshot.commitIdentifier(), found)
                    && found.timeMillis() == snapshot.timeMillis();
        } catch (FileNotFoundException e) {
            return false;
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot read the snapshot to be tagged, %s: %s", path, rootMessage(e)),
                    e);
        }
    }

    /** What lies under one of the names of a tag. */
    private static final class Found {

        private final String name;
        @Nullable private final Tag tag;
        private final boolean noTag;

        private Found(String name, @Nullable Tag tag, boolean noTag) {
            this.name = name;
            this.tag = tag;
            this.noTag = noTag;
        }

        /** What takes the name, or null when it is free. */
        @Nullable
        private String taken() {
            if (noTag) {
                return "as a file that is no tag";
            }
            return tag == null ? null : "on " + describe(tag);
        }
    }

    private static String describe(Snapshot snapshot) {
        return String.format(
                "snapshot %d of commit user %s with identifier %d",
                snapshot.id(), snapshot.commitUser(), snapshot.commitIdentifier());
    }

    // ------------------------------------------------------------------------
    //  Callbacks
    // ------------------------------------------------------------------------

    private void tellCreation(String name, Snapshot snapshot) {
        tell("creation", name, callback -> callback.notifyCreation(name, snapshot.id()));
    }

    /** T6: tells fresh callbacks, all of them whatever one of them does, and closes them. */
    @SuppressWarnings("try") // close() may be interrupted, which is passed on
    private void tell(String what, String name, Consumer<TagCallback> notification) {
        SavepointTagException failure = null;
        for (TagCallback callback : freshCallbacks(what, name)) {
            try (TagCallback closing = callback) {
                notification.accept(closing);
            } catch (Exception e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                if (failure == null) {
                    failure =
                            new SavepointTagException(
                                    String.format(
                                            "Tag callback %s failed on the %s of tag %s: %s",
                                            callback.getClass().getName(),
                                            what,
                                            name,
                                            rootMessage(e)),
                                    e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private List<TagCallback> freshCallbacks(String what, String name) {
        try {
            return callbacks.get();
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "No tag callbacks for the %s of tag %s: %s",
                            what, name, rootMessage(e)),
                    e);
        }
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.toString();
    }
}
