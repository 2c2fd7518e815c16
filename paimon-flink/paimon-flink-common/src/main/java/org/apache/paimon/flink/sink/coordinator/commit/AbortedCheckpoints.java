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

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A1, A2: the checkpoints and savepoints that were aborted within one JobMaster.
 *
 * <p>A checkpoint taken before an abort still carries the savepoint's flag and would replay it, so
 * aborts are remembered for later attempts. An abort that reached an attempt which had failed
 * already has to be carried out by the next one. A JobManager that dies forgets both.
 *
 * <p>Threads: any.
 */
public final class AbortedCheckpoints {

    /** More than this forget the oldest. */
    private static final int MAX_REMEMBERED = 1_024;

    private final Set<Long> aborted = new LinkedHashSet<>();

    /** Those whose tag may still be there. */
    private final Set<Long> notCarriedOut = new LinkedHashSet<>();

    public synchronized void add(long checkpointId) {
        aborted.add(checkpointId);
        notCarriedOut.add(checkpointId);
        if (aborted.size() > MAX_REMEMBERED) {
            Long oldest = aborted.iterator().next();
            aborted.remove(oldest);
            notCarriedOut.remove(oldest);
        }
    }

    public synchronized boolean contains(long checkpointId) {
        return aborted.contains(checkpointId);
    }

    /** Aborts whose tags were not deleted yet, oldest first. */
    public synchronized List<Long> notCarriedOut() {
        return new ArrayList<>(notCarriedOut);
    }

    public synchronized void carriedOut(long checkpointId) {
        notCarriedOut.remove(checkpointId);
    }
}
