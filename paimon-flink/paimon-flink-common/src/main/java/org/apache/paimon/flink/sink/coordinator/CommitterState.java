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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.sink.state.CoordinatorState;
import org.apache.paimon.flink.sink.state.CoordinatorStateSerializer;
import org.apache.paimon.flink.sink.state.MemoryBackendStateStore;

import org.apache.flink.core.io.SimpleVersionedSerialization;

import java.io.IOException;

/**
 * What the coordinator's checkpoint holds (S3): the commit user, and the states of the committer.
 *
 * <p>Threads: the coordinator's event loop.
 */
final class CommitterState {

    private static final CoordinatorStateSerializer SERIALIZER = new CoordinatorStateSerializer();

    private final String commitUser;
    private final MemoryBackendStateStore store;

    private CommitterState(String commitUser, MemoryBackendStateStore store) {
        this.commitUser = commitUser;
        this.store = store;
    }

    static CommitterState fresh(String commitUser) {
        return new CommitterState(commitUser, new MemoryBackendStateStore());
    }

    static CommitterState read(long checkpointId, byte[] bytes) throws IOException {
        try {
            CoordinatorState state =
                    SimpleVersionedSerialization.readVersionAndDeSerialize(SERIALIZER, bytes);
            return new CommitterState(
                    state.getCommitUser(), new MemoryBackendStateStore(state.getCommitterStates()));
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    String.format(
                            "The coordinator's state in checkpoint %d (%d bytes) cannot be read:"
                                    + " %s",
                            checkpointId, bytes.length, e.getMessage()),
                    e);
        }
    }

    String commitUser() {
        return commitUser;
    }

    MemoryBackendStateStore store() {
        return store;
    }

    byte[] serialize() throws Exception {
        return SimpleVersionedSerialization.writeVersionAndSerialize(
                SERIALIZER, new CoordinatorState(commitUser, store.getSerializedStates()));
    }
}
