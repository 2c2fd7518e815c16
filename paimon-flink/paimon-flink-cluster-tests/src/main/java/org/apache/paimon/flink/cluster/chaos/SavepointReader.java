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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.ClusterException;

import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.OperatorStateHandle;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads the offsets of the Kafka source from savepoints: the state of the source's readers, with
 * the connector's own serializer of splits.
 */
public final class SavepointReader {

    /** Where a source operator keeps the splits of its reader. */
    private static final String READER_STATE = "SourceReaderState";

    private SavepointReader() {}

    /** The savepoints below a directory whose metadata is complete. */
    public static List<SavepointFacts> completeIn(URI directory) {
        List<SavepointFacts> found = new ArrayList<>();
        Path path = new Path(directory);
        try {
            FileSystem files = FileSystem.getUnguardedFileSystem(path.toUri());
            for (Path savepoint : CheckpointFiles.completeIn(files, path)) {
                found.add(read(files, savepoint));
            }
            return found;
        } catch (IOException e) {
            throw new ClusterException("cannot read the savepoints in " + directory + ": " + e, e);
        }
    }

    private static SavepointFacts read(FileSystem files, Path savepoint) throws IOException {
        CheckpointMetadata read;
        try (DataInputStream in =
                new DataInputStream(files.open(CheckpointFiles.metadata(savepoint)))) {
            read =
                    Checkpoints.loadCheckpointMetadata(
                            in, SavepointReader.class.getClassLoader(), savepoint.toString());
        }
        Map<Integer, Long> offsets = new TreeMap<>();
        for (OperatorState operator : read.getOperatorStates()) {
            for (OperatorSubtaskState subtask : operator.getStates()) {
                for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
                    addOffsets(handle, offsets);
                }
            }
        }
        return new SavepointFacts(read.getCheckpointId(), savepoint.toString(), offsets);
    }

    private static void addOffsets(OperatorStateHandle handle, Map<Integer, Long> offsets)
            throws IOException {
        OperatorStateHandle.StateMetaInfo splits =
                handle.getStateNameToPartitionOffsets().get(READER_STATE);
        if (splits == null) {
            return;
        }
        try (FSDataInputStream in = handle.openInputStream()) {
            DataInputStream data = new DataInputStream(in);
            for (long position : splits.getOffsets()) {
                in.seek(position);
                byte[] bytes = new byte[data.readInt()];
                data.readFully(bytes);
                KafkaPartitionSplit split =
                        SimpleVersionedSerialization.readVersionAndDeSerialize(
                                new KafkaPartitionSplitSerializer(), bytes);
                // A reader that has not begun has a marker below 0 for "the earliest".
                offsets.put(split.getPartition(), Math.max(0, split.getStartingOffset()));
            }
        }
    }
}
