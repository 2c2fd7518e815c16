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

import org.apache.flink.runtime.operators.coordination.CoordinationResponse;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * W4: the writers that wait until their replay was taken in so far, at most one request of each
 * subtask. A writer asks again when the RPC times out; its new request takes the place of the old
 * one, and needs no action of its own in the event loop's queue.
 *
 * <p>Requests come on the JobManager's main thread, answers from the event loop: thread-safe.
 */
final class ReplayAnswers {

    private final Map<Integer, CompletableFuture<CoordinationResponse>> bySubtask =
            new ConcurrentHashMap<>();

    private final Predicate<Runnable> eventLoop;

    /**
     * @param eventLoop runs an action behind all events that have arrived; false when it takes no
     *     more actions
     */
    ReplayAnswers(Predicate<Runnable> eventLoop) {
        this.eventLoop = eventLoop;
    }

    CompletableFuture<CoordinationResponse> request(ReplayReceivedRequest request) {
        CompletableFuture<CoordinationResponse> answer = new CompletableFuture<>();
        CompletableFuture<CoordinationResponse> replaced = bySubtask.put(request.subtask(), answer);
        if (replaced != null) {
            replaced.complete(response());
        } else if (!eventLoop.test(() -> answer(request.subtask()))) {
            // The session is over: the writer will be reset as well.
            answer(request.subtask());
        }
        return answer;
    }

    /** The session is over: what is still queued does not run. */
    void closed() {
        bySubtask.keySet().forEach(this::answer);
    }

    private void answer(int subtask) {
        CompletableFuture<CoordinationResponse> answer = bySubtask.remove(subtask);
        if (answer != null) {
            answer.complete(response());
        }
    }

    private static CoordinationResponse response() {
        return CoordinationResponseUtils.wrap(new ReplayReceivedResponse());
    }
}
