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

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The same records as {@link LaneSource}, from a source of the interface that came before FLIP-27.
 * Flink never chains it with the end of the sink.
 */
@SuppressWarnings("deprecation")
public final class LegacyLaneSource extends RichParallelSourceFunction<RowData>
        implements CheckpointedFunction {

    private static final long serialVersionUID = 1L;

    private final String scenarioId;

    private transient Scenario scenario;
    private transient int subtask;

    /** Next record by lane. */
    private transient Map<Integer, Long> positions;

    private transient ListState<long[]> state;
    private volatile boolean cancelled;

    public LegacyLaneSource(String scenarioId) {
        this.scenarioId = scenarioId;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        scenario = Scenario.of(scenarioId);
        subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        positions = new TreeMap<>();
        state =
                context.getOperatorStateStore()
                        .getListState(
                                new ListStateDescriptor<>(
                                        "lanes", LongPrimitiveArraySerializer.INSTANCE));
        if (context.isRestored()) {
            for (long[] lane : state.get()) {
                positions.put((int) lane[0], lane[1]);
            }
        } else {
            int parallelism = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
            for (int lane = subtask; lane < scenario.lanes(); lane += parallelism) {
                positions.put(lane, 0L);
            }
        }
        positions.forEach(scenario::reached);
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        List<long[]> lanes = new ArrayList<>();
        positions.forEach((lane, position) -> lanes.add(new long[] {lane, position}));
        state.update(lanes);
        positions.forEach(
                (lane, position) -> scenario.cut(context.getCheckpointId(), lane, position));
    }

    @Override
    public void run(SourceContext<RowData> context) throws Exception {
        while (!cancelled && !ended()) {
            scenario.failIfTold(subtask);
            boolean emitted = false;
            for (Map.Entry<Integer, Long> lane : positions.entrySet()) {
                synchronized (context.getCheckpointLock()) {
                    emitted |= emit(context, lane);
                }
            }
            if (emitted) {
                positions.values().stream()
                        .min(Long::compare)
                        .ifPresent(least -> context.emitWatermark(new Watermark(least)));
            } else {
                scenario.awaitOrders();
            }
        }
    }

    private boolean ended() {
        for (Map.Entry<Integer, Long> lane : positions.entrySet()) {
            if (!scenario.ended(lane.getKey(), lane.getValue())) {
                return false;
            }
        }
        return true;
    }

    private boolean emit(SourceContext<RowData> context, Map.Entry<Integer, Long> lane) {
        long target =
                Math.min(scenario.target(lane.getKey(), lane.getValue()), lane.getValue() + 100);
        boolean emitted = false;
        while (!cancelled && lane.getValue() < target) {
            long id = scenario.record(lane.getKey(), lane.getValue());
            context.collect(GenericRowData.of(id, lane.getKey()));
            lane.setValue(lane.getValue() + 1);
            scenario.reached(lane.getKey(), lane.getValue());
            emitted = true;
        }
        return emitted;
    }

    @Override
    public void cancel() {
        cancelled = true;
    }
}
