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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.coordinator.CoordinationResponseUtils;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.tasks.TaskOperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedValue;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Asks the coordinator of an operator and waits for its answer, however often the RPC times out.
 *
 * <p>Threads: the task's, which cancelling the task interrupts. The answer needs no mailbox.
 */
final class CoordinatorRequests {

    private final TaskOperatorEventGateway gateway;
    private final OperatorID operatorId;

    CoordinatorRequests(TaskOperatorEventGateway gateway, OperatorID operatorId) {
        this.gateway = gateway;
        this.operatorId = operatorId;
    }

    /**
     * @param stillWaiting called each time that the RPC has timed out
     * @throws ExecutionException when the request failed for another reason
     */
    <T extends CoordinationResponse> T ask(CoordinationRequest request, Runnable stillWaiting)
            throws IOException, InterruptedException, ExecutionException {
        SerializedValue<CoordinationRequest> serialized = new SerializedValue<>(request);
        while (true) {
            try {
                return CoordinationResponseUtils.unwrap(
                        gateway.sendRequestToCoordinator(operatorId, serialized).get());
            } catch (ExecutionException e) {
                // The coordinator answers failures with a response, whatever their cause: only the
                // RPC itself times out with an exception.
                if (!(ExceptionUtils.stripExecutionException(e) instanceof TimeoutException)) {
                    throw e;
                }
                stillWaiting.run();
            }
        }
    }
}
