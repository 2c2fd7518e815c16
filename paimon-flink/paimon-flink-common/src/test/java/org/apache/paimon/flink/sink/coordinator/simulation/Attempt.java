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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.flink.sink.coordinator.report.PendingReports;
import org.apache.paimon.flink.sink.coordinator.report.RestoredCommittableEvent;
import org.apache.paimon.flink.sink.coordinator.report.WriterEventSender;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** One attempt of a writer subtask: its task, and what travels between it and the JobManager. */
final class Attempt {

    /** As the JobManager sees the task. */
    enum Phase {
        DEPLOYED,
        INITIALIZING,
        RUNNING,
        FINISHED,
        GONE
    }

    /** What a message to the JobManager is. */
    enum MessageKind {
        INITIALIZING,
        RUNNING,
        EVENT,
        ACKNOWLEDGE,
        AWAIT,
        FINISHED
    }

    final int subtask;
    final int number;
    final PendingReports reports = new PendingReports();

    /** Null when the vertex had finished in the restored checkpoint. */
    WriterEventSender sender;

    Phase phase = Phase.DEPLOYED;
    final Deque<Message> outgoing = new ArrayDeque<>();
    final Deque<Checkpoint> barriers = new ArrayDeque<>();
    final List<Notification> notifications = new ArrayList<>();

    /** Numbers of the files flushed since the last barrier. */
    final List<Integer> flushed = new ArrayList<>();

    /** Aborts that came before their barrier. */
    final List<Long> skipped = new ArrayList<>();

    /** It has taken this synchronous savepoint and does nothing until it hears of it; 0: none. */
    long blockedBy;

    /** Whether an event of it has arrived. */
    boolean heardOf;

    boolean awaiting;

    /** What the coordinator answered: null when nothing yet. */
    Boolean answer;

    Attempt(int subtask, int number) {
        this.subtask = subtask;
        this.number = number;
    }

    boolean alive() {
        return phase != Phase.GONE && phase != Phase.FINISHED;
    }

    void send(MessageKind kind, long checkpointId, OperatorEvent event) {
        outgoing.add(new Message(kind, checkpointId, event));
    }

    /** Whether nothing of its replay has arrived or will. */
    boolean replayLost() {
        return !heardOf
                && outgoing.stream()
                        .noneMatch(message -> message.event instanceof RestoredCommittableEvent);
    }

    static final class Message {

        final MessageKind kind;
        final long checkpointId;
        final OperatorEvent event;

        Message(MessageKind kind, long checkpointId, OperatorEvent event) {
            this.kind = kind;
            this.checkpointId = checkpointId;
            this.event = event;
        }
    }

    static final class Notification {

        final boolean completed;
        final long checkpointId;

        Notification(boolean completed, long checkpointId) {
            this.completed = completed;
            this.checkpointId = checkpointId;
        }
    }
}
