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

/**
 * How much a {@link CommitLedger} holds.
 *
 * <p>Threads: the coordinator's event loop writes, any thread reads.
 */
public final class LedgerLoad {

    private volatile int checkpoints;
    private volatile int savepoints;
    private volatile long bytes;
    private volatile long replayedBytes;

    /** Checkpoints that a writer has reported and that are not in a batch yet. */
    public int checkpoints() {
        return checkpoints;
    }

    /** Those of them that a writer has reported as a savepoint. */
    public int savepoints() {
        return savepoints;
    }

    /** Size of the reports that are held, those of a restore included, in bytes. */
    public long bytes() {
        return bytes + replayedBytes;
    }

    void set(int newCheckpoints, int newSavepoints, long newBytes) {
        checkpoints = newCheckpoints;
        savepoints = newSavepoints;
        bytes = newBytes;
    }

    void setReplayedBytes(long newBytes) {
        replayedBytes = newBytes;
    }
}
