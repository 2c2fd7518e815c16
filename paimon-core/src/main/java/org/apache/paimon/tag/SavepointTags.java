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

import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.utils.TagManager;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The tags of a table as they are now, read after a restore (A4). A file that is no tag, or is just
 * being written, is left out.
 */
public final class SavepointTags {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTags.class);

    private final TagManager tagManager;
    private final FileIO fileIO;

    public SavepointTags(TagManager tagManager, FileIO fileIO) {
        this.tagManager = tagManager;
        this.fileIO = fileIO;
    }

    /** All savepoint tags, of whatever commit user. */
    List<Tag> savepointTags() {
        return read(TagManager.TAG_PREFIX + SavepointTagger.TAG_PREFIX);
    }

    /** All tags on snapshots above an id. */
    List<Tag> above(long snapshotId) {
        List<Tag> tags = read(TagManager.TAG_PREFIX);
        tags.removeIf(tag -> tag.id() <= snapshotId);
        return tags;
    }

    private List<Tag> read(String prefix) {
        List<Tag> tags = new ArrayList<>();
        for (Path path : paths(prefix)) {
            try {
                tags.add(Tag.tryFromPath(fileIO, path));
            } catch (FileNotFoundException e) {
                LOG.debug("The tag file {} was deleted meanwhile.", path);
            } catch (RuntimeException e) {
                LOG.warn("Leaving out {}: it is no readable tag.", path, e);
            }
        }
        return tags;
    }

    private List<Path> paths(String prefix) {
        try {
            return tagManager.tagPaths(path -> path.getName().startsWith(prefix));
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot list the tags in directory "
                            + tagManager.tagDirectory()
                            + ": "
                            + e.getMessage(),
                    e);
        }
    }
}
