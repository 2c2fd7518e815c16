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

package org.apache.paimon.flink.cluster;

import java.util.List;
import java.util.Optional;

/** What is known about the checkpoints of a job. */
public final class Checkpoints {
    private final long completed;
    private final Optional<Long> restored;
    private final List<RestClient.Checkpoint> history;

    Checkpoints(long completed, Optional<Long> restored, List<RestClient.Checkpoint> history) {
        this.completed = completed;
        this.restored = restored;
        this.history = history;
    }

    /** How many completed in this run of the job, savepoints included. */
    public long completed() {
        return completed;
    }

    /** The id the job was last restored from. */
    public Optional<Long> restored() {
        return restored;
    }

    /** The latest ones, newest first. */
    public List<RestClient.Checkpoint> history() {
        return history;
    }

    /** Highest completed id, savepoints left out; 0 before the first. */
    public long latestCheckpoint() {
        return history.stream()
                .filter(c -> c.isCompleted() && !c.isSavepoint())
                .mapToLong(RestClient.Checkpoint::id)
                .max()
                .orElse(0);
    }

    Optional<RestClient.Checkpoint> at(String location) {
        return history.stream().filter(c -> c.path().equals(location)).findFirst();
    }

    @Override
    public String toString() {
        return completed + " completed, restored " + restored + ", history " + history;
    }
}
