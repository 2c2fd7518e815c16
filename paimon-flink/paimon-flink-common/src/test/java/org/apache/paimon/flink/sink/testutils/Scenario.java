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

import org.awaitility.Awaitility;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a test holds in its hand while its jobs run in the same process: the records that the
 * sources have to emit, and the places where a job waits or fails.
 *
 * <p>Records are numbered within <i>lanes</i>. A lane belongs to one source subtask at a time; its
 * position is part of the source's state, so each record is emitted exactly once as far as Flink
 * can tell. A lane emits up to its target and then waits.
 */
public final class Scenario implements AutoCloseable {

    private static final long RECORDS_PER_LANE = 1_000_000_000L;

    private static final Map<String, Scenario> SCENARIOS = new ConcurrentHashMap<>();

    /** Before a snapshot file appears. */
    public final Hook beforeSnapshot = new Hook("before the snapshot");

    /** After a snapshot was committed, before the commit returns. */
    public final Hook afterSnapshot = new Hook("after the snapshot");

    /** Before a tag's file is written. */
    public final Hook beforeTag = new Hook("before the tag");

    /** The tag callback that is told of a creation. */
    public final Hook tagCallback = new Hook("the tag callback");

    private final String id = UUID.randomUUID().toString();
    private final int lanes;
    private final int firstLane;

    private final long[] targets;
    private final long[] positions;
    private final boolean[] finished;
    private boolean flowing;

    /** Completed, and replaced, by each order. */
    private CompletableFuture<Void> orders = new CompletableFuture<>();

    private boolean slow;

    /** Subtasks that have to fail. */
    private final Set<Integer> failing = new HashSet<>();

    /** Positions by checkpoint, then by lane. */
    private final Map<Long, Map<Integer, Long>> cuts = new TreeMap<>();

    /** What the tag callback was told, in order. */
    private final List<String> tagEvents = new ArrayList<>();

    private Scenario(int firstLane, int lanes) {
        this.firstLane = firstLane;
        this.lanes = lanes;
        this.targets = new long[lanes];
        this.positions = new long[lanes];
        this.finished = new boolean[lanes];
    }

    public static Scenario open() {
        return open(0, 4);
    }

    /** A scenario whose records differ from those of scenarios with other lanes. */
    public static Scenario open(int firstLane, int lanes) {
        Scenario scenario = new Scenario(firstLane, lanes);
        SCENARIOS.put(scenario.id, scenario);
        return scenario;
    }

    static Scenario of(String id) {
        Scenario scenario = SCENARIOS.get(id);
        if (scenario == null) {
            throw new IllegalStateException("The test of this job is over.");
        }
        return scenario;
    }

    /** Opens all gates and drops all plans. */
    void release() {
        for (Hook hook : new Hook[] {beforeSnapshot, afterSnapshot, beforeTag, tagCallback}) {
            hook.clear();
        }
        speedUp();
    }

    @Override
    public void close() {
        SCENARIOS.remove(id);
    }

    public String id() {
        return id;
    }

    public int lanes() {
        return lanes;
    }

    // ------------------------------------------------------------------------
    //  Orders
    // ------------------------------------------------------------------------

    /** Each lane emits so many records more. Returns when they are emitted. */
    public void emit(int recordsPerLane) {
        synchronized (this) {
            for (int lane = 0; lane < lanes; lane++) {
                targets[lane] += recordsPerLane;
            }
            ordered();
        }
        awaitEmitted();
    }

    /** One lane emits so many records more. Returns when they are emitted. */
    public void emit(int lane, int records) {
        synchronized (this) {
            targets[lane] += records;
            ordered();
        }
        awaitEmitted();
    }

    /** These records were emitted before that savepoint by a job in another process. */
    synchronized void emitElsewhere(long savepointId, int lane, long count) {
        targets[lane] = count;
        cut(savepointId, lane, count);
    }

    /** Returns when each lane has reached its target. */
    public void awaitEmitted() {
        Awaitility.await("the sources have emitted what they were told to")
                .atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .conditionEvaluationListener(new TaskThreads("the sources have not emitted all"))
                .until(this::emitted);
    }

    /** While the lanes flow: returns when each of them has emitted some more. */
    public void awaitMore() {
        long[] before;
        synchronized (this) {
            before = positions.clone();
        }
        Awaitility.await("every lane has emitted some more")
                .atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .conditionEvaluationListener(new TaskThreads("the lanes stand still"))
                .untilAsserted(() -> assertBeyond(before));
    }

    private synchronized void assertBeyond(long[] before) {
        for (int lane = 0; lane < lanes; lane++) {
            assertThat(positions[lane])
                    .as("position of lane %s, of positions %s", lane, Arrays.toString(positions))
                    .isGreaterThan(before[lane]);
        }
    }

    private synchronized boolean emitted() {
        for (int lane = 0; lane < lanes; lane++) {
            if (positions[lane] != targets[lane]) {
                return false;
            }
        }
        return true;
    }

    /**
     * From now on the lanes emit without being told, until {@link #pause}; so slowly that the
     * writers keep up, unless {@link #slowDown} says otherwise. With back pressure, Flink 2.0.0 has
     * now and then left a source and its writer waiting for each other after a restart of their
     * region: both in Flink's own mailbox, without data or buffer between them.
     */
    public synchronized void flow() {
        flowing = true;
        ordered();
    }

    /** Returns when the lanes have come to rest. */
    public void pause() {
        synchronized (this) {
            flowing = false;
        }
        awaitEmitted();
    }

    /** The input of all lanes ends at their targets. */
    public void finish() {
        for (int lane = 0; lane < lanes; lane++) {
            finish(lane);
        }
    }

    /** The input of one lane ends at its target. A source subtask ends when all its lanes do. */
    public synchronized void finish(int lane) {
        finished[lane] = true;
        ordered();
    }

    /** The source subtask with this index fails once, and with it its region. */
    public synchronized void fail(int subtask) {
        failing.add(subtask);
        ordered();
    }

    /** From now on each record takes a millisecond on its way to the writer. */
    public synchronized void slowDown() {
        slow = true;
    }

    public synchronized void speedUp() {
        slow = false;
        notifyAll();
    }

    private synchronized void ordered() {
        notifyAll();
        CompletableFuture<Void> before = orders;
        orders = new CompletableFuture<>();
        before.complete(null);
    }

    // ------------------------------------------------------------------------
    //  Expectations
    // ------------------------------------------------------------------------

    /** All records that were ordered so far. */
    public synchronized Set<Long> everything() {
        Set<Long> records = new TreeSet<>();
        for (int lane = 0; lane < lanes; lane++) {
            addRecords(records, lane, targets[lane]);
        }
        return records;
    }

    /** The records before the barrier of a checkpoint or savepoint. */
    public synchronized Set<Long> before(long checkpointId) {
        Map<Integer, Long> cut = cuts.getOrDefault(checkpointId, new HashMap<>());
        Set<Long> records = new TreeSet<>();
        for (int lane = 0; lane < lanes; lane++) {
            Long position = cut.get(lane);
            if (position == null && !finished[lane]) {
                throw new AssertionError(
                        "Lane " + lane + " took no part in checkpoint " + checkpointId + ".");
            }
            addRecords(records, lane, position == null ? targets[lane] : position);
        }
        return records;
    }

    private void addRecords(Set<Long> records, int lane, long count) {
        for (long n = 0; n < count; n++) {
            records.add(record(lane, n));
        }
    }

    long record(int lane, long n) {
        return (firstLane + lane) * RECORDS_PER_LANE + n;
    }

    /** For instance {@code created savepoint-2}. */
    public synchronized List<String> tagEvents() {
        return new ArrayList<>(tagEvents);
    }

    // ------------------------------------------------------------------------
    //  Called by the job
    // ------------------------------------------------------------------------

    /** How far the lane may go now; it may be nowhere. */
    synchronized long target(int lane, long position) {
        if (flowing && !finished[lane] && position >= targets[lane]) {
            targets[lane] = position + 1;
        }
        return targets[lane];
    }

    /** Whether the lanes flow, and nothing keeps the writers from keeping up. */
    synchronized boolean flowsFreely() {
        return flowing && !slow;
    }

    synchronized boolean ended(int lane, long position) {
        return finished[lane] && position >= targets[lane];
    }

    synchronized void reached(int lane, long position) {
        positions[lane] = position;
    }

    synchronized void cut(long checkpointId, int lane, long position) {
        cuts.computeIfAbsent(checkpointId, c -> new HashMap<>()).put(lane, position);
    }

    synchronized void failIfTold(int subtask) {
        if (failing.remove(subtask)) {
            throw new PlannedFailure("planned failure of source subtask " + subtask);
        }
    }

    /** Completes with the next order. */
    synchronized CompletableFuture<Void> orders() {
        return orders;
    }

    /** A record on its way from a source to a writer. */
    synchronized void passOn() throws InterruptedException {
        if (slow) {
            wait(1);
        }
    }

    /** Waits a moment for the next order. */
    synchronized void awaitOrders() throws InterruptedException {
        wait(5);
    }

    synchronized void tagEvent(String event) {
        tagEvents.add(event);
    }

    /** What {@link #fail} throws in the task. */
    public static final class PlannedFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private PlannedFailure(String message) {
            super(message);
        }
    }
}
