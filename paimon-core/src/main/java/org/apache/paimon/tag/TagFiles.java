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
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.function.Supplier;

import static org.apache.paimon.tag.SavepointTagException.rootMessage;

/**
 * Reads, writes and deletes the files of single tags, and looks each time whether that worked.
 *
 * <p>Whose a tag is, and whether it may be touched, is decided by its caller. Threads: the
 * committer's.
 *
 * <p><b>Recovery</b> (A8). A file that a crash has left in the middle of a tag is removed by the
 * next look for that tag ({@link TornTagFile}).
 */
final class TagFiles {

    private static final Logger LOG = LoggerFactory.getLogger(TagFiles.class);

    private final SnapshotManager snapshotManager;
    private final TagManager tagManager;
    private final Supplier<TagDeletion> tagDeletions;
    @Nullable private final Duration timeRetained;
    private final FileIO fileIO;

    /**
     * @param tagDeletions a new one for each deletion
     * @param timeRetained {@code tag.default-time-retained}, null to keep tags until they are
     *     deleted
     */
    TagFiles(
            SnapshotManager snapshotManager,
            TagManager tagManager,
            Supplier<TagDeletion> tagDeletions,
            @Nullable Duration timeRetained) {
        this.snapshotManager = snapshotManager;
        this.tagManager = tagManager;
        this.tagDeletions = tagDeletions;
        this.timeRetained = timeRetained;
        this.fileIO = snapshotManager.fileIO();
    }

    /** Looks under a name, and removes what a crash has left in the middle of this very tag. */
    Found look(String name, Snapshot snapshot) {
        try {
            return new Found(name, read(name).orElse(null), false);
        } catch (SavepointTagException unreadable) {
            Path path = tagManager.tagPath(name);
            String content = contentOf(path, unreadable);
            if (!TornTagFile.isOf(snapshot, content)) {
                return new Found(name, null, true);
            }
            LOG.warn(
                    "The file {} of tag {} on {} breaks off in its middle: a crash has interrupted "
                            + "its creation. Removing it.",
                    path,
                    name,
                    SnapshotIdentity.of(snapshot));
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

    /**
     * Writes the tag's file.
     *
     * @return what the file says afterwards: when two processes create a tag of one name at once,
     *     the base lets the later one overwrite
     */
    Tag write(String name, Snapshot snapshot) {
        Optional<Tag> written;
        try {
            tagManager.createTag(snapshot, name, timeRetained, Collections.emptyList(), false);
            written = read(name);
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "Cannot create tag %s on %s in directory %s: %s",
                            name,
                            SnapshotIdentity.of(snapshot),
                            tagManager.tagDirectory(),
                            rootMessage(e)),
                    e);
        }
        if (!written.isPresent()) {
            throw new SavepointTagException(
                    String.format(
                            "Tag %s on %s was created, but its file %s does not exist.",
                            name, SnapshotIdentity.of(snapshot), tagManager.tagPath(name)));
        }
        return written.get();
    }

    /** Deletes the tag, and looks whether that worked: the base swallows such a failure. */
    void delete(String name) {
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

    /** What lies under one of the names of a tag. */
    static final class Found {

        final String name;
        @Nullable final Tag tag;
        private final boolean noTag;

        private Found(String name, @Nullable Tag tag, boolean noTag) {
            this.name = name;
            this.tag = tag;
            this.noTag = noTag;
        }

        /** What takes the name, or null when it is free. */
        @Nullable
        String taken() {
            if (noTag) {
                return "as a file that is no tag";
            }
            return tag == null ? null : "on " + SnapshotIdentity.of(tag);
        }
    }
}
