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

import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What one writer attempt has said to its coordinator, in words. Takes reports of one part. */
public final class RecordedEvents implements OperatorEventGateway, Serializable {

    private static final long serialVersionUID = 1L;

    private final List<WriterEvent> events = new ArrayList<>();
    private transient Runnable listener = () -> {};

    /** Is called with each event, before it is recorded. */
    public void listener(Runnable newListener) {
        listener = newListener;
    }

    @Override
    public void sendEventToCoordinator(OperatorEvent event) {
        listener.run();
        events.add((WriterEvent) event);
    }

    /**
     * For instance {@code replay of 3: 2 files=1 savepoint}, {@code end of replay of 3}, {@code
     * report 4 files=0 watermark=5 idle, end of input}.
     */
    public List<String> told() {
        return events.stream().map(RecordedEvents::tell).collect(Collectors.toList());
    }

    private static String tell(WriterEvent event) {
        if (event instanceof RestoredCommittableEvent) {
            String replay = "replay of " + event.checkpointId();
            return ((RestoredCommittableEvent) event).endOfReplay()
                    ? "end of " + replay
                    : replay + ": " + tellReport(event);
        }
        if (event instanceof RestoredSideStateEvent) {
            return String.format(
                    "%d side states of %d",
                    ((RestoredSideStateEvent) event).elements().length, event.checkpointId());
        }
        return "report "
                + tellReport(event)
                + (((CommittableEvent) event).endOfInput() ? ", end of input" : "");
    }

    private static String tellReport(WriterEvent event) {
        try {
            return tell(EncodedReport.of(event.version(), event.part()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Counts files: a writer that stays open reports a committable without any. */
    public static String tell(EncodedReport report) {
        return report.checkpointId()
                + " files="
                + Reports.fileNames(report).size()
                + (report.watermark() == Long.MIN_VALUE ? "" : " watermark=" + report.watermark())
                + (report.idle() ? " idle" : "")
                + (report.savepoint() ? " savepoint" : "");
    }

    public void forget() {
        events.clear();
    }
}
