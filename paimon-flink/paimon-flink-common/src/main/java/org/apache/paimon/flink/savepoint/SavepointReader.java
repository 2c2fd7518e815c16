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

import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.util.EnvironmentInformation;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Reads the metadata of a savepoint or retained checkpoint with Flink's own loader. */
final class SavepointReader {

    private final ClassLoader classLoader;

    SavepointReader(ClassLoader classLoader) {
        this.classLoader = classLoader;
    }

    /**
     * @throws IllegalArgumentException when there is no savepoint at the path
     * @throws IllegalStateException when it cannot be read
     */
    SavepointContent read(SavepointPath path) {
        CheckpointMetadata metadata = metadata(path);
        SinkStateReader states = new SinkStateReader(classLoader, metadata.getCheckpointId());
        Map<String, SavepointSink> sinks = new LinkedHashMap<>();
        for (OperatorState operator : metadata.getOperatorStates()) {
            try {
                Optional<SavepointSink> sink = states.read(operator);
                // The writers and the committer of the operator path name the same commit user.
                sink.ifPresent(
                        found ->
                                sinks.merge(
                                        found.commitUser(),
                                        found,
                                        (a, b) -> a.progress() == null ? b : a));
            } catch (IOException e) {
                throw unreadable(path, e);
            }
        }
        return new SavepointContent(
                path, metadata.getCheckpointId(), new ArrayList<>(sinks.values()));
    }

    private CheckpointMetadata metadata(SavepointPath path) {
        requireMetadata(path);
        try (DataInputStream in =
                new DataInputStream(
                        new BufferedInputStream(path.fileSystem().open(path.metadata())))) {
            return Checkpoints.loadCheckpointMetadata(in, classLoader, path.toString());
        } catch (IOException | RuntimeException e) {
            throw unreadable(path, e);
        }
    }

    private static void requireMetadata(SavepointPath path) {
        boolean exists;
        try {
            exists = path.fileSystem().exists(path.metadata());
        } catch (IOException e) {
            throw unreadable(path, e);
        }
        if (!exists) {
            throw new IllegalArgumentException(
                    String.format(
                            "There is no savepoint or retained checkpoint at %s: the file %s is not"
                                    + " there. If it was moved, give its new path.",
                            path, path.metadata()));
        }
    }

    private static IllegalStateException unreadable(SavepointPath path, Exception e) {
        return new IllegalStateException(
                String.format(
                        "The savepoint at %s cannot be read: %s. Needed is the permission to read"
                                + " it, and a complete savepoint of a Flink version that this one"
                                + " (%s) can restore.",
                        path,
                        e.getMessage() == null ? e : e.getMessage(),
                        EnvironmentInformation.getVersion()),
                e);
    }
}
