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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.flink.sink.coordinator.commit.SavepointOutcome;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointOutcomes;

import java.util.HashMap;
import java.util.Map;

/** Where the savepoints of a run are written: L2 looks there whether they have completed. */
final class SavepointDirectories implements SavepointOutcomes {

    private final Map<String, Checkpoint> savepoints = new HashMap<>();

    /** The directory of a new savepoint. */
    String begin(Checkpoint savepoint) {
        String path = "memory:/savepoint-" + savepoints.size();
        savepoints.put(path, savepoint);
        return path;
    }

    /** Whether Flink has removed the directory of an aborted savepoint: it may fail to. */
    boolean removed(Checkpoint savepoint) {
        return savepoint.status == Checkpoint.Status.ABORTED && savepoint.id % 2 == 0;
    }

    @Override
    public SavepointOutcome of(String path) {
        Checkpoint savepoint = savepoints.get(path);
        if (savepoint.status == Checkpoint.Status.COMPLETED) {
            return SavepointOutcome.COMPLETE;
        }
        return removed(savepoint) ? SavepointOutcome.GONE : SavepointOutcome.UNFINISHED;
    }
}
