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

package org.apache.paimon.flink.benchmark;

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.StoreSinkWriteState;
import org.apache.paimon.memory.MemoryPoolFactory;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;

import javax.annotation.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A coordinator and any number of writers with as many new files each per checkpoint. One writer is
 * real and recorded; the others send copies of what it sends.
 */
final class WriterFleet implements AutoCloseable {

    private static final long HAND_OVER_TIMEOUT_MILLIS = 600_000;

    private final int writers;
    private final int filesPerWriter;
    @Nullable private final HandOver handOver;
    private final String commitUser = "benchmark-" + UUID.randomUUID();
    private final MeasuredTable measuredTable;
    private final OneInputStreamOperatorFactory<InternalRow, Committable> factory;

    private RecordedWriter writer;
    private DrivenCoordinator coordinator;

    /** The checkpoint under way; the first one is 0, as a test harness restores no other. */
    private long checkpointId = -1;

    private OperatorSubtaskState writerState;
    private byte[] coordinatorState;

    /**
     * @param handOver where batches go instead of into the table; null to commit them really
     */
    WriterFleet(
            int writers,
            int filesPerWriter,
            MeasuredTable measuredTable,
            @Nullable HandOver handOver)
            throws Exception {
        this.writers = writers;
        this.filesPerWriter = filesPerWriter;
        this.handOver = handOver;
        this.measuredTable = measuredTable;
        Map<String, String> options = new HashMap<>();
        options.put("sink.coordinator-commit.enabled", "true");
        FileStoreTable table = measuredTable.table(options);
        this.factory =
                (handOver == null
                                ? MeasuredSink.committing(table)
                                : MeasuredSink.handingOverTo(table, handOver))
                        .writers(this::writes, commitUser);
    }

    private GivenFilesWrite writes(
            FileStoreTable table,
            String user,
            StoreSinkWriteState state,
            IOManager ioManager,
            MemoryPoolFactory memory,
            MetricGroup metrics) {
        return new GivenFilesWrite(id -> measuredTable.files(filesPerWriter, id));
    }

    /** Starts a fresh job. */
    void start() throws Exception {
        coordinator = newCoordinator();
        coordinator.start();
        writer = RecordedWriter.start(factory);
        introduce();
    }

    private DrivenCoordinator newCoordinator() throws Exception {
        return new DrivenCoordinator(MeasuredSink.coordinators(factory, new OperatorID()), writers);
    }

    private void introduce() throws Exception {
        List<byte[]> events = writer.sent();
        ready();
        deliverOneByOne(events);
        barrier();
    }

    /** Triggers the next checkpoint, in which each writer sends what is returned. */
    List<byte[]> nextCheckpoint() throws Exception {
        coordinatorState = coordinator.checkpoint(++checkpointId);
        writerState = writer.checkpoint(checkpointId);
        return writer.sent();
    }

    /** The events as they arrive, all writers' in the order of the writers. */
    OperatorEvent[][] arriving(List<byte[]> events) {
        OperatorEvent[][] arriving = new OperatorEvent[writers][events.size()];
        for (int subtask = 0; subtask < writers; subtask++) {
            for (int i = 0; i < events.size(); i++) {
                arriving[subtask][i] = RecordedWriter.arriving(events.get(i));
            }
        }
        return arriving;
    }

    void deliver(OperatorEvent[][] arriving) throws Exception {
        for (int subtask = 0; subtask < writers; subtask++) {
            for (int i = 0; i < arriving[subtask].length; i++) {
                coordinator.event(subtask, arriving[subtask][i]);
                arriving[subtask][i] = null;
            }
        }
    }

    /** Makes the events one by one, so that only the coordinator holds them. */
    void deliverOneByOne(List<byte[]> events) throws Exception {
        for (int subtask = 0; subtask < writers; subtask++) {
            for (byte[] event : events) {
                coordinator.event(subtask, RecordedWriter.arriving(event));
            }
        }
    }

    /** Waits until the coordinator has worked off everything so far. */
    byte[] barrier() throws Exception {
        return coordinator.checkpoint(checkpointId + 1_000_000);
    }

    /** See {@link DrivenCoordinator#hold}. */
    Runnable hold() throws Exception {
        return coordinator.hold(checkpointId + 1_000_000);
    }

    /** The checkpoint under way completes: all its files are handed to the committer. */
    void complete() throws Exception {
        coordinator.complete(checkpointId);
        awaitHandOver();
    }

    void awaitHandOver() throws Exception {
        if (handOver == null) {
            barrier();
        } else if (filesPerWriter > 0) {
            handOver.await((long) writers * filesPerWriter, HAND_OVER_TIMEOUT_MILLIS);
        }
    }

    /** The writers learn of the completion, and forget. */
    void forget() throws Exception {
        writer.complete(checkpointId);
    }

    /**
     * The job fails in this very moment, and is restored from its first checkpoint.
     *
     * @return what each restored writer replays
     */
    List<byte[]> failAndRestore() throws Exception {
        writer.close();
        coordinator.close();
        coordinator = newCoordinator();
        coordinator.restore(0, coordinatorState);
        coordinator.start();
        ready();
        writer = RecordedWriter.restore(factory, writerState);
        return writer.sent();
    }

    private void ready() {
        for (int subtask = 0; subtask < writers; subtask++) {
            coordinator.ready(subtask);
        }
    }

    DrivenCoordinator coordinator() {
        return coordinator;
    }

    int writers() {
        return writers;
    }

    List<Committable> sampleFiles() {
        return new ArrayList<>(measuredTable.files(filesPerWriter, 1));
    }

    @Override
    public void close() throws Exception {
        writer.close();
        coordinator.close();
    }
}
