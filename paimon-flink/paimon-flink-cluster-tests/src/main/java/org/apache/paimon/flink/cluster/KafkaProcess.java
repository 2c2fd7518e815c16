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

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringSerializer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One Kafka broker (KRaft, broker and controller in one) in a process of its own.
 *
 * <p>The records of a partition are numbered without gaps: where {@link #send} is called with
 * adjoining ranges that begin at 0, the number of a record is its offset. So the offset in a
 * savepoint says which numbers belong to it: all those below.
 */
public final class KafkaProcess implements AutoCloseable {

    private static final String MAIN = "kafka.Kafka";
    private static final String FORMATTER = "kafka.tools.StorageTool";
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(60);

    private final ProcessGroup group;
    private final String classPath;
    private final int port;
    private final Server server;
    private KafkaProducer<String, String> producer;

    private KafkaProcess(ProcessGroup group, String classPath, int port) {
        this.group = group;
        this.classPath = classPath;
        this.port = port;
        this.server =
                new Server(
                        group,
                        "kafka",
                        name ->
                                FlinkProcess.launch(
                                                FlinkProcess.Role.SERVICE, name, classPath, MAIN)
                                        .jvm("-Xmx384m")
                                        .arguments(config().toString()),
                        this::serves);
    }

    /** Formats the storage, starts the broker, and waits until it serves. */
    public static KafkaProcess start(
            FlinkDistribution distribution, Path directory, Duration limit) {
        Ports ports = new Ports(line -> {});
        KafkaProcess kafka =
                new KafkaProcess(
                        new ProcessGroup("kafka", directory, distribution.starter()),
                        distribution.serviceClassPath("kafka"),
                        ports.pick());
        try {
            kafka.writeConfig(ports.pick());
            kafka.format(limit);
            kafka.server.start(limit);
            return kafka;
        } catch (RuntimeException e) {
            kafka.close();
            throw e;
        }
    }

    private Path config() {
        return group.conf().resolve("server.properties");
    }

    private void writeConfig(int controllerPort) {
        String broker = Ports.HOST + ":" + port;
        String controller = Ports.HOST + ":" + controllerPort;
        String text =
                String.join(
                        "\n",
                        "process.roles=broker,controller",
                        "node.id=1",
                        "controller.quorum.voters=1@" + controller,
                        "listeners=PLAINTEXT://" + broker + ",CONTROLLER://" + controller,
                        "advertised.listeners=PLAINTEXT://" + broker,
                        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                        "controller.listener.names=CONTROLLER",
                        "inter.broker.listener.name=PLAINTEXT",
                        "log.dirs=" + group.directory().resolve("data"),
                        "auto.create.topics.enable=false",
                        "offsets.topic.num.partitions=1",
                        "offsets.topic.replication.factor=1",
                        "transaction.state.log.num.partitions=1",
                        "transaction.state.log.replication.factor=1",
                        "transaction.state.log.min.isr=1",
                        "log.segment.bytes=16777216",
                        "log.cleaner.dedupe.buffer.size=16777216",
                        "num.network.threads=2",
                        "num.io.threads=2",
                        "group.initial.rebalance.delay.ms=0",
                        "");
        try {
            Files.write(config(), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write " + config(), e);
        }
    }

    private void format(Duration limit) {
        FlinkProcess formatter =
                group.start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.CLIENT,
                                        "kafka-format",
                                        classPath,
                                        FORMATTER)
                                .arguments("format", "-t", Uuid.randomUuid().toString())
                                .arguments("-c", config().toString()));
        int exitCode = group.awaitExit(formatter, limit);
        if (exitCode != 0) {
            throw new ClusterException(
                    String.format(
                            "Kafka's storage was not formatted (exit code %d): %s; look at %s",
                            exitCode, Tail.of(formatter.out(), 3), formatter.out()));
        }
    }

    private boolean serves() throws Exception {
        try (Admin admin = admin()) {
            return !admin.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty();
        }
    }

    private Admin admin() {
        Map<String, Object> properties = new HashMap<>();
        properties.put("bootstrap.servers", bootstrapServers());
        properties.put("request.timeout.ms", 4_000);
        properties.put("default.api.timeout.ms", 5_000);
        return Admin.create(properties);
    }

    /** What {@code properties.bootstrap.servers} wants. */
    public String bootstrapServers() {
        return Ports.HOST + ":" + port;
    }

    /** The one broker: to kill, to pause, and to start again. */
    public Server server() {
        return server;
    }

    /** Creates a topic and waits until it is there. */
    public void createTopic(String topic, int partitions) {
        try (Admin admin = admin()) {
            await(
                    admin.createTopics(
                                    Collections.singleton(
                                            new NewTopic(topic, partitions, (short) 1)))
                            .all(),
                    "the topic " + topic);
            Await.until("topic " + topic + " with " + partitions + " partitions", REQUEST_LIMIT)
                    .holds(
                            () ->
                                    admin.describeTopics(Collections.singleton(topic))
                                            .allTopicNames()
                                            .get(5, TimeUnit.SECONDS)
                                            .get(topic)
                                            .partitions()
                                            .size(),
                            count -> count == partitions);
        }
    }

    /**
     * Writes the records numbered {@code from} (included) to {@code toExclusive} into a partition,
     * in order, each once, as {@code {"part": partition, "id": number}}; returns when the broker
     * has them all.
     */
    public synchronized void send(String topic, int partition, long from, long toExclusive) {
        Future<RecordMetadata> last = null;
        for (long number = from; number < toExclusive; number++) {
            last =
                    producer()
                            .send(
                                    new ProducerRecord<>(
                                            topic, partition, null, record(partition, number)));
        }
        producer().flush();
        if (last != null) {
            // An idempotent producer writes in order: with the last one all others are there.
            await(last, "record " + (toExclusive - 1) + " in " + topic + "-" + partition);
        }
    }

    private static String record(int partition, long number) {
        return "{\"part\": " + partition + ", \"id\": " + number + "}";
    }

    private KafkaProducer<String, String> producer() {
        if (producer == null) {
            Map<String, Object> properties = new HashMap<>();
            properties.put("bootstrap.servers", bootstrapServers());
            properties.put("enable.idempotence", true);
            properties.put("acks", "all");
            properties.put("linger.ms", 5);
            properties.put("delivery.timeout.ms", (int) REQUEST_LIMIT.toMillis());
            properties.put("request.timeout.ms", 10_000);
            producer =
                    new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        }
        return producer;
    }

    private static <T> T await(Future<T> future, String what) {
        try {
            return future.get(REQUEST_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while waiting for " + what, e);
        } catch (ExecutionException e) {
            throw new ClusterException("Kafka refused " + what + ": " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new ClusterException("waited in vain for " + what, e);
        }
    }

    @Override
    public void close() {
        // The broker first: a producer that still has records would wait for it otherwise.
        synchronized (this) {
            if (producer != null) {
                producer.close(Duration.ZERO);
                producer = null;
            }
        }
        group.close();
    }
}
