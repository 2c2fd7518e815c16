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

package org.apache.paimon.flink.sink.coordinator.commit;

import java.util.UUID;

/**
 * Who commits: a job, and the run in which it does. Immutable.
 *
 * <p>A run is the time in which one committer works for a job in one JobMaster. A Flink job id does
 * not do, since application mode uses the same one for every submission.
 */
public final class CommitRun {

    private final String jobId;
    private final String runId;

    private CommitRun(String jobId, String runId) {
        this.jobId = jobId;
        this.runId = runId;
    }

    /** A new run, with a random id. */
    public static CommitRun begin(String jobId) {
        return new CommitRun(jobId, UUID.randomUUID().toString());
    }

    public String jobId() {
        return jobId;
    }

    public String runId() {
        return runId;
    }
}
