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

import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitterFactory;
import org.apache.paimon.flink.sink.state.CoordinatorState;
import org.apache.paimon.flink.sink.state.CoordinatorStateSerializer;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;
import org.apache.paimon.tag.CommitProgress;

import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

import javax.annotation.Nullable;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Metadata of a savepoint whose coordinators were what a test says. */
final class WrittenSavepoint {

    private final long id;
    private final List<OperatorState> operators = new ArrayList<>();

    WrittenSavepoint(long id) {
        this.id = id;
    }

    /** One more sink; without progress as the stock release writes it. */
    WrittenSavepoint sink(String commitUser, @Nullable CommitProgress progress) throws Exception {
        MemoryBackendStateStore store = new MemoryBackendStateStore();
        if (progress != null) {
            SavepointTaggingCommitterFactory.progressState(store).add(progress.toBytes());
        }
        return coordinator(
                "Writer : of " + commitUser,
                SimpleVersionedSerialization.writeVersionAndSerialize(
                        new CoordinatorStateSerializer(),
                        new CoordinatorState(commitUser, store.getSerializedStates())));
    }

    WrittenSavepoint coordinator(String name, byte[] state) {
        OperatorState operator = new OperatorState(name, null, new OperatorID(), 1, 128);
        operator.setCoordinatorState(new ByteStreamStateHandle(name, state));
        operators.add(operator);
        return this;
    }

    /**
     * @return its path, with scheme
     */
    String write(Path directory) throws Exception {
        Files.createDirectories(directory);
        try (OutputStream out = Files.newOutputStream(directory.resolve("_metadata"))) {
            Checkpoints.storeCheckpointMetadata(
                    new CheckpointMetadata(id, operators, Collections.emptyList()), out);
        }
        return directory.toUri().toString();
    }
}
