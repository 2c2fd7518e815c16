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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.KafkaProcess;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Writes numbered records into each partition of a topic at a steady rate, on a thread. */
final class Feeder implements AutoCloseable {

    static final int PARTITIONS = 4;
    private static final int BATCH = 25;
    private static final long PAUSE_MILLIS = 100;

    private final KafkaProcess kafka;
    private final String topic;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread;
    private volatile long sent;
    private volatile Throwable failure;

    Feeder(KafkaProcess kafka, String topic) {
        this.kafka = kafka;
        this.topic = topic;
        this.thread = new Thread(this::feed, "feeder-" + topic);
        kafka.createTopic(topic, PARTITIONS);
        thread.start();
    }

    private void feed() {
        try {
            do {
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    kafka.send(topic, partition, sent, sent + BATCH);
                }
                sent += BATCH;
            } while (!stopped.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** Stops, and returns how many records each partition has. */
    Map<Integer, Long> stop() {
        close();
        if (failure != null) {
            throw new ClusterException("the topic " + topic + " was not fed: " + failure, failure);
        }
        Map<Integer, Long> ends = new TreeMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            ends.put(partition, sent);
        }
        return ends;
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
