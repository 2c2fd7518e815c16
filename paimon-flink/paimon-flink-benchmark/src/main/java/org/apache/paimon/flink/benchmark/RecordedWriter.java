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

import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventDispatcher;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.InstantiationUtil;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A real writer operator in a test harness, whose events to the coordinator are recorded as the
 * bytes that would travel. One recording stands for any number of writers: each gets its own copy,
 * deserialized as the transport would do it.
 */
final class RecordedWriter implements AutoCloseable {

    private final OneInputStreamOperatorTestHarness<InternalRow, Committable> harness;
    private final List<byte[]> events = new ArrayList<>();

    private RecordedWriter(OneInputStreamOperatorFactory<InternalRow, Committable> writers)
            throws Exception {
        this.harness = new OneInputStreamOperatorTestHarness<>(new Recording(writers));
    }

    /** A writer of a fresh job. */
    static RecordedWriter start(OneInputStreamOperatorFactory<InternalRow, Committable> writers)
            throws Exception {
        RecordedWriter writer = new RecordedWriter(writers);
        writer.harness.open();
        return writer;
    }

    /**
     * A writer that is restored from the state of a checkpoint; to the harness, that is always 0.
     */
    static RecordedWriter restore(
            OneInputStreamOperatorFactory<InternalRow, Committable> writers,
            OperatorSubtaskState state)
            throws Exception {
        RecordedWriter writer = new RecordedWriter(writers);
        writer.harness.initializeState(state);
        writer.harness.open();
        return writer;
    }

    /** Takes a checkpoint. */
    OperatorSubtaskState checkpoint(long checkpointId) throws Exception {
        harness.prepareSnapshotPreBarrier(checkpointId);
        OperatorSubtaskState state = harness.snapshot(checkpointId, checkpointId);
        harness.getOutput().clear();
        return state;
    }

    /** Takes a savepoint. */
    void savepoint(long checkpointId) throws Exception {
        harness.prepareSnapshotPreBarrier(checkpointId);
        harness.snapshotWithLocalState(
                checkpointId, checkpointId, SavepointType.savepoint(SavepointFormatType.CANONICAL));
        harness.getOutput().clear();
    }

    void complete(long checkpointId) throws Exception {
        harness.notifyOfCompletedCheckpoint(checkpointId);
    }

    /** What it has sent since the last call. */
    List<byte[]> sent() {
        List<byte[]> sent = new ArrayList<>(events);
        events.clear();
        return sent;
    }

    /** The event as it arrives. */
    static OperatorEvent arriving(byte[] event) {
        try {
            return InstantiationUtil.deserializeObject(
                    event, RecordedWriter.class.getClassLoader());
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("A recorded event cannot be read.", e);
        }
    }

    @Override
    public void close() throws Exception {
        harness.close();
    }

    /** Gives the writer a way to its coordinator that leads here. */
    private final class Recording extends AbstractStreamOperatorFactory<Committable>
            implements OneInputStreamOperatorFactory<InternalRow, Committable> {

        private static final long serialVersionUID = 1L;

        private final OneInputStreamOperatorFactory<InternalRow, Committable> writers;

        private Recording(OneInputStreamOperatorFactory<InternalRow, Committable> writers) {
            this.writers = writers;
        }

        @Override
        public <T extends StreamOperator<Committable>> T createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            return writers.createStreamOperator(
                    new StreamOperatorParameters<>(
                            parameters.getContainingTask(),
                            parameters.getStreamConfig(),
                            parameters.getOutput(),
                            parameters::getProcessingTimeService,
                            new Dispatcher(),
                            parameters.getMailboxExecutor()));
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return writers.getStreamOperatorClass(classLoader);
        }
    }

    private final class Dispatcher implements OperatorEventDispatcher {

        @Override
        public void registerEventHandler(OperatorID operator, OperatorEventHandler handler) {}

        @Override
        public OperatorEventGateway getOperatorEventGateway(OperatorID operatorId) {
            return event -> {
                try {
                    events.add(InstantiationUtil.serializeObject(event));
                } catch (IOException e) {
                    throw new IllegalStateException("An event cannot be serialized.", e);
                }
            };
        }
    }
}
