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

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.StoreCommitter;
import org.apache.paimon.flink.sink.coordinator.commit.CommitRun;
import org.apache.paimon.flink.sink.coordinator.commit.JobMasterMemory;
import org.apache.paimon.flink.sink.coordinator.commit.TableCommitterOpener;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;
import org.apache.paimon.flink.sink.coordinator.report.ReportSideState;
import org.apache.paimon.flink.sink.coordinator.report.Reports;
import org.apache.paimon.flink.sink.coordinator.report.SideStates;
import org.apache.paimon.flink.sink.coordinator.report.WriterEvent;
import org.apache.paimon.flink.sink.coordinator.report.WriterEventSender;
import org.apache.paimon.flink.sink.testutils.HookedCommitter;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.MockOperatorCoordinatorContext;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.InstantiationUtil;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A real table, a coordinator over it, and writers that speak to it by real events. */
final class CoordinatorFixture {

    static final String USER = "job-with-uuid-12345678";
    static final int PARALLELISM = 2;

    final HookedCommitter.Hooks hooks = new HookedCommitter.Hooks();
    final AppendTableFixture table;
    final MockOperatorCoordinatorContext context;

    /** What the job sets on top of the table's options. */
    final Map<String, String> dynamicOptions = new HashMap<>();

    CoordinatorFixture(File directory) throws Exception {
        this(directory, true);
    }

    CoordinatorFixture(File directory, boolean autoTag) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("sink.savepoint.auto-tag", String.valueOf(autoTag));
        table = AppendTableFixture.create(directory, options);
        context = newContext();
    }

    /** The memory of a new JobMaster. */
    JobMasterMemory memory() throws Exception {
        return new JobMasterMemory(table.table().location().toString());
    }

    static MockOperatorCoordinatorContext newContext() {
        return new MockOperatorCoordinatorContext(
                new OperatorID(), PARALLELISM, CoordinatorFixture.class.getClassLoader());
    }

    CommitSession coordinator(
            OperatorCoordinator.Context coordinatorContext,
            Duration closeDeadline,
            Function<EventLoop.FailureHandler, EventLoop> loopFactory,
            JobMasterMemory memory)
            throws Exception {
        return coordinator(
                coordinatorContext,
                closeDeadline,
                loopFactory,
                CommitRun.begin(coordinatorContext.getJobID().toHexString()),
                memory);
    }

    CommitSession coordinator(
            OperatorCoordinator.Context coordinatorContext,
            Duration closeDeadline,
            Function<EventLoop.FailureHandler, EventLoop> loopFactory,
            CommitRun run,
            JobMasterMemory memory)
            throws Exception {
        FileStoreTable fileStoreTable = table.table().copy(dynamicOptions);
        return new CommitSession(
                coordinatorContext,
                new TableCommitterOpener(
                        fileStoreTable,
                        committerContext ->
                                new HookedCommitter(
                                        new StoreCommitter(
                                                fileStoreTable,
                                                fileStoreTable
                                                        .newCommit(committerContext.commitUser())
                                                        .ignoreEmptyCommit(false),
                                                committerContext),
                                        hooks)),
                USER,
                closeDeadline,
                loopFactory,
                run,
                memory);
    }

    /** A report with rows that are really written. */
    EncodedReport report(long checkpointId, int... rows) throws Exception {
        return written(checkpointId, rows).encoded();
    }

    EncodedReport savepoint(long checkpointId, int... rows) throws Exception {
        return written(checkpointId, rows).savepoint().encoded();
    }

    private Reports written(long checkpointId, int... rows) throws Exception {
        Reports report = Reports.of(checkpointId);
        return rows.length == 0 ? report : report.messages(table.write(USER, checkpointId, rows));
    }

    /** Where a writer's events arrive: a coordinator, or one of its sessions. */
    interface EventReceiver {

        void handleEventFromOperator(int subtask, int attempt, OperatorEvent event)
                throws Exception;
    }

    Writer writer(
            CommitSession session,
            int subtask,
            int attempt,
            long restoredCheckpointId,
            EncodedReport... replayed) {
        return new Writer(
                session::handleEventFromOperator, subtask, attempt, restoredCheckpointId, replayed);
    }

    /** A writer attempt that starts by replaying. */
    Writer writer(
            OperatorCoordinator coordinator,
            int subtask,
            int attempt,
            long restoredCheckpointId,
            EncodedReport... replayed) {
        return new Writer(
                coordinator::handleEventFromOperator,
                subtask,
                attempt,
                restoredCheckpointId,
                replayed);
    }

    /** The same, whose state has side state for each report (S6). */
    Writer writerWithSideState(
            OperatorCoordinator coordinator,
            int subtask,
            int attempt,
            long restoredCheckpointId,
            EncodedReport... replayed)
            throws Exception {
        return new Writer(
                coordinator::handleEventFromOperator,
                subtask,
                attempt,
                restoredCheckpointId,
                SideStates.of(restoredCheckpointId, replayed),
                replayed);
    }

    List<Long> identifiers() throws Exception {
        return table.snapshots().stream()
                .map(Snapshot::commitIdentifier)
                .collect(Collectors.toList());
    }

    /** One attempt of one writer subtask. */
    static final class Writer {

        private final WriterEventSender sender;
        private final List<WriterEvent> lost = new ArrayList<>();
        private boolean losing;

        private Writer(
                EventReceiver coordinator,
                int subtask,
                int attempt,
                long restoredCheckpointId,
                EncodedReport... replayed) {
            this(
                    coordinator,
                    subtask,
                    attempt,
                    restoredCheckpointId,
                    Collections.emptyList(),
                    replayed);
        }

        private Writer(
                EventReceiver coordinator,
                int subtask,
                int attempt,
                long restoredCheckpointId,
                List<ReportSideState> sideStates,
                EncodedReport... replayed) {
            sender =
                    new WriterEventSender(
                            event -> {
                                if (losing) {
                                    lost.add((WriterEvent) event);
                                } else {
                                    deliver(coordinator, subtask, attempt, event);
                                }
                            },
                            () -> {});
            try {
                sender.replay(restoredCheckpointId, Arrays.asList(replayed), sideStates);
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void deliver(
                EventReceiver coordinator, int subtask, int attempt, OperatorEvent event) {
            try {
                coordinator.handleEventFromOperator(
                        subtask, attempt, InstantiationUtil.clone(event));
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        Writer report(EncodedReport report) {
            sender.report(report);
            return this;
        }

        /** The transport drops the event. */
        Writer reportInVain(EncodedReport report) {
            losing = true;
            sender.report(report);
            losing = false;
            return this;
        }

        Writer reportEndOfInput(EncodedReport report) {
            sender.reportEndOfInput(report);
            return this;
        }
    }
}
