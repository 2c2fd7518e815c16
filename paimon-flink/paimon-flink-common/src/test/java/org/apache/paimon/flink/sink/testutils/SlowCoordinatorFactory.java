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

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.util.InstantiationUtil;

import javax.annotation.Nullable;

import java.util.concurrent.CompletableFuture;

/**
 * Makes the writers of another factory, and their coordinator, which takes a while for each event:
 * so long is the JobManager busy before it answers the event, and what has arrived behind it.
 */
final class SlowCoordinatorFactory extends AbstractStreamOperatorFactory<Committable>
        implements OneInputStreamOperatorFactory<InternalRow, Committable>,
                CoordinatedOperatorFactory<Committable> {

    private static final long serialVersionUID = 1L;

    private final CoordinatedOperatorFactory<Committable> factory;
    private final long bytesPerSecond;

    SlowCoordinatorFactory(CoordinatedOperatorFactory<Committable> factory, long bytesPerSecond) {
        this.factory = factory;
        this.bytesPerSecond = bytesPerSecond;
    }

    @Override
    public <T extends StreamOperator<Committable>> T createStreamOperator(
            StreamOperatorParameters<Committable> parameters) {
        return factory.createStreamOperator(parameters);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return factory.getStreamOperatorClass(classLoader);
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(
            String operatorName, OperatorID operatorId) {
        return new Provider(
                factory.getCoordinatorProvider(operatorName, operatorId), bytesPerSecond);
    }

    private static final class Provider implements OperatorCoordinator.Provider {

        private static final long serialVersionUID = 1L;

        private final OperatorCoordinator.Provider provider;
        private final long bytesPerSecond;

        private Provider(OperatorCoordinator.Provider provider, long bytesPerSecond) {
            this.provider = provider;
            this.bytesPerSecond = bytesPerSecond;
        }

        @Override
        public OperatorID getOperatorId() {
            return provider.getOperatorId();
        }

        @Override
        public OperatorCoordinator create(OperatorCoordinator.Context context) throws Exception {
            return new SlowCoordinator(provider.create(context), bytesPerSecond);
        }
    }

    private static final class SlowCoordinator
            implements OperatorCoordinator, CoordinationRequestHandler {

        private final OperatorCoordinator coordinator;
        private final long bytesPerSecond;

        private SlowCoordinator(OperatorCoordinator coordinator, long bytesPerSecond) {
            this.coordinator = coordinator;
            this.bytesPerSecond = bytesPerSecond;
        }

        @Override
        public void handleEventFromOperator(int subtask, int attemptNumber, OperatorEvent event)
                throws Exception {
            Thread.sleep(InstantiationUtil.serializeObject(event).length * 1_000L / bytesPerSecond);
            coordinator.handleEventFromOperator(subtask, attemptNumber, event);
        }

        @Override
        public CompletableFuture<CoordinationResponse> handleCoordinationRequest(
                CoordinationRequest request) {
            return ((CoordinationRequestHandler) coordinator).handleCoordinationRequest(request);
        }

        @Override
        public void start() throws Exception {
            coordinator.start();
        }

        @Override
        public void close() throws Exception {
            coordinator.close();
        }

        @Override
        public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result)
                throws Exception {
            coordinator.checkpointCoordinator(checkpointId, result);
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            coordinator.notifyCheckpointComplete(checkpointId);
        }

        @Override
        public void notifyCheckpointAborted(long checkpointId) {
            coordinator.notifyCheckpointAborted(checkpointId);
        }

        @Override
        public void resetToCheckpoint(long checkpointId, @Nullable byte[] checkpointData)
                throws Exception {
            coordinator.resetToCheckpoint(checkpointId, checkpointData);
        }

        @Override
        public void subtaskReset(int subtask, long checkpointId) {
            coordinator.subtaskReset(subtask, checkpointId);
        }

        @Override
        public void executionAttemptFailed(
                int subtask, int attemptNumber, @Nullable Throwable reason) {
            coordinator.executionAttemptFailed(subtask, attemptNumber, reason);
        }

        @Override
        public void executionAttemptReady(int subtask, int attemptNumber, SubtaskGateway gateway) {
            coordinator.executionAttemptReady(subtask, attemptNumber, gateway);
        }
    }
}
