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

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The coordinator's end of the way from the writers: makes whole reports of the events of each
 * writer attempt and passes them on to its {@link Listener}.
 *
 * <p>Pure: no thread, no file. One owner (the coordinator's event loop) calls it.
 *
 * <p>Promises: events of an attempt that is not the current one change nothing; a gap, a repetition
 * or an unknown attempt is a {@link ReportProtocolException} (W1); parts of different reports never
 * mix, and a series without its last part is not a report (W2); what was damaged on its way or
 * cannot be decoded names subtask, attempt and checkpoint (S2, W3).
 */
public final class ReportReceiver {

    private static final Logger LOG = LoggerFactory.getLogger(ReportReceiver.class);

    /** Takes in what has arrived as a whole. */
    public interface Listener {

        /** A4: a report of a replay, without its files when those are committed already. */
        EncodedReport withoutCommittedFiles(EncodedReport replayed);

        /**
         * An attempt of a writer has replayed what it found in its restored state.
         *
         * @param restoredCheckpointId the checkpoint it was restored from, -1 for none
         * @param sideStates S6: what that state says of reports, also of other writers' ones
         */
        void replay(
                int subtask,
                int attempt,
                long restoredCheckpointId,
                List<EncodedReport> reports,
                List<ReportSideState> sideStates)
                throws ReportProtocolException;

        /**
         * A writer has taken a checkpoint.
         *
         * @param endOfInput E2: it has no more data after this
         */
        void report(int subtask, int attempt, EncodedReport report, boolean endOfInput)
                throws ReportProtocolException;
    }

    private final Listener listener;
    private final Session[] sessions;

    /** Written by the owner alone. */
    private volatile long ignoredEvents;

    public ReportReceiver(int parallelism, Listener listener) {
        this.listener = listener;
        this.sessions = new Session[parallelism];
        for (int subtask = 0; subtask < parallelism; subtask++) {
            sessions[subtask] = new Session(subtask);
        }
    }

    /** How many events of attempts that were over have arrived. Readable from any thread. */
    public long ignoredEvents() {
        return ignoredEvents;
    }

    /**
     * Takes one event in.
     *
     * @throws ReportProtocolException when the job has to fail
     */
    public void receive(int subtask, int attempt, WriterEvent event)
            throws ReportProtocolException {
        sessions[subtask].receive(attempt, event);
    }

    /**
     * A checkpoint is about to be taken: all tasks run, and have replayed before.
     *
     * @throws ReportProtocolException when the rest of a replay is missing
     */
    public void triggered(long checkpointId) throws ReportProtocolException {
        for (Session session : sessions) {
            if (session.replay != null) {
                throw new ReportProtocolException(
                        session.subtask,
                        session.attempt,
                        checkpointId,
                        "the checkpoint is triggered, but the end of its replay never arrived: it"
                                + " was lost on its way.");
            }
        }
    }

    /** The attempt is over: nothing that it sent from now on counts. */
    public void attemptFailed(int subtask, int attempt) {
        Session session = sessions[subtask];
        if (attempt >= session.attempt) {
            session.attempt = attempt;
            session.end();
        }
    }

    /** The subtask will start again: the current attempt is over and a newer one is expected. */
    public void reset(int subtask) {
        Session session = sessions[subtask];
        session.end();
        session.expecting = true;
    }

    /** What is known of one subtask's current attempt. */
    private final class Session {

        private final int subtask;

        /** Highest attempt heard of; -1 before the first. */
        private int attempt = -1;

        /** Whether events of {@link #attempt} count. */
        private boolean live;

        /** Whether an attempt newer than {@link #attempt} may announce itself. */
        private boolean expecting = true;

        private long nextPosition;

        /** Reports of a replay under way; null when none is. */
        private List<EncodedReport> replay;

        private List<ReportSideState> sideStates;

        /** Parts of the report under way; null when none is. */
        private PartSeries series;

        private Session(int subtask) {
            this.subtask = subtask;
        }

        private void end() {
            live = false;
            replay = null;
            sideStates = null;
            series = null;
        }

        private void receive(int from, WriterEvent event) throws ReportProtocolException {
            if (from < attempt || (from == attempt && !live)) {
                LOG.debug(
                        "Ignoring {} of writer subtask {} attempt {}, which is over; the newest"
                                + " is {}.",
                        event,
                        subtask,
                        from,
                        attempt);
                ignoredEvents++;
                return;
            }
            if (from > attempt) {
                begin(from, event);
            }
            if (event.position() != nextPosition) {
                throw problem(
                        event,
                        String.format(
                                "event %d arrived where event %d was due, so %s.",
                                event.position(),
                                nextPosition,
                                event.position() > nextPosition
                                        ? "one before it was lost on its way"
                                        : "it was repeated"));
            }
            nextPosition++;
            if (event instanceof RestoredCommittableEvent) {
                receiveReplay((RestoredCommittableEvent) event);
            } else if (event instanceof RestoredSideStateEvent) {
                receiveSideStates((RestoredSideStateEvent) event);
            } else {
                receiveReport((CommittableEvent) event);
            }
        }

        private void begin(int from, WriterEvent event) throws ReportProtocolException {
            if (!expecting || event.position() != 0 || event instanceof CommittableEvent) {
                throw new ReportProtocolException(
                        subtask,
                        from,
                        event.checkpointId(),
                        String.format(
                                "event %d comes from an unknown attempt: %s.",
                                event.position(),
                                expecting
                                        ? "an attempt starts with event 0 and a replay"
                                        : "attempt " + attempt + " is still current"));
            }
            attempt = from;
            live = true;
            expecting = false;
            nextPosition = 0;
            replay = new ArrayList<>(0);
            sideStates = new ArrayList<>(0);
            series = null;
        }

        private void receiveReplay(RestoredCommittableEvent event) throws ReportProtocolException {
            if (replay == null) {
                throw problem(event, "a replay goes on that has ended before.");
            }
            if (!event.endOfReplay()) {
                EncodedReport report = assemble(event, event.persisted());
                if (report != null) {
                    replay.add(listener.withoutCommittedFiles(report));
                }
                return;
            }
            if (series != null) {
                throw problem(event, "the replay ended within a report.");
            }
            List<EncodedReport> reports = replay;
            List<ReportSideState> ofReports = sideStates;
            replay = null;
            sideStates = null;
            listener.replay(
                    subtask,
                    attempt,
                    event.checkpointId(),
                    Collections.unmodifiableList(reports),
                    Collections.unmodifiableList(ofReports));
        }

        private void receiveSideStates(RestoredSideStateEvent event)
                throws ReportProtocolException {
            if (replay == null) {
                throw problem(event, "a replay goes on that has ended before.");
            }
            if (series != null) {
                throw problem(event, "the replay went on within a report.");
            }
            try {
                for (byte[] element : event.elements()) {
                    sideStates.add(ReportSideState.fromBytes(element));
                }
            } catch (IOException e) {
                throw undecodable(event, e);
            }
        }

        private void receiveReport(CommittableEvent event) throws ReportProtocolException {
            if (replay != null) {
                throw problem(event, "it reports before its replay has ended.");
            }
            EncodedReport report = assemble(event, null);
            if (report == null) {
                return;
            }
            if (report.checkpointId() != event.checkpointId()) {
                throw problem(
                        event,
                        "its report says that it is for checkpoint " + report.checkpointId() + ".");
            }
            listener.report(
                    subtask,
                    attempt,
                    report.withSavepointPath(event.savepointPath()),
                    event.endOfInput());
        }

        /** The report that this part completes, or null when more parts are to come. */
        private EncodedReport assemble(WriterEvent event, @Nullable ReportChecksum persisted)
                throws ReportProtocolException {
            if (event.part() == null) {
                throw problem(event, "the event carries no bytes.");
            }
            if (series == null && event.last()) {
                return received(event, event.part(), persisted);
            }
            if (series == null) {
                series = new PartSeries(event);
            } else if (!series.continuedBy(event)) {
                throw problem(
                        event,
                        String.format(
                                "a part for checkpoint %d follows an unfinished report for"
                                        + " checkpoint %d.",
                                event.checkpointId(), series.checkpointId));
            }
            series.add(event.part());
            if (!event.last()) {
                return null;
            }
            byte[] joined;
            try {
                joined = series.join();
            } catch (IOException e) {
                throw undecodable(event, e);
            }
            series = null;
            return received(event, joined, persisted);
        }

        private EncodedReport received(
                WriterEvent event, byte[] bytes, @Nullable ReportChecksum persisted)
                throws ReportProtocolException {
            try {
                return EncodedReport.received(event.version(), bytes, event.checksum(), persisted);
            } catch (IOException e) {
                throw undecodable(event, e);
            }
        }

        private ReportProtocolException undecodable(WriterEvent event, IOException cause) {
            return new ReportProtocolException(
                    subtask,
                    attempt,
                    event.checkpointId(),
                    "its report cannot be decoded. " + cause.getMessage(),
                    cause);
        }

        private ReportProtocolException problem(WriterEvent event, String problem) {
            return new ReportProtocolException(subtask, attempt, event.checkpointId(), problem);
        }
    }

    /** The parts of one report that have arrived so far. */
    private static final class PartSeries {

        private final Class<?> kind;
        private final long checkpointId;
        private final int version;
        private final int checksum;
        private final List<byte[]> parts = new ArrayList<>();
        private long length;

        private PartSeries(WriterEvent first) {
            this.kind = first.getClass();
            this.checkpointId = first.checkpointId();
            this.version = first.version();
            this.checksum = first.checksum();
        }

        private boolean continuedBy(WriterEvent event) {
            return kind == event.getClass()
                    && checkpointId == event.checkpointId()
                    && version == event.version()
                    && checksum == event.checksum();
        }

        private void add(byte[] part) {
            parts.add(part);
            length += part.length;
        }

        private byte[] join() throws IOException {
            if (length > Integer.MAX_VALUE - 8) {
                throw new IOException(
                        String.format("Its %d parts take %d bytes.", parts.size(), length));
            }
            byte[] joined = new byte[(int) length];
            int offset = 0;
            for (byte[] part : parts) {
                System.arraycopy(part, 0, joined, offset, part.length);
                offset += part.length;
            }
            return joined;
        }
    }
}
