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

package org.apache.paimon.flink.sink.coordinator.report;

import javax.annotation.Nullable;

/**
 * A part of the report that a writer makes for a checkpoint, sent while it takes that checkpoint.
 */
public class CommittableEvent extends WriterEvent {

    private static final long serialVersionUID = 4L;

    private final boolean endOfInput;
    @Nullable private final String savepointPath;

    CommittableEvent(
            long position,
            long checkpointId,
            boolean endOfInput,
            int version,
            int checksum,
            boolean last,
            byte[] part,
            @Nullable String savepointPath) {
        super(position, checkpointId, version, checksum, last, part);
        this.endOfInput = endOfInput;
        this.savepointPath = savepointPath;
    }

    /** L1: where the reported savepoint is written; null when that is not known. */
    @Nullable
    String savepointPath() {
        return savepointPath;
    }

    /** E2: the writer has no more data after this report; it may be gone at the next checkpoint. */
    boolean endOfInput() {
        return endOfInput;
    }
}
