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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * The writer's end of the way to the coordinator: numbers the events of one attempt (W1) and cuts
 * long reports into parts (W2). Used by the task's thread only.
 *
 * <pre>
 *   attempt starts -&gt; replay (0..n reports, what the state says of them, then its end)
 *                  -&gt; report -&gt; report -&gt; ...
 * </pre>
 *
 * <p>W4: of a replay, at most {@link #MAX_UNANSWERED_BYTES} are on their way that the coordinator
 * has not answered for. A report of a checkpoint does not wait: it is as long as what was written
 * since the last one, and a replay may hold twenty of them.
 */
public final class WriterEventSender {

    /** Most bytes of a replay, payload only, that are on their way and not answered for. */
    static final int MAX_UNANSWERED_BYTES = WriterEvent.MAX_PART_BYTES;

    private final OperatorEventGateway gateway;
    private final ReplayAnswers answers;
    private final int maxPartBytes;

    /** Bytes of the replay that were sent since the last answer. */
    private long unanswered;

    /** Place of the next event in the sequence of this attempt. */
    private long position;

    /** Tells when the coordinator has taken in what was sent of a replay so far. */
    public interface ReplayAnswers {

        /** Returns when it has. */
        void await() throws IOException, InterruptedException;
    }

    public WriterEventSender(OperatorEventGateway gateway, ReplayAnswers answers) {
        this(gateway, answers, WriterEvent.MAX_PART_BYTES);
    }

    public WriterEventSender(
            OperatorEventGateway gateway, ReplayAnswers answers, int maxPartBytes) {
        this.gateway = gateway;
        this.answers = answers;
        this.maxPartBytes = maxPartBytes;
    }

    /** Sends what the attempt found in its state; once, before any report. */
    public void replay(
            long restoredCheckpointId,
            Collection<EncodedReport> reports,
            Collection<ReportSideState> sideStates)
            throws IOException, InterruptedException {
        for (EncodedReport report : reports) {
            byte[] bytes = report.serialized();
            int from = 0;
            do {
                int to = (int) Math.min(bytes.length, (long) from + maxPartBytes);
                awaitRoom(to - from);
                send(
                        RestoredCommittableEvent.part(
                                position,
                                restoredCheckpointId,
                                report.version(),
                                report.checksum().crc32c(),
                                to == bytes.length,
                                part(bytes, from, to),
                                report.persisted()));
                from = to;
            } while (from < bytes.length);
        }
        replaySideStates(restoredCheckpointId, sideStates);
        send(RestoredCommittableEvent.endOfReplay(position, restoredCheckpointId));
    }

    private void replaySideStates(long restoredCheckpointId, Collection<ReportSideState> sideStates)
            throws IOException, InterruptedException {
        List<byte[]> batch = new ArrayList<>();
        int bytes = 0;
        for (ReportSideState sideState : sideStates) {
            byte[] element = sideState.toBytes();
            if (!batch.isEmpty() && bytes + element.length > maxPartBytes) {
                sendSideStates(restoredCheckpointId, batch, bytes);
                batch = new ArrayList<>();
                bytes = 0;
            }
            batch.add(element);
            bytes += element.length;
        }
        if (!batch.isEmpty()) {
            sendSideStates(restoredCheckpointId, batch, bytes);
        }
    }

    private void sendSideStates(long restoredCheckpointId, List<byte[]> batch, int bytes)
            throws IOException, InterruptedException {
        awaitRoom(bytes);
        send(
                new RestoredSideStateEvent(
                        position, restoredCheckpointId, batch.toArray(new byte[0][])));
    }

    /** W4. */
    private void awaitRoom(int bytes) throws IOException, InterruptedException {
        if (unanswered > 0 && unanswered + bytes > MAX_UNANSWERED_BYTES) {
            answers.await();
            unanswered = 0;
        }
        unanswered += bytes;
    }

    public void report(EncodedReport report) {
        report(report, false);
    }

    /** E2: like {@link #report}, and says that there is no more data to come. */
    public void reportEndOfInput(EncodedReport report) {
        report(report, true);
    }

    private void report(EncodedReport report, boolean endOfInput) {
        byte[] bytes = report.serialized();
        int from = 0;
        do {
            int to = (int) Math.min(bytes.length, (long) from + maxPartBytes);
            send(
                    new CommittableEvent(
                            position,
                            report.checkpointId(),
                            endOfInput,
                            report.version(),
                            report.checksum().crc32c(),
                            to == bytes.length,
                            part(bytes, from, to),
                            report.savepointPath()));
            from = to;
        } while (from < bytes.length);
    }

    private static byte[] part(byte[] bytes, int from, int to) {
        return to - from == bytes.length ? bytes : Arrays.copyOfRange(bytes, from, to);
    }

    private void send(WriterEvent event) {
        gateway.sendEventToCoordinator(event);
        position++;
    }
}
