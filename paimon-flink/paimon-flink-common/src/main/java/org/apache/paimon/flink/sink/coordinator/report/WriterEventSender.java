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

package org.apache.paimon.flink.sink.coordinator.report;

import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;

import java.util.Arrays;
import java.util.Collection;

/**
 * The writer's end of the way to the coordinator: numbers the events of one attempt (W1) and cuts
 * long reports into parts (W2). Used by the task's thread only.
 *
 * <pre>
 *   attempt starts -&gt; replay (0..n reports, then its end) -&gt; report -&gt; report -&gt; ...
 * </pre>
 */
public final class WriterEventSender {

    private final OperatorEventGateway gateway;
    private final int maxPartBytes;

    /** Place of the next event in the sequence of this attempt. */
    private long position;

    public WriterEventSender(OperatorEventGateway gateway) {
        this(gateway, WriterEvent.MAX_PART_BYTES);
    }

    public WriterEventSender(OperatorEventGateway gateway, int maxPartBytes) {
        this.gateway = gateway;
        this.maxPartBytes = maxPartBytes;
    }

    /** Sends what the attempt found in its state; once, before any report. */
    public void replay(long restoredCheckpointId, Collection<EncodedReport> reports) {
        for (EncodedReport report : reports) {
            inParts(
                    report,
                    (last, part) ->
                            RestoredCommittableEvent.part(
                                    position, restoredCheckpointId, report.version(), last, part));
        }
        send(RestoredCommittableEvent.endOfReplay(position, restoredCheckpointId));
    }

    public void report(EncodedReport report) {
        report(report, false);
    }

    /** E2: like {@link #report}, and says that there is no more data to come. */
    public void reportEndOfInput(EncodedReport report) {
        report(report, true);
    }

    private void report(EncodedReport report, boolean endOfInput) {
        inParts(
                report,
                (last, part) ->
                        new CommittableEvent(
                                position,
                                report.checkpointId(),
                                endOfInput,
                                report.version(),
                                last,
                                part,
                                report.savepointPath()));
    }

    private void inParts(EncodedReport report, PartFactory event) {
        byte[] bytes = report.serialized();
        if (bytes.length <= maxPartBytes) {
            send(event.create(true, bytes));
            return;
        }
        for (int from = 0; from < bytes.length; from += maxPartBytes) {
            int to = Math.min(bytes.length, from + maxPartBytes);
            send(event.create(to == bytes.length, Arrays.copyOfRange(bytes, from, to)));
        }
    }

    private void send(WriterEvent event) {
        gateway.sendEventToCoordinator(event);
        position++;
    }

    @FunctionalInterface
    private interface PartFactory {

        WriterEvent create(boolean last, byte[] part);
    }
}
