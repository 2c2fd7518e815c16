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
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.CommitterOpener;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointOutcomes;
import org.apache.paimon.flink.sink.coordinator.commit.SavepointTaggingCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.SnapshotCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.TaggedSavepoints;
import org.apache.paimon.flink.sink.coordinator.commit.UnconfirmedSavepoints;
import org.apache.paimon.flink.sink.coordinator.report.WriterEventSender;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Lets the simulation, which has a package of its own, make the real classes of this one. */
public final class SimulationAccess {

    private SimulationAccess() {}

    /** Opens the committer of one attempt. */
    public interface Opener {

        SavepointTaggingCommitter open(
                Committer.Context context,
                CommitRun run,
                long restoredCheckpointId,
                TaggedSavepoints tagged,
                SavepointTaggingCommitter.BeforeCommit beforeCommit)
                throws Exception;
    }

    /** What the coordinators of one operator remember within one JobMaster. */
    public static final class Memory {

        private final JobMasterMemory memory;

        public Memory(String table) {
            memory = new JobMasterMemory(table);
        }
    }

    /** A real coordinator whose threads are the simulation's. */
    public static CommittingWriteOperatorCoordinator coordinator(
            OperatorCoordinator.Context context,
            String table,
            Memory jobMaster,
            String jobId,
            Opener opener,
            SavepointOutcomes savepoints,
            CheckpointCommittablesSerializer serializer,
            String initialCommitUser,
            Function<EventLoop.FailureHandler, EventLoop> loops,
            Executor closers) {
        CommitterOpener committerOpener =
                new CommitterOpener() {
                    @Override
                    public String table() {
                        return table;
                    }

                    @Override
                    public SnapshotCommitter open(
                            Committer.Context committerContext,
                            CommitRun run,
                            JobMasterMemory memory,
                            long restoredCheckpointId,
                            BooleanSupplier cancelled)
                            throws Exception {
                        SavepointTaggingCommitter tagging =
                                opener.open(
                                        committerContext,
                                        run,
                                        restoredCheckpointId,
                                        memory.tagged(),
                                        SnapshotCommitter.unlessCancelled(
                                                memory.foreignCommits(), cancelled));
                        return new SnapshotCommitter(
                                tagging,
                                run,
                                memory.foreignCommits(),
                                memory.metrics().commits(),
                                new UnconfirmedSavepoints(
                                        committerContext.stateStore(),
                                        savepoints,
                                        memory,
                                        tagging::withdraw),
                                serializer,
                                false,
                                cancelled);
                    }
                };
        CommitRun run = CommitRun.begin(jobId);
        return new CommittingWriteOperatorCoordinator(
                memory ->
                        new CommitSession(
                                context,
                                committerOpener,
                                initialCommitUser,
                                Duration.ofSeconds(1),
                                loops,
                                run,
                                memory),
                () -> jobMaster.memory,
                closers);
    }

    /** A run is over: nobody waits for its loops any more. */
    public static void forget(EventLoop loop) {
        CommitterLock.release(loop);
    }

    /** A sender that cuts reports into parts of the given size. */
    public static WriterEventSender sender(OperatorEventGateway gateway, int maxPartBytes) {
        return new WriterEventSender(gateway, () -> {}, maxPartBytes);
    }
}
