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
 * L2: see {@link #giveUpSavepoints}.
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

    private CommitterState state;

    /** Null until it is opened. */
    @Nullable private SnapshotCommitter committer;

    private volatile boolean jobEnds;
    private boolean savepointsGivenUp;

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

    /**
     * Waits for the lock, and looks at the table before anything is committed to it.
     *
     * @param restoredCheckpointId the checkpoint that the job is restored from, -1 for none
     * @param restoredState what the coordinator kept in it; null for nothing
     */
    void open(
            long restoredCheckpointId, @Nullable byte[] restoredState, MetricGroup committerMetrics)
            throws Exception {
        boolean restored = restoredState != null;
        state =
                restored
                        ? CommitterState.read(restoredCheckpointId, restoredState)
                        : CommitterState.fresh(initialCommitUser);
        CommitterLock.acquire(opener.table(), state.commitUser(), loop, closing);
        committer =
                opener.open(
                        Committer.createContext(
                                state.commitUser(),
                                committerMetrics,
                                true,
                                restored,
                                state.store(),
                                1,
                                0),
                        run,
                        memory,
                        restoredCheckpointId,
                        loop::cancelled);
        committer.start(restoredCheckpointId);
        carryOutAborts();
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

    /** L2: the job ends, and with it the savepoints that have not completed; done once. */
    void giveUpSavepoints() {
        if (savepointsGivenUp) {
            return;
        }
        savepointsGivenUp = true;
        if (committer != null) {
            committer.giveUpSavepoints(memory.aborted().notCarriedOut());
        } else if (!memory.unconfirmedSavepoints().isEmpty()) {
            LOG.warn(
                    "The savepoints {} had not completed when the job ended, and the coordinator"
                            + " could not look at {}. Their tags stay until they are deleted, as by"
                            + " sys.expire_savepoint_tags.",
                    memory.unconfirmedSavepoints(),
                    opener.table());
        }
    }

    /** The job ends. Called by the main thread. */
    void jobEnds() {
        jobEnds = true;
    }

    /** The loop's thread is dead, and may have been interrupted before all was done. */
    void close() throws Exception {
        if (jobEnds) {
            giveUpSavepoints();
        }
        CommitterLock.release(loop);
        if (committer != null) {
            committer.close();
        }
    }
}
