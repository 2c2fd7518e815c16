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

package org.apache.paimon.flink.sink.testutils;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Emits {@code (id BIGINT, lane INT)} as its {@link Scenario} says; its watermark counts records.
 *
 * <p>A lane is a split. The enumerator assigns each lane once, to the reader with the index {@code
 * lane % parallelism}; from then on the lane is part of that reader's state, which Flink
 * redistributes when the parallelism changes. A reader ends when all its lanes have.
 */
public final class LaneSource
        implements Source<RowData, LaneSource.Lane, List<LaneSource.Lane>>,
                ResultTypeQueryable<RowData> {

    private static final long serialVersionUID = 2L;

    private static final int MOST_RECORDS_AT_ONCE = 100;

    /** What a reader whose lanes flow waits for between two polls. */
    private static final Executor REST =
            CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);

    private final String scenarioId;
    private final Boundedness boundedness;

    public LaneSource(String scenarioId, Boundedness boundedness) {
        this.scenarioId = scenarioId;
        this.boundedness = boundedness;
    }

    @Override
    public Boundedness getBoundedness() {
        return boundedness;
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        return TypeInformation.of(RowData.class);
    }

    @Override
    public SplitEnumerator<Lane, List<Lane>> createEnumerator(
            SplitEnumeratorContext<Lane> context) {
        List<Lane> lanes = new ArrayList<>();
        for (int lane = 0; lane < Scenario.of(scenarioId).lanes(); lane++) {
            lanes.add(new Lane(lane, 0));
        }
        return new Enumerator(context, lanes);
    }

    @Override
    public SplitEnumerator<Lane, List<Lane>> restoreEnumerator(
            SplitEnumeratorContext<Lane> context, List<Lane> unassigned) {
        return new Enumerator(context, unassigned);
    }

    @Override
    public SourceReader<RowData, Lane> createReader(SourceReaderContext context) {
        return new Reader(Scenario.of(scenarioId), context.getIndexOfSubtask());
    }

    @Override
    public SimpleVersionedSerializer<Lane> getSplitSerializer() {
        return new LaneSerializer();
    }

    @Override
    public SimpleVersionedSerializer<List<Lane>> getEnumeratorCheckpointSerializer() {
        return new LanesSerializer();
    }

    // ------------------------------------------------------------------------

    /** A lane and the number of its next record. */
    public static final class Lane implements SourceSplit {

        private final int number;
        private final long position;

        private Lane(int number, long position) {
            this.number = number;
            this.position = position;
        }

        @Override
        public String splitId() {
            return "lane-" + number;
        }
    }

    private static final class Enumerator implements SplitEnumerator<Lane, List<Lane>> {

        private final SplitEnumeratorContext<Lane> context;

        /** Of no reader, neither of a running one nor of one in a checkpoint. */
        private final List<Lane> unassigned;

        private Enumerator(SplitEnumeratorContext<Lane> context, List<Lane> unassigned) {
            this.context = context;
            this.unassigned = new ArrayList<>(unassigned);
        }

        @Override
        public void start() {}

        @Override
        public void addReader(int subtask) {
            List<Lane> own = new ArrayList<>();
            for (Lane lane : unassigned) {
                if (lane.number % context.currentParallelism() == subtask) {
                    own.add(lane);
                }
            }
            own.forEach(lane -> context.assignSplit(lane, subtask));
            unassigned.removeAll(own);
            context.signalNoMoreSplits(subtask);
        }

        /** The reader failed before a checkpoint held them; it registers again after this. */
        @Override
        public void addSplitsBack(List<Lane> lanes, int subtask) {
            unassigned.addAll(lanes);
        }

        @Override
        public void handleSplitRequest(int subtask, String hostname) {}

        @Override
        public List<Lane> snapshotState(long checkpointId) {
            return new ArrayList<>(unassigned);
        }

        @Override
        public void close() {}
    }

    private static final class Reader implements SourceReader<RowData, Lane> {

        private final Scenario scenario;
        private final int subtask;

        /** Next record by lane. */
        private final Map<Integer, Long> positions = new TreeMap<>();

        private boolean allLanesAreHere;

        /** As of before the last look at the scenario. */
        private CompletableFuture<Void> orders = CompletableFuture.completedFuture(null);

        private CompletableFuture<Void> lanesChanged = new CompletableFuture<>();

        /** Completes when flowing lanes may go on; null while they do not flow. */
        private CompletableFuture<Void> rest;

        private Reader(Scenario scenario, int subtask) {
            this.scenario = scenario;
            this.subtask = subtask;
        }

        @Override
        public void start() {}

        @Override
        public void addSplits(List<Lane> lanes) {
            for (Lane lane : lanes) {
                positions.put(lane.number, lane.position);
                scenario.reached(lane.number, lane.position);
            }
            lanesChanged.complete(null);
        }

        @Override
        public void notifyNoMoreSplits() {
            allLanesAreHere = true;
            lanesChanged.complete(null);
        }

        @Override
        public InputStatus pollNext(ReaderOutput<RowData> output) {
            scenario.failIfTold(subtask);
            orders = scenario.orders();
            lanesChanged = new CompletableFuture<>();
            rest = null;
            boolean emitted = false;
            for (Map.Entry<Integer, Long> lane : positions.entrySet()) {
                emitted |= emit(output, lane);
            }
            if (emitted) {
                positions.values().stream()
                        .min(Long::compare)
                        .ifPresent(least -> output.emitWatermark(new Watermark(least)));
                if (!scenario.flowsFreely()) {
                    return InputStatus.MORE_AVAILABLE;
                }
                rest = CompletableFuture.runAsync(() -> {}, REST);
                return InputStatus.NOTHING_AVAILABLE;
            }
            return allLanesAreHere && ended()
                    ? InputStatus.END_OF_INPUT
                    : InputStatus.NOTHING_AVAILABLE;
        }

        private boolean emit(ReaderOutput<RowData> output, Map.Entry<Integer, Long> lane) {
            long from = lane.getValue();
            long to = Math.min(scenario.target(lane.getKey(), from), from + MOST_RECORDS_AT_ONCE);
            for (long n = from; n < to; n++) {
                output.collect(GenericRowData.of(scenario.record(lane.getKey(), n), lane.getKey()));
                lane.setValue(n + 1);
                scenario.reached(lane.getKey(), n + 1);
            }
            return from < to;
        }

        private boolean ended() {
            return positions.entrySet().stream()
                    .allMatch(lane -> scenario.ended(lane.getKey(), lane.getValue()));
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return rest != null
                    ? rest
                    : CompletableFuture.anyOf(orders, lanesChanged).thenApply(change -> null);
        }

        @Override
        public List<Lane> snapshotState(long checkpointId) {
            List<Lane> lanes = new ArrayList<>();
            positions.forEach(
                    (lane, position) -> {
                        lanes.add(new Lane(lane, position));
                        scenario.cut(checkpointId, lane, position);
                    });
            return lanes;
        }

        @Override
        public void close() {}
    }

    private static final class LaneSerializer implements SimpleVersionedSerializer<Lane> {

        static final int BYTES = Integer.BYTES + Long.BYTES;

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Lane lane) {
            return ByteBuffer.allocate(BYTES).putInt(lane.number).putLong(lane.position).array();
        }

        @Override
        public Lane deserialize(int version, byte[] serialized) throws IOException {
            ByteBuffer bytes = ByteBuffer.wrap(serialized);
            return new Lane(bytes.getInt(), bytes.getLong());
        }
    }

    private static final class LanesSerializer implements SimpleVersionedSerializer<List<Lane>> {

        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(List<Lane> lanes) {
            ByteBuffer bytes = ByteBuffer.allocate(lanes.size() * LaneSerializer.BYTES);
            lanes.forEach(lane -> bytes.putInt(lane.number).putLong(lane.position));
            return bytes.array();
        }

        @Override
        public List<Lane> deserialize(int version, byte[] serialized) {
            ByteBuffer bytes = ByteBuffer.wrap(serialized);
            List<Lane> lanes = new ArrayList<>();
            while (bytes.hasRemaining()) {
                lanes.add(new Lane(bytes.getInt(), bytes.getLong()));
            }
            return lanes;
        }
    }
}
