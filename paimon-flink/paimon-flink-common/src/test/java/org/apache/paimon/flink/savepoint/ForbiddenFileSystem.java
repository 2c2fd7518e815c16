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

import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;

/** A file system of Flink that lets nobody look at anything. */
public final class ForbiddenFileSystem extends LocalFileSystem {

    static final String SCHEME = "forbidden";

    @Override
    public URI getUri() {
        return URI.create(SCHEME + "://host/");
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        throw denied(path);
    }

    @Override
    public boolean exists(Path path) throws IOException {
        throw denied(path);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        throw denied(path);
    }

    private static IOException denied(Path path) {
        return new AccessDeniedException(path.toString(), null, "permission denied by the test");
    }

    /** Found through {@code META-INF/services}. */
    public static final class Factory implements FileSystemFactory {

        @Override
        public String getScheme() {
            return SCHEME;
        }

        @Override
        public FileSystem create(URI uri) {
            return new ForbiddenFileSystem();
        }
    }
}
