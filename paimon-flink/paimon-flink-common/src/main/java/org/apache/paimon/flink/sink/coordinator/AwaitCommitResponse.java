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

import javax.annotation.Nullable;

/**
 * The answer to an {@link AwaitCommitRequest}. A failed commit is an answer as well: the request
 * itself fails only when the RPC does.
 */
public class AwaitCommitResponse implements CoordinationResponse {

    private static final long serialVersionUID = 2L;

    private final long committedCheckpointId;
    @Nullable private final String failure;

    private AwaitCommitResponse(long committedCheckpointId, @Nullable String failure) {
        this.committedCheckpointId = committedCheckpointId;
        this.failure = failure;
    }

    /** Everything up to this checkpoint is committed and tagged. */
    public static AwaitCommitResponse committed(long checkpointId) {
        return new AwaitCommitResponse(checkpointId, null);
    }

    /** The commit failed, or the coordinator will not do it any more. */
    public static AwaitCommitResponse failed(String failure) {
        return new AwaitCommitResponse(-1, failure);
    }

    /** Everything up to this checkpoint is committed and tagged; -1 when the commit failed. */
    public long committedCheckpointId() {
        return committedCheckpointId;
    }

    /** Why the commit failed; null when it did not. */
    @Nullable
    public String failure() {
        return failure;
    }

    @Override
    public String toString() {
        return failure == null
                ? String.format("AwaitCommitResponse{checkpoint %d}", committedCheckpointId)
                : String.format("AwaitCommitResponse{failed: %s}", failure);
    }
}
