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

package org.apache.paimon.flink.benchmark;

import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.StoreSinkWrite;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.operation.WriteRestore;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.SinkRecord;

import java.util.List;
import java.util.function.LongFunction;

/** Stands for a writer's files: what it "flushes" for a checkpoint is given to it. */
final class GivenFilesWrite implements StoreSinkWrite {

    private final LongFunction<List<Committable>> files;

    GivenFilesWrite(LongFunction<List<Committable>> files) {
        this.files = files;
    }

    @Override
    public List<Committable> prepareCommit(boolean waitCompaction, long checkpointId) {
        return files.apply(checkpointId);
    }

    @Override
    public SinkRecord write(InternalRow row) {
        return null;
    }

    @Override
    public SinkRecord write(InternalRow row, int bucket) {
        return null;
    }

    @Override
    public void setWriteRestore(WriteRestore writeRestore) {}

    @Override
    public void compact(BinaryRow partition, int bucket, boolean fullCompaction) {}

    @Override
    public void notifyNewFiles(
            long snapshotId, BinaryRow partition, int bucket, List<DataFileMeta> files) {}

    @Override
    public void snapshotState() {}

    @Override
    public boolean streamingMode() {
        return true;
    }

    @Override
    public void close() {}

    @Override
    public void replace(FileStoreTable newTable) {}
}
