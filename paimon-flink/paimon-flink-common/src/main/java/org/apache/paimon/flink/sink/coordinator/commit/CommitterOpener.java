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

import org.apache.paimon.flink.sink.Committer;

import java.util.function.BooleanSupplier;

/** Opens what a coordinator commits with, once it knows as whom. */
public interface CommitterOpener {

    /** Where the table lies, for messages and to tell tables apart. */
    String table();

    /**
     * Called on the coordinator's event loop.
     *
     * @param restoredCheckpointId the checkpoint that the job is restored from, -1 for none
     * @param cancelled whether no further side effect may be started
     */
    SnapshotCommitter open(
            Committer.Context context,
            CommitRun run,
            JobMasterMemory memory,
            long restoredCheckpointId,
            BooleanSupplier cancelled)
            throws Exception;
}
