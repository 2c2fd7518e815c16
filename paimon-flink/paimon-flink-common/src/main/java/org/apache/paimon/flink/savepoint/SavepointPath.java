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

import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;

/** The directory of a savepoint or retained checkpoint, with its scheme. Immutable. */
final class SavepointPath {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointPath.class);

    private static final String METADATA = AbstractFsCheckpointStorageAccess.METADATA_FILE_NAME;

    private final Path directory;

    private SavepointPath(Path directory) {
        this.directory = directory;
    }

    /**
     * @param text with or without a scheme, with or without a slash or {@code /_metadata} behind it
     * @throws IllegalArgumentException when it is no absolute path, or Flink has no file system for
     *     it
     */
    static SavepointPath of(@Nullable String text) {
        if (text == null || text.trim().isEmpty()) {
            throw new IllegalArgumentException(
                    "The path of the savepoint is empty. Give the directory that Flink named when"
                            + " it took the savepoint.");
        }
        try {
            Path path = new Path(text.trim());
            if (path.getName().equals(METADATA)) {
                path = path.getParent();
            }
            if (path == null || !path.isAbsolute()) {
                throw new IllegalArgumentException(
                        "A relative path is resolved by nobody: give the absolute one");
            }
            return new SavepointPath(path.makeQualified(path.getFileSystem()));
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    String.format(
                            "'%s' is no path of a savepoint: %s.",
                            text, withoutFullStop(e.getMessage())),
                    e);
        }
    }

    private static String withoutFullStop(String message) {
        return message != null && message.endsWith(".")
                ? message.substring(0, message.length() - 1)
                : message;
    }

    FileSystem fileSystem() throws IOException {
        return directory.getFileSystem();
    }

    Path metadata() {
        return new Path(directory, METADATA);
    }

    /** Whether a snapshot with this property was committed for this savepoint. */
    boolean isNamedBy(@Nullable String property) {
        if (property == null) {
            return false;
        }
        try {
            return directory.equals(of(property).directory);
        } catch (IllegalArgumentException e) {
            return directory.toString().equals(property);
        }
    }

    /** Whether the metadata is there; a failure to look is no answer. */
    static MetadataPresence presence(@Nullable String property) {
        if (property == null) {
            return MetadataPresence.UNKNOWN;
        }
        try {
            SavepointPath path = of(property);
            return path.fileSystem().exists(path.metadata())
                    ? MetadataPresence.TRUE
                    : MetadataPresence.FALSE;
        } catch (IOException | RuntimeException e) {
            LOG.warn("Cannot look whether the savepoint {} is there.", property, e);
            return MetadataPresence.UNKNOWN;
        }
    }

    /** Whether the directory itself is there. */
    boolean directoryExists() throws IOException {
        return fileSystem().exists(directory);
    }

    /** Whether the directory that it lies in is there. */
    boolean parentExists() throws IOException {
        Path parent = directory.getParent();
        return parent == null || fileSystem().exists(parent);
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
