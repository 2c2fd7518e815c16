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

/**
 * T2, E3: a writer that is about to end asks to be answered once everything up to a completed
 * checkpoint is committed and tagged, or has failed: see {@link AwaitCommitResponse}.
 */
public class AwaitCommitRequest implements CoordinationRequest {

    private static final long serialVersionUID = 1L;

    private final int subtask;
    private final long checkpointId;

    public AwaitCommitRequest(int subtask, long checkpointId) {
        this.subtask = subtask;
        this.checkpointId = checkpointId;
    }

    public int subtask() {
        return subtask;
    }

    public long checkpointId() {
        return checkpointId;
    }

    @Override
    public String toString() {
        return String.format(
                "AwaitCommitRequest{subtask %d, checkpoint %d}", subtask, checkpointId);
    }
}
