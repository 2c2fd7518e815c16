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

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * T2, E3: the writers that wait for a commit, at most one request of each subtask. A writer asks
 * again when the RPC times out; its new request takes the place of the old one, which nobody waits
 * for any more.
 *
 * <p>Requests come on the JobManager's main thread, answers from the event loop: thread-safe. Each
 * future is completed with a response, never with an exception.
 */
final class AwaitedCommits {

    private final Map<Integer, Awaited> bySubtask = new ConcurrentHashMap<>();

    /** Whether an answer is queued already: the event loop may hang in a commit for long. */
    private final AtomicBoolean answerQueued = new AtomicBoolean();

    private final BooleanSupplier queueAnswer;
    private final Supplier<String> closed;

    /**
     * @param queueAnswer lets the event loop call {@link #committed} or {@link #failed}; false when
     *     the loop takes no more actions
     * @param closed what to answer then
     */
    AwaitedCommits(BooleanSupplier queueAnswer, Supplier<String> closed) {
        this.queueAnswer = queueAnswer;
        this.closed = closed;
    }

    CompletableFuture<CoordinationResponse> request(CoordinationRequest request) {
        if (!(request instanceof AwaitCommitRequest)) {
            CompletableFuture<CoordinationResponse> refused = new CompletableFuture<>();
            refused.completeExceptionally(
                    new IllegalArgumentException(
                            "Unknown request of type " + request.getClass().getName() + "."));
            return refused;
        }
        CompletableFuture<CoordinationResponse> answer = add((AwaitCommitRequest) request);
        if (answerQueued.compareAndSet(false, true) && !queueAnswer.getAsBoolean()) {
            failed(closed.get());
        }
        return answer;
    }

    private CompletableFuture<CoordinationResponse> add(AwaitCommitRequest request) {
        Awaited awaited = new Awaited(request.checkpointId());
        Awaited replaced = bySubtask.put(request.subtask(), awaited);
        if (replaced != null) {
            replaced.answer(
                    AwaitCommitResponse.failed(
                            "subtask " + request.subtask() + " has asked again: " + request));
        }
        return awaited.answer;
    }

    /** Everything up to this checkpoint is committed and tagged. */
    void committed(long checkpointId) {
        answer(
                awaited -> awaited.checkpointId <= checkpointId,
                AwaitCommitResponse.committed(checkpointId));
    }

    /** Nothing more is committed. */
    void failed(String failure) {
        answer(awaited -> true, AwaitCommitResponse.failed(failure));
    }

    int size() {
        return bySubtask.size();
    }

    private void answer(Predicate<Awaited> answered, AwaitCommitResponse response) {
        // First: a request that comes from now on queues an answer of its own.
        answerQueued.set(false);
        bySubtask.forEach(
                (subtask, awaited) -> {
                    if (answered.test(awaited)) {
                        bySubtask.remove(subtask, awaited);
                        awaited.answer(response);
                    }
                });
    }

    private static final class Awaited {

        private final long checkpointId;
        private final CompletableFuture<CoordinationResponse> answer = new CompletableFuture<>();

        private Awaited(long checkpointId) {
            this.checkpointId = checkpointId;
        }

        private void answer(AwaitCommitResponse response) {
            answer.complete(CoordinationResponseUtils.wrap(response));
        }
    }
}
