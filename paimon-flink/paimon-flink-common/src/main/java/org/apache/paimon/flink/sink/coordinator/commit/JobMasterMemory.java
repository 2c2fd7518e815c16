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

import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * What the coordinators of one operator have to remember as long as one JobMaster runs the job.
 *
 * <p>The default scheduler keeps a coordinator and resets it. The adaptive scheduler makes a new
 * one at each restart of the job, so the memory cannot be the coordinator's own. Both keep one
 * store of completed checkpoints for as long as their JobMaster lives, which is the key here, and
 * held weakly.
 */
public final class JobMasterMemory {

    private static final Map<Object, Map<OperatorID, JobMasterMemory>> MEMORIES =
            new WeakHashMap<>();

    private final AbortedCheckpoints aborted = new AbortedCheckpoints();
    private final TaggedSavepoints tagged = new TaggedSavepoints();
    private final Map<Long, UnconfirmedSavepoint> unconfirmed = new ConcurrentSkipListMap<>();
    private final CoordinatorMetrics metrics = new CoordinatorMetrics();
    private final ForeignCommits foreignCommits;

    /** The event loop of one session writes it, the closer of another may read it. */
    private volatile boolean restoreResolved;

    public JobMasterMemory(String table) {
        foreignCommits = new ForeignCommits(table);
    }

    /** The memory of the JobMaster that runs this coordinator, once it is about to start. */
    public static JobMasterMemory of(OperatorCoordinator.Context context, String table) {
        CheckpointCoordinator checkpoints = context.getCheckpointCoordinator();
        if (checkpoints == null) {
            return new JobMasterMemory(table);
        }
        synchronized (MEMORIES) {
            return MEMORIES.computeIfAbsent(
                            checkpoints.getCheckpointStore(), store -> new HashMap<>())
                    .computeIfAbsent(
                            context.getOperatorId(), operator -> new JobMasterMemory(table));
        }
    }

    public AbortedCheckpoints aborted() {
        return aborted;
    }

    public TaggedSavepoints tagged() {
        return tagged;
    }

    /** L2: see {@link UnconfirmedSavepoints}. */
    Map<Long, UnconfirmedSavepoint> unconfirmed() {
        return unconfirmed;
    }

    /** L2: whether no tag has to go when the job ends now. */
    public boolean nothingUnconfirmed() {
        return unconfirmed.isEmpty() && aborted.notCarriedOut().isEmpty();
    }

    /** L2: their tags stay when no session could look at the table; in ascending order. */
    public Set<Long> unconfirmedSavepoints() {
        return Collections.unmodifiableSet(unconfirmed.keySet());
    }

    /**
     * L2: whether a session has found out what the checkpoint from which this JobMaster began did
     * not know of its savepoints. Those that are tagged here are known here.
     */
    public boolean isRestoreResolved() {
        return restoreResolved;
    }

    public void restoreResolved() {
        restoreResolved = true;
    }

    public CoordinatorMetrics metrics() {
        return metrics;
    }

    public ForeignCommits foreignCommits() {
        return foreignCommits;
    }
}
