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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.flink.sink.coordinator.report.ReportReceiver;
import org.apache.paimon.tag.SavepointTagStatistics;
import org.apache.paimon.utils.EventLoop;

import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

import javax.annotation.Nullable;

import java.util.function.ToLongFunction;

/**
 * The metrics of the coordinator path, in the JobManager's metric group of the operator.
 *
 * <p>They are registered once for a metric group, and go on counting when a failover begins the
 * next session.
 *
 * <p>Threads: any thread reads; the sessions' event loops write, one after the other.
 */
public final class CoordinatorMetrics {

    public static final String PENDING_CHECKPOINTS = "pendingCheckpoints";
    public static final String PENDING_SAVEPOINTS = "pendingSavepoints";
    public static final String HELD_REPORT_BYTES = "heldReportBytes";
    public static final String QUEUED_ACTIONS = "queuedActions";
    public static final String BUSY_TIME = "busyTimeMsPerSecond";
    public static final String COMMITS = "numCommits";
    public static final String LAST_COMMIT_DURATION = "lastCommitDurationMs";
    public static final String SECONDS_SINCE_LAST_COMMIT = "secondsSinceLastCommit";
    public static final String LATE_EVENTS_IGNORED = "numLateEventsIgnored";
    public static final String RESTORES = "numRestores";
    public static final String LAST_RESTORE_DURATION = "lastRestoreDurationMs";

    private final CommitStatistics commits = new CommitStatistics(System::nanoTime);
    private final SavepointTagStatistics tags = new SavepointTagStatistics();

    /** Null before the first session. */
    @Nullable private volatile Session session;

    @Nullable private MetricGroup registeredIn;
    @Nullable private ReplacingMetricGroup committerMetrics;

    /** Registers the metrics, unless that was done in this group before. */
    public synchronized CoordinatorMetrics registerIn(MetricGroup group) {
        if (registeredIn != group) {
            registeredIn = group;
            committerMetrics = new ReplacingMetricGroup(group);
            register(group);
        }
        return this;
    }

    private void register(MetricGroup group) {
        gauge(group, PENDING_CHECKPOINTS, session -> session.load.checkpoints());
        gauge(group, PENDING_SAVEPOINTS, session -> session.load.savepoints());
        gauge(group, HELD_REPORT_BYTES, session -> session.load.bytes());
        gauge(group, QUEUED_ACTIONS, session -> session.loop.queued());
        group.gauge(
                BUSY_TIME,
                new BusyTime(() -> value(session -> session.loop.busyNanos()), System::nanoTime));
        gauge(group, LATE_EVENTS_IGNORED, Session::ignoredEvents);
        group.gauge(COMMITS, (Gauge<Long>) commits::commits);
        group.gauge(LAST_COMMIT_DURATION, (Gauge<Long>) commits::lastCommitMillis);
        group.gauge(SECONDS_SINCE_LAST_COMMIT, (Gauge<Long>) commits::secondsSinceLastCommit);
        group.gauge(RESTORES, (Gauge<Long>) commits::restores);
        group.gauge(LAST_RESTORE_DURATION, (Gauge<Long>) commits::lastRestoreMillis);
        SavepointTagMetrics.register(group, tags);
    }

    private void gauge(MetricGroup group, String name, ToLongFunction<Session> value) {
        group.gauge(name, (Gauge<Long>) () -> value(value));
    }

    private long value(ToLongFunction<Session> value) {
        Session current = session;
        return current == null ? 0 : value.applyAsLong(current);
    }

    /** What the committer of each session may register its metrics in. */
    public synchronized MetricGroup committerMetrics() {
        if (committerMetrics == null) {
            throw new IllegalStateException("The metrics are not registered yet.");
        }
        return committerMetrics;
    }

    /** From now on the gauges show this session. */
    public void sessionBegins(EventLoop loop, LedgerLoad load, ReportReceiver receiver) {
        session = new Session(loop, load, receiver, value(Session::ignoredEvents));
    }

    public CommitStatistics commits() {
        return commits;
    }

    public SavepointTagStatistics tags() {
        return tags;
    }

    /** Where the values of one session come from. */
    private static final class Session {

        private final EventLoop loop;
        private final LedgerLoad load;
        private final ReportReceiver receiver;
        private final long ignoredBefore;

        private Session(
                EventLoop loop, LedgerLoad load, ReportReceiver receiver, long ignoredBefore) {
            this.loop = loop;
            this.load = load;
            this.receiver = receiver;
            this.ignoredBefore = ignoredBefore;
        }

        private long ignoredEvents() {
            return ignoredBefore + receiver.ignoredEvents();
        }
    }
}
