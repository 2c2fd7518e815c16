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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.FileStatus;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.fs.SeekableInputStream;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A file system in memory, just large enough for the base's snapshot and tag managers. One run of
 * the simulation owns it; it knows no directories but the prefixes of its files.
 */
final class MemoryFileIO implements FileIO {

    private static final long serialVersionUID = 1L;

    /** Sees each change of a file before and after it happens, and may throw. */
    interface Watcher {

        void before(Change change, String path) throws IOException;

        void after(Change change, String path) throws IOException;
    }

    /** What happens to a file. */
    enum Change {
        WRITE,
        DELETE
    }

    private final transient TreeMap<String, byte[]> files = new TreeMap<>();
    private final transient Watcher watcher;

    MemoryFileIO(Watcher watcher) {
        this.watcher = watcher;
    }

    // ------------------------------------------------------------------------
    //  For the simulation itself: no watcher is told
    // ------------------------------------------------------------------------

    byte[] peek(String path) {
        return files.get(path);
    }

    void poke(String path, byte[] content) {
        files.put(path, content);
    }

    void drop(String path) {
        files.remove(path);
    }

    /** Paths that start with the prefix. */
    Iterable<String> paths(String prefix) {
        return new ArrayList<>(files.subMap(prefix, prefix + Character.MAX_VALUE).keySet());
    }

    // ------------------------------------------------------------------------
    //  FileIO
    // ------------------------------------------------------------------------

    private void write(String path, byte[] content) throws IOException {
        watcher.before(Change.WRITE, path);
        files.put(path, content);
        watcher.after(Change.WRITE, path);
    }

    private byte[] read(Path path) throws FileNotFoundException {
        byte[] content = files.get(path.toString());
        if (content == null) {
            throw new FileNotFoundException(path.toString());
        }
        return content;
    }

    @Override
    public String readFileUtf8(Path path) throws IOException {
        return new String(read(path), StandardCharsets.UTF_8);
    }

    @Override
    public boolean tryToWriteAtomic(Path path, String content) throws IOException {
        if (files.containsKey(path.toString())) {
            return false;
        }
        write(path.toString(), content.getBytes(StandardCharsets.UTF_8));
        return true;
    }

    @Override
    public boolean isObjectStore() {
        return false;
    }

    @Override
    public void configure(CatalogContext context) {}

    @Override
    public SeekableInputStream newInputStream(Path path) throws IOException {
        return SeekableInputStream.wrap(new ByteArrayInputStream(read(path)));
    }

    @Override
    public PositionOutputStream newOutputStream(Path path, boolean overwrite) throws IOException {
        if (!overwrite && files.containsKey(path.toString())) {
            throw new IOException("File exists: " + path);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        return new PositionOutputStream() {
            @Override
            public long getPos() {
                return bytes.size();
            }

            @Override
            public void write(int b) {
                bytes.write(b);
            }

            @Override
            public void write(byte[] content) {
                bytes.write(content, 0, content.length);
            }

            @Override
            public void write(byte[] content, int offset, int length) {
                bytes.write(content, offset, length);
            }

            @Override
            public void flush() {}

            @Override
            public void close() throws IOException {
                MemoryFileIO.this.write(path.toString(), bytes.toByteArray());
            }
        };
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        byte[] content = files.get(path.toString());
        if (content != null) {
            return new Status(path, content.length, false);
        }
        if (hasChildren(path)) {
            return new Status(path, 0, true);
        }
        throw new FileNotFoundException(path.toString());
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        String prefix = path + "/";
        List<FileStatus> children = new ArrayList<>();
        for (Map.Entry<String, byte[]> entry :
                files.subMap(prefix, prefix + Character.MAX_VALUE).entrySet()) {
            children.add(new Status(new Path(entry.getKey()), entry.getValue().length, false));
        }
        return children.toArray(new FileStatus[0]);
    }

    @Override
    public boolean exists(Path path) {
        return files.containsKey(path.toString()) || hasChildren(path);
    }

    private boolean hasChildren(Path path) {
        String prefix = path + "/";
        String next = files.ceilingKey(prefix);
        return next != null && next.startsWith(prefix);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        String name = path.toString();
        watcher.before(Change.DELETE, name);
        boolean deleted = files.remove(name) != null;
        watcher.after(Change.DELETE, name);
        return deleted;
    }

    @Override
    public boolean mkdirs(Path path) {
        return true;
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        byte[] content = files.get(from.toString());
        if (content == null || files.containsKey(to.toString())) {
            return false;
        }
        watcher.before(Change.WRITE, to.toString());
        files.remove(from.toString());
        files.put(to.toString(), content);
        watcher.after(Change.WRITE, to.toString());
        return true;
    }

    private static final class Status implements FileStatus {

        private final Path path;
        private final long length;
        private final boolean directory;

        private Status(Path path, long length, boolean directory) {
            this.path = path;
            this.length = length;
            this.directory = directory;
        }

        @Override
        public long getLen() {
            return length;
        }

        @Override
        public boolean isDir() {
            return directory;
        }

        @Override
        public Path getPath() {
            return path;
        }

        @Override
        public long getModificationTime() {
            return 0;
        }
    }
}
