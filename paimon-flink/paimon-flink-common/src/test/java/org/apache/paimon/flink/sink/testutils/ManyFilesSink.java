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

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.RowAppendTableSink;
import org.apache.paimon.flink.sink.StoreSinkWrite;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.utils.FileStorePathFactory;

import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Multiplies each file that a writer has written, as links under as many names. The coordinator may
 * be a slow one.
 */
final class ManyFilesSink extends RowAppendTableSink {

    private static final long serialVersionUID = 1L;

    private final int copies;
    private final int indexBytes;
    private final long coordinatorBytesPerSecond;

    /**
     * @param indexBytes how long the index is that each file carries in its metadata; 0 for none
     * @param coordinatorBytesPerSecond how much the coordinator takes; {@code Long.MAX_VALUE} for a
     *     coordinator that is not slowed down
     */
    ManyFilesSink(
            FileStoreTable table,
            @Nullable Integer parallelism,
            int copies,
            int indexBytes,
            long coordinatorBytesPerSecond) {
        super(table, null, parallelism);
        this.copies = copies;
        this.indexBytes = indexBytes;
        this.coordinatorBytesPerSecond = coordinatorBytesPerSecond;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected OneInputStreamOperatorFactory<InternalRow, Committable> createWriteOperatorFactory(
            StoreSinkWrite.Provider provider, String commitUser) {
        int times = copies;
        byte[] index = indexBytes == 0 ? null : new byte[indexBytes];
        OneInputStreamOperatorFactory<InternalRow, Committable> factory =
                super.createWriteOperatorFactory(
                        (table, user, state, ioManager, memoryPool, metricGroup) ->
                                multiplied(
                                        provider.provide(
                                                table,
                                                user,
                                                state,
                                                ioManager,
                                                memoryPool,
                                                metricGroup),
                                        table.store().pathFactory(),
                                        times,
                                        index),
                        commitUser);
        return coordinatorBytesPerSecond == Long.MAX_VALUE
                ? factory
                : new SlowCoordinatorFactory(
                        (CoordinatedOperatorFactory<Committable>) factory,
                        coordinatorBytesPerSecond);
    }

    @SuppressWarnings("unchecked")
    private static StoreSinkWrite multiplied(
            StoreSinkWrite write, FileStorePathFactory paths, int times, @Nullable byte[] index) {
        return (StoreSinkWrite)
                Proxy.newProxyInstance(
                        ManyFilesSink.class.getClassLoader(),
                        new Class<?>[] {StoreSinkWrite.class},
                        (proxy, method, args) -> {
                            Object result;
                            try {
                                result = method.invoke(write, args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                            return method.getName().equals("prepareCommit")
                                    ? multiplied((List<Committable>) result, paths, times, index)
                                    : result;
                        });
    }

    private static List<Committable> multiplied(
            List<Committable> committables,
            FileStorePathFactory paths,
            int times,
            @Nullable byte[] index)
            throws IOException {
        List<Committable> multiplied = new ArrayList<>();
        for (Committable committable : committables) {
            CommitMessageImpl message = (CommitMessageImpl) committable.commitMessage();
            List<DataFileMeta> files = new ArrayList<>();
            for (DataFileMeta file : message.newFilesIncrement().newFiles()) {
                Path bucket =
                        Paths.get(
                                paths.bucketPath(message.partition(), message.bucket())
                                        .toUri()
                                        .getPath());
                for (int i = 0; i < times; i++) {
                    DataFileMeta copy = file.rename(i + "-" + file.fileName());
                    Files.createLink(
                            bucket.resolve(copy.fileName()), bucket.resolve(file.fileName()));
                    files.add(index == null ? copy : copy.copy(index));
                }
            }
            // One committable per file, as when each row is of a partition of its own.
            for (DataFileMeta file : files) {
                multiplied.add(
                        new Committable(
                                committable.checkpointId(),
                                new CommitMessageImpl(
                                        message.partition(),
                                        message.bucket(),
                                        message.totalBuckets(),
                                        new DataIncrement(
                                                Collections.singletonList(file),
                                                Collections.emptyList(),
                                                Collections.emptyList()),
                                        CompactIncrement.emptyIncrement())));
            }
        }
        return multiplied;
    }
}
