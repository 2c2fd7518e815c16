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

import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.CommitterOpener;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.SnapshotCommitter;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.util.function.BooleanSupplier;

/**
 * The {@link SnapshotCommitter} of a session, with its lock and its state in the checkpoint.
 *
 * <p><b>Threads.</b> The coordinator's event loop; {@link #close} when its thread is dead.
 *
 * <p><b>Promises.</b> A7: it is opened under the {@link CommitterLock} and gives that back at its
 * end. A1: aborts that an earlier session could not carry out are carried out when it is opened.
 * L2: when the job ends, savepoints that have not completed lose their tag, see {@link #close}.
 *
 * <p><b>Recovery.</b> The coordinator's checkpoint holds the commit user and the committer's states
 * (S3), see {@link CommitterState}.
 */
final class SessionCommitter {

    private static final Logger LOG = LoggerFactory.getLogger(SessionCommitter.class);

    private final CommitterOpener opener;
    private final String initialCommitUser;
    private final CommitRun run;
    private final JobMasterMemory memory;
    private final EventLoop loop;
    private final BooleanSupplier closing;

    /** The checkpoint that the job is restored from; -1 for none. */
    private long restoredCheckpointId = OperatorCoordinator.NO_CHECKPOINT;

    /** What the coordinator kept in it; null for nothing. */
    @Nullable private byte[] restoredState;

    private CommitterState state;

    /** Null until it is opened. */
    @Nullable private SnapshotCommitter committer;

    /**
     * @param initialCommitUser of a job that is not restored
     * @param closing whether the session is over
     */
    SessionCommitter(
            CommitterOpener opener,
            String initialCommitUser,
            CommitRun run,
            JobMasterMemory memory,
            EventLoop loop,
            BooleanSupplier closing) {
        this.opener = opener;
        this.initialCommitUser = initialCommitUser;
        this.run = run;
        this.memory = memory;
        this.loop = loop;
        this.closing = closing;
    }

    /** Called at most once, before {@link #open}. */
    void restoreFrom(long checkpointId, @Nullable byte[] checkpointData) {
        restoredCheckpointId = checkpointId;
        restoredState = checkpointData;
    }

    /** Whether there is anything to restore; not known any more once this is opened. */
    boolean hasRestoredState() {
        return restoredState != null;
    }

    long restoredCheckpointId() {
        return restoredCheckpointId;
    }

    /** Waits for the lock, and looks at the table before anything is committed to it. */
    void open(MetricGroup committerMetrics) throws Exception {
        acquireLock();
        openTable(committerMetrics);
        restoredState = null;
        committer.start(restoredCheckpointId);
        memory.restoreResolved();
        carryOutAborts();
    }

    private void acquireLock() throws Exception {
        state =
                hasRestoredState()
                        ? CommitterState.read(restoredCheckpointId, restoredState)
                        : CommitterState.fresh(initialCommitUser);
        CommitterLock.acquire(opener.table(), state.commitUser(), loop, closing);
    }

    private void openTable(MetricGroup committerMetrics) throws Exception {
        committer =
                opener.open(
                        Committer.createContext(
                                state.commitUser(),
                                committerMetrics,
                                true,
                                hasRestoredState(),
                                state.store(),
                                1,
                                0),
                        run,
                        memory,
                        restoredCheckpointId,
                        loop::cancelled);
    }

    /** A1: aborts that reached an earlier session when it had failed already. */
    private void carryOutAborts() {
        for (Long aborted : memory.aborted().notCarriedOut()) {
            committer.abort(aborted);
            memory.aborted().carriedOut(aborted);
        }
    }

    String commitUser() {
        return state.commitUser();
    }

    /** The committer, once it is opened. */
    SnapshotCommitter opened() {
        return committer;
    }

    /** What the coordinator's checkpoint has to hold. */
    byte[] snapshotState(long checkpointId, CommitLedger ledger) throws Exception {
        if (ledger.recoveredWithoutReplays()) {
            committer.snapshotRestoredState(checkpointId);
        } else {
            committer.snapshotState(checkpointId, ledger.lastAligned());
        }
        return state.serialize();
    }

    /**
     * The loop's thread is dead, and may have been interrupted before all was done.
     *
     * @param jobEnds L2: and with it the savepoints that have not completed
     */
    void close(boolean jobEnds) throws Exception {
        try {
            if (jobEnds) {
                giveUpSavepoints();
            }
        } finally {
            CommitterLock.release(loop);
            if (committer != null) {
                committer.close();
            }
        }
    }

    private void giveUpSavepoints() {
        try {
            if (committer == null) {
                // This session was interrupted before it had opened the table, or could not open
                // it. An earlier one that still has to end may tag a savepoint until then.
                acquireLock();
                if (memory.nothingUnconfirmed() && !restoreUnresolved()) {
                    return;
                }
                openTable(new UnregisteredMetricsGroup());
            }
            if (restoreUnresolved()) {
                committer.start(restoredCheckpointId);
            }
        } catch (Exception e) {
            if (restoreUnresolved()) {
                LOG.warn(
                        "The job ended before the coordinator had looked which savepoints before"
                                + " checkpoint {} have not completed, and it could not look at {}."
                                + " Their tags stay until they are deleted, as by"
                                + " sys.expire_savepoint_tags.",
                        restoredCheckpointId,
                        opener.table(),
                        e);
            }
            if (committer == null && !memory.nothingUnconfirmed()) {
                LOG.warn(
                        "The savepoints {} had not completed when the job ended, and the"
                                + " coordinator could not look at {}. Their tags stay until they are"
                                + " deleted, as by sys.expire_savepoint_tags.",
                        memory.unconfirmedSavepoints(),
                        opener.table(),
                        e);
            }
        }
        if (committer != null) {
            committer.giveUpSavepoints(memory.aborted().notCarriedOut());
        }
    }

    /** L2: whether tags may have to go of which only the restored checkpoint knows. */
    private boolean restoreUnresolved() {
        return restoredCheckpointId != OperatorCoordinator.NO_CHECKPOINT
                && !memory.isRestoreResolved();
    }
}
