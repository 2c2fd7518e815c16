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

import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The checkpoints that Flink has asked for and that are not acknowledged yet.
 *
 * <p>Threads: {@link #requested} and {@link #closed} any, the others the coordinator's event loop.
 */
final class PendingCheckpoints {

    /** All of them, also while only queued: a close may drop the queue. */
    private final Set<CompletableFuture<byte[]>> unanswered = ConcurrentHashMap.newKeySet();

    /** Those that wait for the recovery (A4). */
    private final NavigableMap<Long, CompletableFuture<byte[]>> deferred = new TreeMap<>();

    void requested(CompletableFuture<byte[]> result) {
        unanswered.add(result);
        result.whenComplete((value, failure) -> unanswered.remove(result));
    }

    void defer(long checkpointId, CompletableFuture<byte[]> result) {
        deferred.put(checkpointId, result);
    }

    /** Acknowledges what was deferred, in ascending order. */
    void acknowledgeDeferred(Acknowledgement acknowledgement) throws Exception {
        for (Map.Entry<Long, CompletableFuture<byte[]>> checkpoint : deferred.entrySet()) {
            acknowledgement.acknowledge(checkpoint.getKey(), checkpoint.getValue());
        }
        deferred.clear();
    }

    /** What was deferred is not acknowledged any more. */
    void failed(Throwable cause) {
        deferred.values().forEach(result -> result.completeExceptionally(cause));
        deferred.clear();
    }

    /** The event loop has ended: nobody else answers. */
    void closed(Throwable cause) {
        unanswered.forEach(result -> result.completeExceptionally(cause));
    }

    /** Takes the coordinator's state for a checkpoint, and completes its future with it. */
    interface Acknowledgement {

        void acknowledge(long checkpointId, CompletableFuture<byte[]> result) throws Exception;
    }
}
