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
import org.apache.paimon.flink.sink.state.OperatorBackendStateStore;
import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.tag.CommitProgress;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

import javax.annotation.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Optional;

import static org.apache.paimon.flink.sink.CoordinatorCommittingRowDataStoreWriteOperator.PENDING_COMMITTABLE_STATE_NAME;

/**
 * Finds the commit user in the state of one operator, and what else the savepoint knows of its
 * commits. On the coordinator path the coordinator's state has it, on the operator path the state
 * of the committer operator. The formats are those of the base release (S3).
 */
final class SinkStateReader {

    private static final CoordinatorStateSerializer SERIALIZER = new CoordinatorStateSerializer();

    /** Name and serializer as in the base release. */
    private static final ListStateDescriptor<String> COMMIT_USER_STATE =
            new ListStateDescriptor<>("commit_user_state", StringSerializer.INSTANCE);

    private final ClassLoader classLoader;
    private final long checkpointId;

    SinkStateReader(ClassLoader classLoader, long checkpointId) {
        this.classLoader = classLoader;
        this.checkpointId = checkpointId;
    }

    /**
     * @return empty for an operator that does not commit
     * @throws IOException when it is one that does, and its state cannot be read
     */
    Optional<SavepointSink> read(OperatorState operator) throws IOException {
        try {
            ByteStreamStateHandle coordinator = operator.getCoordinatorState();
            if (coordinator != null && isOurs(operator, coordinator.getData())) {
                return Optional.of(ofCoordinator(operator, coordinator.getData()));
            }
            OperatorStateHandle committer = handleWithCommitUser(operator);
            return committer == null ? Optional.empty() : ofOperator(operator, committer);
        } catch (Exception e) {
            throw new IOException(
                    String.format(
                            "the state of operator %s: %s",
                            nameOf(operator), e.getMessage() == null ? e : e.getMessage()),
                    e);
        }
    }

    /**
     * Other operators have coordinators too. Ours has writers with pending reports; when they have
     * finished, only the header of the bytes is left to go by.
     */
    private static boolean isOurs(OperatorState operator, byte[] bytes) {
        for (OperatorSubtaskState subtask : operator.getStates()) {
            for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
                if (handle.getStateNameToPartitionOffsets()
                        .containsKey(PENDING_COMMITTABLE_STATE_NAME)) {
                    return true;
                }
            }
        }
        return bytes.length > 8
                && ByteBuffer.wrap(bytes).getInt(0) == SERIALIZER.getVersion()
                && ByteBuffer.wrap(bytes).getInt(4) == bytes.length - 8;
    }

    private SavepointSink ofCoordinator(OperatorState operator, byte[] bytes) throws Exception {
        CoordinatorState state =
                SimpleVersionedSerialization.readVersionAndDeSerialize(SERIALIZER, bytes);
        return new SavepointSink(
                nameOf(operator),
                state.getCommitUser(),
                progress(new MemoryBackendStateStore(state.getCommitterStates())));
    }

    @Nullable
    private static OperatorStateHandle handleWithCommitUser(OperatorState operator) {
        for (OperatorSubtaskState subtask : operator.getStates()) {
            for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
                OperatorStateHandle.StateMetaInfo info =
                        handle.getStateNameToPartitionOffsets().get(COMMIT_USER_STATE.getName());
                if (info != null && info.getOffsets().length > 0) {
                    return handle;
                }
            }
        }
        return null;
    }

    private Optional<SavepointSink> ofOperator(OperatorState operator, OperatorStateHandle handle)
            throws Exception {
        try (CloseableRegistry registry = new CloseableRegistry();
                OperatorStateBackend backend =
                        new DefaultOperatorStateBackendBuilder(
                                        classLoader,
                                        new ExecutionConfig(),
                                        false,
                                        Collections.singletonList(handle),
                                        registry)
                                .build()) {
            for (String commitUser : backend.getUnionListState(COMMIT_USER_STATE).get()) {
                return Optional.of(
                        new SavepointSink(
                                nameOf(operator),
                                commitUser,
                                progress(new OperatorBackendStateStore(backend))));
            }
            return Optional.empty();
        }
    }

    @Nullable
    private CommitProgress progress(StateStore store) throws Exception {
        return SavepointTaggingCommitterFactory.progress(
                SavepointTaggingCommitterFactory.progressState(store), checkpointId);
    }

    private static String nameOf(OperatorState operator) {
        return operator.getOperatorName().orElse(operator.getOperatorID().toString());
    }
}
