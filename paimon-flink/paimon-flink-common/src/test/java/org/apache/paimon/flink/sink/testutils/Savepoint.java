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

package org.apache.paimon.flink.sink.testutils;

import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.util.FileUtils;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** A completed savepoint or retained checkpoint on the local disk. */
public final class Savepoint {

    private final String location;
    private final long id;

    private Savepoint(String location, long id) {
        this.location = location;
        this.id = id;
    }

    public static Savepoint at(String location) throws IOException {
        Path path = directory(location);
        try (DataInputStream in =
                new DataInputStream(Files.newInputStream(path.resolve("_metadata")))) {
            CheckpointMetadata metadata =
                    Checkpoints.loadCheckpointMetadata(
                            in, Savepoint.class.getClassLoader(), location);
            return new Savepoint(location, metadata.getCheckpointId());
        }
    }

    private static Path directory(String location) {
        return location.startsWith("file:") ? Paths.get(URI.create(location)) : Paths.get(location);
    }

    public String location() {
        return location;
    }

    /** Somebody moves it beside where it was. */
    public Savepoint move() throws IOException {
        Path from = directory(location);
        Path to = from.resolveSibling("moved-" + from.getFileName());
        Files.move(from, to);
        return new Savepoint(to.toUri().toString(), id);
    }

    /** Its directory is there again, and empty. */
    public void createDirectory() throws IOException {
        Files.createDirectory(directory(location));
    }

    /** Somebody deletes it. */
    public void delete() throws IOException {
        FileUtils.deleteDirectory(directory(location).toFile());
    }

    public boolean exists() {
        return Files.exists(directory(location));
    }

    /** As if it had not completed: what Flink writes last is not there, until it is put back. */
    public void hideMetadata() throws IOException {
        Files.move(directory(location).resolve("_metadata"), directory(location).resolve("hidden"));
    }

    public void putMetadataBack() throws IOException {
        Files.move(directory(location).resolve("hidden"), directory(location).resolve("_metadata"));
    }

    public long id() {
        return id;
    }

    /** The tag it gets when nobody else has the name. */
    public String tag() {
        return "savepoint-" + id;
    }

    @Override
    public String toString() {
        return id + " at " + location;
    }
}
