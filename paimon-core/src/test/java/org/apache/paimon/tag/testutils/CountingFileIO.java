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

package org.apache.paimon.tag.testutils;

import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.FileStatus;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.fs.SeekableInputStream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Counts the calls to a file system by kind, and lets a test do something right before one of them:
 * fail it, or change the table underneath.
 */
public final class CountingFileIO implements FileIO {

    private static final long serialVersionUID = 1L;

    /** The calls that reach the storage. */
    public enum Call {
        OPEN,
        CREATE,
        STATUS,
        LIST,
        EXISTS,
        DELETE,
        MKDIRS,
        RENAME
    }

    /** Runs before a call; what it throws is what the caller sees. */
    @FunctionalInterface
    public interface Hook {

        void before(Call call, Path path) throws IOException;
    }

    private final FileIO delegate;
    private final List<Record> records = Collections.synchronizedList(new ArrayList<>());
    private transient volatile Hook hook;

    public CountingFileIO(FileIO delegate) {
        this.delegate = delegate;
    }

    /** Forgets what was counted. */
    public void reset() {
        records.clear();
    }

    public long count(Call... calls) {
        List<Call> wanted = Arrays.asList(calls);
        synchronized (records) {
            return records.stream().filter(r -> wanted.contains(r.call)).count();
        }
    }

    public long total() {
        return records.size();
    }

    public Map<Call, Long> counts() {
        Map<Call, Long> counts = new EnumMap<>(Call.class);
        synchronized (records) {
            records.forEach(r -> counts.merge(r.call, 1L, Long::sum));
        }
        return counts;
    }

    /** Every call since the last reset, for messages. */
    public String log() {
        synchronized (records) {
            return records.stream()
                    .map(r -> r.call + " " + r.path)
                    .collect(Collectors.joining("\n"));
        }
    }

    /** Installs a hook. It may remove itself by {@link #clearHook} and may use the file system. */
    public void hook(Hook newHook) {
        this.hook = newHook;
    }

    public void clearHook() {
        this.hook = null;
    }

    private void called(Call call, Path path) throws IOException {
        records.add(new Record(call, path));
        Hook current = hook;
        if (current != null) {
            current.before(call, path);
        }
    }

    @Override
    public boolean isObjectStore() {
        return delegate.isObjectStore();
    }

    @Override
    public void configure(CatalogContext context) {
        delegate.configure(context);
    }

    @Override
    public SeekableInputStream newInputStream(Path path) throws IOException {
        called(Call.OPEN, path);
        return delegate.newInputStream(path);
    }

    @Override
    public PositionOutputStream newOutputStream(Path path, boolean overwrite) throws IOException {
        called(Call.CREATE, path);
        return delegate.newOutputStream(path, overwrite);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        called(Call.STATUS, path);
        return delegate.getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        called(Call.LIST, path);
        return delegate.listStatus(path);
    }

    @Override
    public boolean exists(Path path) throws IOException {
        called(Call.EXISTS, path);
        return delegate.exists(path);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        called(Call.DELETE, path);
        return delegate.delete(path, recursive);
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
        called(Call.MKDIRS, path);
        return delegate.mkdirs(path);
    }

    @Override
    public boolean rename(Path src, Path dst) throws IOException {
        called(Call.RENAME, dst);
        return delegate.rename(src, dst);
    }

    private static final class Record {

        private final Call call;
        private final Path path;

        private Record(Call call, Path path) {
            this.call = call;
            this.path = path;
        }
    }
}
