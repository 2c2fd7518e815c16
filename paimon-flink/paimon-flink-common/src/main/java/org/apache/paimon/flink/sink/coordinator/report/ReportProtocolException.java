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

import java.io.IOException;

/**
 * What a writer sent cannot be taken for complete: an event was lost or repeated, came from an
 * attempt that nobody announced, or cannot be read (W1, W3). The job fails and recovers by replay.
 */
public class ReportProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    public ReportProtocolException(int subtask, int attempt, long checkpointId, String problem) {
        this(subtask, attempt, checkpointId, problem, null);
    }

    public ReportProtocolException(
            int subtask, int attempt, long checkpointId, String problem, Throwable cause) {
        super(
                String.format(
                        "Writer subtask %d (attempt %d), checkpoint %d: %s",
                        subtask, attempt, checkpointId, problem),
                cause);
    }
}
