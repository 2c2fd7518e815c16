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

package org.apache.paimon.flink.cluster;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Sends numbered records to all partitions of a topic, a few at a time, until it is stopped: so
 * that each savepoint taken meanwhile has data of its own (without any it gets no tag, T8).
 */
public final class KafkaFeeder implements AutoCloseable {

    private static final int BATCH = 20;
    private static final long PAUSE_MILLIS = 100;
    private static final long END_MILLIS = 60_000;

    private final CountDownLatch stopped = new CountDownLatch(1);
    private final KafkaProcess kafka;
    private final String topic;
    private final int partitions;
    private final Thread thread;
    private volatile long sent;
    private volatile RuntimeException failure;

    private KafkaFeeder(KafkaProcess kafka, String topic, int partitions, long from) {
        this.kafka = kafka;
        this.topic = topic;
        this.partitions = partitions;
        this.sent = from;
        this.thread = new Thread(this::feed, "feed-" + topic);
    }

    /** Starts to send the numbers from {@code from} on. */
    public static KafkaFeeder start(KafkaProcess kafka, String topic, int partitions, long from) {
        KafkaFeeder feeder = new KafkaFeeder(kafka, topic, partitions, from);
        feeder.thread.setDaemon(true);
        feeder.thread.start();
        return feeder;
    }

    private void feed() {
        try {
            do {
                for (int partition = 0; partition < partitions; partition++) {
                    kafka.send(topic, partition, sent, sent + BATCH);
                }
                sent += BATCH;
            } while (!stopped.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    /** Stops, and returns how many records each partition has. */
    public long stop() {
        close();
        if (failure != null) {
            throw new ClusterException("records are missing in topic " + topic, failure);
        }
        return sent;
    }

    /** Stops. */
    @Override
    public void close() {
        stopped.countDown();
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while topic " + topic + " was fed", e);
        }
        if (thread.isAlive()) {
            throw new ClusterException(
                    "topic " + topic + " took no records for " + END_MILLIS / 1000 + " s");
        }
    }
}
