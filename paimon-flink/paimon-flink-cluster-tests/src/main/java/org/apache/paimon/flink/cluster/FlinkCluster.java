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

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A Flink session cluster of separate JVMs on 127.0.0.1, and the hands that break it.
 *
 * <p>Used from one thread, except {@link #close()}, which the shutdown hook calls as well. The
 * processes end with {@link #close()}, with this JVM's orderly end (hook), and with its sudden end
 * ({@link ParentGuard}).
 *
 * <p>Everything it writes lies under one directory:
 *
 * <pre>
 * conf/                     config.yaml, log4j2.properties
 * log/NAME.log|.out|.command   one set per process
 * tmp/ checkpoints/ savepoints/
 * </pre>
 */
public final class FlinkCluster implements AutoCloseable {

    private static final String JOB_MANAGER =
            "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
    private static final String TASK_MANAGER =
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
    private static final String MEMORY_CALCULATOR =
            "org.apache.flink.runtime.util.bash.BashJavaUtils";
    private static final String MEMORY_ANSWER = "BASH_JAVA_UTILS_EXEC_RESULT:";

    /** How often a JobManager that lost the race for its port is started again. */
    private static final int PORT_ATTEMPTS = 3;

    private static final Duration CALCULATOR_LIMIT = Duration.ofSeconds(60);
    private static final Duration TERMINATE_LIMIT = Duration.ofSeconds(5);

    private final FlinkDistribution distribution;
    private final Path directory;
    private final FlinkConfig config;
    private final int slotsPerTaskManager;
    private final int preferredRestPort;
    private final Consumer<String> listener;
    private final Ports ports;
    private final Map<String, FlinkProcess> processes =
            Collections.synchronizedMap(new LinkedHashMap<>());
    private final Thread hook = new Thread(this::killAll, "stop-flink-cluster");

    private JvmParameters jobManagerJvm;
    private JvmParameters taskManagerJvm;
    private RestClient rest;
    private int taskManagersStarted;
    private final AtomicInteger clientsNamed = new AtomicInteger();

    private FlinkCluster(Builder builder) {
        this.distribution = builder.distribution;
        this.directory = builder.directory.toAbsolutePath();
        this.slotsPerTaskManager = builder.slotsPerTaskManager;
        this.preferredRestPort = builder.restPort;
        this.listener = builder.listener;
        this.ports = new Ports(listener);
        this.config = defaults().setAll(builder.overrides);
    }

    public static Builder builder(FlinkDistribution distribution, Path directory) {
        return new Builder(distribution, directory);
    }

    private FlinkConfig defaults() {
        return new FlinkConfig()
                .set("jobmanager.rpc.address", Ports.HOST)
                .set("jobmanager.bind-host", Ports.HOST)
                .set("rest.address", Ports.HOST)
                .set("rest.bind-address", Ports.HOST)
                .set("taskmanager.host", Ports.HOST)
                .set("taskmanager.bind-host", Ports.HOST)
                .set("io.tmp.dirs", directory.resolve("tmp"))
                .set("web.tmpdir", directory.resolve("tmp"))
                .set("execution.checkpointing.dir", checkpoints().toUri())
                .set("execution.checkpointing.savepoint-dir", savepoints().toUri())
                .set("jobmanager.memory.process.size", "768m")
                .set("taskmanager.memory.process.size", "896m")
                .set("taskmanager.memory.network.min", "64m")
                .set("taskmanager.memory.network.max", "64m")
                .set("taskmanager.memory.managed.size", "64m")
                .set("taskmanager.memory.jvm-metaspace.size", "128m")
                // With 64m batch queries find no direct memory and hang for ever.
                .set("taskmanager.memory.framework.off-heap.size", "128m")
                .set("taskmanager.memory.framework.off-heap.batch-shuffle.size", "32m")
                .set("taskmanager.numberOfTaskSlots", slotsPerTaskManager)
                .set("taskmanager.load-balance.mode", "SLOTS")
                .set("jobmanager.execution.failover-strategy", "region")
                // Job details are cached this long; 3 s by default hides a short failover.
                .set("web.refresh-interval", "200")
                .set("cluster.registration.error-delay", "500 ms")
                .set("heartbeat.interval", "1000")
                .set("heartbeat.timeout", "15000");
    }

    // ------------------------------------------------------------------------------------------
    //  Start
    // ------------------------------------------------------------------------------------------

    private void start(int taskManagers, Duration limit) {
        createDirectories();
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            config.writeTo(conf());
            calculateMemory();
            long end = System.nanoTime() + limit.toNanos();
            startJobManager(Duration.ofNanos(end - System.nanoTime()));
            for (int i = 0; i < taskManagers; i++) {
                startTaskManager();
            }
            awaitTaskManagers(taskManagers, Duration.ofNanos(end - System.nanoTime()));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void createDirectories() {
        try {
            for (Path dir :
                    Arrays.asList(
                            conf(),
                            logs(),
                            checkpoints(),
                            savepoints(),
                            directory.resolve("tmp"))) {
                Files.createDirectories(dir);
            }
            try (InputStream in =
                    FlinkCluster.class.getResourceAsStream("/cluster-log4j2.properties")) {
                Files.copy(in, log4jProperties(), StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new ClusterException("cannot prepare the directory " + directory, e);
        }
    }

    /** Both calculations at the same time: each one is a JVM of its own. */
    private void calculateMemory() {
        FlinkProcess forJobManager = calculator("memory-of-jobmanager", "GET_JM_RESOURCE_PARAMS");
        FlinkProcess forTaskManager = calculator("memory-of-taskmanager", "GET_TM_RESOURCE_PARAMS");
        jobManagerJvm = calculated(forJobManager);
        taskManagerJvm = calculated(forTaskManager);
    }

    private FlinkProcess calculator(String name, String command) {
        return start(
                FlinkProcess.launch(
                                FlinkProcess.Role.CLIENT,
                                name,
                                distribution.clusterClassPath(),
                                MEMORY_CALCULATOR)
                        .arguments(command, "--configDir", conf().toString()));
    }

    private JvmParameters calculated(FlinkProcess calculator) {
        int exitCode = awaitExit(calculator, CALCULATOR_LIMIT);
        List<String> answers = new ArrayList<>();
        for (String line : Tail.text(calculator.out()).split("\\R")) {
            if (line.startsWith(MEMORY_ANSWER)) {
                answers.add(line.substring(MEMORY_ANSWER.length()));
            }
        }
        if (exitCode != 0 || answers.size() != 2) {
            throw new ClusterException(
                    String.format(
                            "%s ended with exit code %d and %d of 2 answers; look at %s",
                            calculator.name(), exitCode, answers.size(), calculator.out()));
        }
        return new JvmParameters(words(answers.get(0)), words(answers.get(1)));
    }

    private static List<String> words(String line) {
        return line.trim().isEmpty()
                ? Collections.emptyList()
                : Arrays.asList(line.trim().split("\\s+"));
    }

    private void startJobManager(Duration limit) {
        for (int attempt = 1; ; attempt++) {
            int restPort = ports.pick("the Web UI", preferredRestPort);
            config.set("rest.port", restPort)
                    .set("jobmanager.rpc.port", ports.pick())
                    .set("blob.server.port", ports.pick())
                    .writeTo(conf());
            rest = new RestClient(URI.create("http://" + Ports.HOST + ":" + restPort));
            FlinkProcess jobManager =
                    start(
                            FlinkProcess.launch(
                                            FlinkProcess.Role.JOB_MANAGER,
                                            attempt == 1 ? "jm-1" : "jm-1-attempt-" + attempt,
                                            distribution.clusterClassPath(),
                                            JOB_MANAGER)
                                    .jvm(jobManagerJvm.jvm)
                                    .arguments("--configDir", conf().toString())
                                    .arguments(jobManagerJvm.dynamic));
            try {
                Await.until("the JobManager to answer at " + rest.address(), limit)
                        .unless(jobManager::requireAlive)
                        .lookAt(jobManager.log())
                        .telling(listener)
                        .holds(rest::overview, overview -> true);
                listener.accept(jobManager + " serves the Web UI at " + rest.address());
                return;
            } catch (ClusterException e) {
                boolean portTaken =
                        !jobManager.isAlive()
                                && Tail.mentions(
                                        jobManager.log(),
                                        "BindException",
                                        "Address already in use",
                                        "Could not start rest endpoint on any port");
                if (!portTaken || attempt == PORT_ATTEMPTS) {
                    throw e;
                }
                listener.accept("a port was taken while the JobManager started: trying others");
                processes.remove(jobManager.name());
            }
        }
    }

    /** Starts one more TaskManager; returns before it has registered. */
    public FlinkProcess startTaskManager() {
        String name = "tm-" + ++taskManagersStarted;
        FlinkProcess taskManager =
                start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.TASK_MANAGER,
                                        name,
                                        distribution.clusterClassPath(),
                                        TASK_MANAGER)
                                .jvm(taskManagerJvm.jvm)
                                .arguments("--configDir", conf().toString())
                                .arguments(taskManagerJvm.dynamic)
                                // The REST interface then speaks of processes by our names.
                                .arguments("-D", "taskmanager.resource-id=" + name));
        listener.accept(taskManager + " started, log " + taskManager.log());
        return taskManager;
    }

    /** Waits until exactly so many TaskManagers are registered with all their slots. */
    public void awaitTaskManagers(int count, Duration limit) {
        Await.until(count + " TaskManagers with all their slots", limit)
                .unless(this::requireAllAlive)
                .lookAt(logs())
                .telling(listener)
                .holds(
                        rest::overview,
                        overview ->
                                overview.taskManagers() == count
                                        && overview.slots() == count * slotsPerTaskManager);
    }

    private void requireAllAlive() {
        for (FlinkProcess process : new ArrayList<>(processes.values())) {
            if (process.role().isServer()) {
                process.requireAlive();
            }
        }
    }

    /** Starts a process in the cluster's directory; it ends with the cluster at the latest. */
    public FlinkProcess start(FlinkProcess.Launch launch) {
        FlinkProcess process = launch.start(directory, logs(), log4jProperties());
        processes.put(process.name(), process);
        return process;
    }

    /** A name for a client process that no other has, in the order of the calls. */
    String clientName(String kind, String purpose) {
        return String.format(
                Locale.ROOT, "%s-%02d-%s", kind, clientsNamed.incrementAndGet(), purpose);
    }

    /** Waits for a client to end and returns its exit code; kills it if it is too late. */
    public int awaitExit(FlinkProcess client, Duration limit) {
        try {
            return client.awaitExit(limit);
        } finally {
            processes.remove(client.name());
        }
    }

    // ------------------------------------------------------------------------------------------
    //  Looking at it
    // ------------------------------------------------------------------------------------------

    public RestClient rest() {
        return rest;
    }

    public FlinkDistribution distribution() {
        return distribution;
    }

    public Path directory() {
        return directory;
    }

    public Path conf() {
        return directory.resolve("conf");
    }

    public Path logs() {
        return directory.resolve("log");
    }

    public Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    public Path savepoints() {
        return directory.resolve("savepoints");
    }

    public Path log4jProperties() {
        return conf().resolve("log4j2.properties");
    }

    /** The process of this name, alive or not. */
    public FlinkProcess process(String name) {
        FlinkProcess process = processes.get(name);
        if (process == null) {
            throw new ClusterException(
                    "there is no process " + name + "; there are " + processes.keySet());
        }
        return process;
    }

    // ------------------------------------------------------------------------------------------
    //  Breaking it
    // ------------------------------------------------------------------------------------------

    /** SIGKILL; the process is no longer one of the cluster's afterwards. */
    public void kill(FlinkProcess process) {
        process.kill();
        processes.remove(process.name());
        listener.accept(process + " was killed with SIGKILL");
    }

    // ------------------------------------------------------------------------------------------
    //  End
    // ------------------------------------------------------------------------------------------

    /** Ends every process: SIGTERM, and SIGKILL for those that are still there a little later. */
    @Override
    public void close() {
        List<FlinkProcess> all = new ArrayList<>(processes.values());
        all.forEach(FlinkProcess::terminate);
        long end = System.nanoTime() + TERMINATE_LIMIT.toNanos();
        while (all.stream().anyMatch(FlinkProcess::isAlive) && System.nanoTime() < end) {
            try {
                TimeUnit.MILLISECONDS.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        killAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // This JVM is going down: the hook has run or will, and finds nothing to do.
        }
    }

    private void killAll() {
        new ArrayList<>(processes.values()).forEach(FlinkProcess::kill);
        processes.clear();
    }

    /** What the memory calculator said: options of the JVM, and {@code -D} options of Flink. */
    private static final class JvmParameters {
        private final List<String> jvm;
        private final List<String> dynamic;

        private JvmParameters(List<String> jvm, List<String> dynamic) {
            this.jvm = jvm;
            this.dynamic = dynamic;
        }
    }

    /** Size and options of a cluster. */
    public static final class Builder {
        private final FlinkDistribution distribution;
        private final Path directory;
        private final Map<String, String> overrides = new LinkedHashMap<>();
        private int taskManagers = 1;
        private int slotsPerTaskManager = 2;
        private int restPort = 8081;
        private Consumer<String> listener = line -> {};

        private Builder(FlinkDistribution distribution, Path directory) {
            this.distribution = distribution;
            this.directory = directory;
        }

        public Builder taskManagers(int count) {
            this.taskManagers = count;
            return this;
        }

        public Builder slotsPerTaskManager(int count) {
            this.slotsPerTaskManager = count;
            return this;
        }

        /** Where the Web UI should be; elsewhere if that port is taken. */
        public Builder restPort(int preferred) {
            this.restPort = preferred;
            return this;
        }

        /** An option of Flink on top of the defaults of this class. */
        public Builder config(String key, Object value) {
            overrides.put(key, String.valueOf(value));
            return this;
        }

        /** Who hears what happens to the cluster, line by line. */
        public Builder listener(Consumer<String> listener) {
            this.listener = listener;
            return this;
        }

        /** Starts the cluster and waits until all TaskManagers have registered. */
        public FlinkCluster start(Duration limit) {
            FlinkCluster cluster = new FlinkCluster(this);
            cluster.start(taskManagers, limit);
            return cluster;
        }
    }
}
