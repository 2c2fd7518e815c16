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

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A Flink cluster of separate JVMs on 127.0.0.1, and the hands that break it.
 *
 * <p>Used from one thread, except {@link #close()}. How its processes end is said at {@link
 * ProcessGroup}.
 *
 * <p>Everything it writes lies under one directory, unless its storage is elsewhere:
 *
 * <pre>
 * conf/                     config.yaml, log4j2.properties
 * log/NAME.log|.out|.command   one set per process
 * tmp/ checkpoints/ savepoints/ ha/
 * </pre>
 */
public final class FlinkCluster implements AutoCloseable {

    private static final String TASK_MANAGER =
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";

    /** Names the cluster in ZooKeeper. */
    private static final String CLUSTER_ID = "cluster";

    private final FlinkClusterOptions options;
    private final Consumer<String> listener;
    private final FlinkConfig config;
    private final ProcessGroup group;
    private final JobManagers jobManagers;
    private final RestClient rest;
    private final AtomicInteger clientsNamed = new AtomicInteger();

    private FlinkDistribution distribution;
    private ProcessMemory jobManagerMemory;
    private ProcessMemory taskManagerMemory;
    private int taskManagersStarted;

    FlinkCluster(FlinkClusterOptions options) {
        this.options = options;
        this.distribution = options.distribution;
        this.listener = options.listener;
        this.config = defaults();
        if (options.zooKeeper != null) {
            setHighAvailability();
        }
        config.setAll(options.overrides);
        this.group = new ProcessGroup("flink-cluster", options.directory, distribution.starter());
        options.environment.forEach(group::environment);
        this.jobManagers =
                new JobManagers(group, config, options.entryPoint, options.restPort, listener);
        this.rest = new RestClient(this::leaderAddress);
    }

    public static FlinkClusterOptions builder(FlinkDistribution distribution, Path directory) {
        return new FlinkClusterOptions(distribution, directory);
    }

    private FlinkConfig defaults() {
        return new FlinkConfig()
                .set("jobmanager.rpc.address", Ports.HOST)
                .set("jobmanager.bind-host", Ports.HOST)
                .set("rest.address", Ports.HOST)
                .set("rest.bind-address", Ports.HOST)
                .set("taskmanager.host", Ports.HOST)
                .set("taskmanager.bind-host", Ports.HOST)
                .set("io.tmp.dirs", directory().resolve("tmp"))
                .set("web.tmpdir", directory().resolve("tmp"))
                .set("execution.checkpointing.dir", storage("checkpoints"))
                .set("execution.checkpointing.savepoint-dir", storage("savepoints"))
                .set("jobmanager.memory.process.size", "768m")
                .set("taskmanager.memory.process.size", "896m")
                .set("taskmanager.memory.network.min", "64m")
                .set("taskmanager.memory.network.max", "64m")
                .set("taskmanager.memory.managed.size", "64m")
                .set("taskmanager.memory.jvm-metaspace.size", "128m")
                // With 64m batch queries find no direct memory and hang for ever.
                .set("taskmanager.memory.framework.off-heap.size", "128m")
                .set("taskmanager.memory.framework.off-heap.batch-shuffle.size", "32m")
                .set("taskmanager.numberOfTaskSlots", options.slotsPerTaskManager)
                .set("taskmanager.load-balance.mode", "SLOTS")
                .set("jobmanager.execution.failover-strategy", "region")
                // Job details are cached this long; 3 s by default hides a short failover.
                .set("web.refresh-interval", "200")
                .set("cluster.registration.error-delay", "500 ms")
                .set("heartbeat.interval", "1000")
                .set("heartbeat.timeout", "15000");
    }

    private void setHighAvailability() {
        config.set("high-availability.type", "zookeeper")
                .set("high-availability.zookeeper.quorum", options.zooKeeper)
                .set("high-availability.cluster-id", CLUSTER_ID)
                .set("high-availability.storageDir", storage("ha"))
                .set("high-availability.zookeeper.client.session-timeout", "4000")
                .set("high-availability.zookeeper.client.connection-timeout", "3000")
                .set("high-availability.zookeeper.client.retry-wait", "500");
    }

    // ------------------------------------------------------------------------------------------
    //  Start
    // ------------------------------------------------------------------------------------------

    void start(Duration limit) {
        try {
            createDirectories();
            startProcesses(limit);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Ends all processes and starts as many anew, with another Paimon jar: an upgrade. */
    public void restartWith(Path paimonJar, Duration limit) {
        group.endProcesses();
        distribution = distribution.withPaimonJar(paimonJar);
        startProcesses(limit);
    }

    private void startProcesses(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        config.writeTo(conf());
        List<ProcessMemory> memory = ProcessMemory.calculate(group, classPath());
        jobManagerMemory = memory.get(0);
        taskManagerMemory = memory.get(1);
        jobManagers.startFirst(classPath(), jobManagerMemory, left(end));
        for (int i = 0; i < options.taskManagers; i++) {
            startTaskManager();
        }
        for (int i = 0; i < options.standbyJobManagers; i++) {
            startJobManager(left(end));
        }
        awaitTaskManagers(options.taskManagers, left(end));
    }

    private static Duration left(long endNanos) {
        return Duration.ofNanos(endNanos - System.nanoTime());
    }

    private void createDirectories() {
        try {
            for (Path dir :
                    Arrays.asList(checkpoints(), savepoints(), directory().resolve("tmp"))) {
                Files.createDirectories(dir);
            }
        } catch (IOException e) {
            throw new ClusterException("cannot prepare the directory " + directory(), e);
        }
    }

    private String classPath() {
        return withLibJars(distribution.clusterClassPath());
    }

    /** Of a client that runs in this cluster. */
    String withLibJars(String classPath) {
        return options.libJars.isEmpty()
                ? classPath
                : classPath
                        + File.pathSeparator
                        + options.libJars.stream()
                                .map(Path::toString)
                                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Starts one more JobManager, in the place of one that was killed or beside those there. */
    public FlinkProcess startJobManager(Duration limit) {
        return jobManagers.startStandby(classPath(), jobManagerMemory, limit);
    }

    /** Starts one more TaskManager; returns before it has registered. */
    public FlinkProcess startTaskManager() {
        String name = "tm-" + ++taskManagersStarted;
        FlinkProcess taskManager =
                start(
                        FlinkProcess.launch(
                                        FlinkProcess.Role.TASK_MANAGER,
                                        name,
                                        classPath(),
                                        TASK_MANAGER)
                                .jvm(taskManagerMemory.jvm())
                                .arguments("--configDir", conf().toString())
                                .arguments(taskManagerMemory.dynamic())
                                // The REST interface then speaks of processes by our names.
                                .arguments("-D", "taskmanager.resource-id=" + name));
        listener.accept(taskManager + " started, log " + taskManager.log());
        return taskManager;
    }

    /** Waits until exactly so many TaskManagers are registered with all their slots. */
    public void awaitTaskManagers(int count, Duration limit) {
        Await.until(count + " TaskManagers with all their slots", limit)
                .unless(group::requireServersAlive)
                .lookAt(logs())
                .telling(listener)
                .holds(
                        rest::overview,
                        overview ->
                                overview.taskManagers() == count
                                        && overview.slots() == count * options.slotsPerTaskManager);
    }

    /**
     * Starts a JobManager or TaskManager for each that ended by itself, as a supervisor does: Flink
     * ends its processes when ZooKeeper does not answer for too long.
     */
    public void replaceDead(Duration limit) {
        for (FlinkProcess process : group.servers()) {
            if (process.isAlive() || process.role() == FlinkProcess.Role.SERVICE) {
                continue;
            }
            listener.accept(process + " ended by itself and is replaced");
            group.kill(process);
            if (process.role() == FlinkProcess.Role.JOB_MANAGER) {
                startJobManager(limit);
            } else {
                startTaskManager();
            }
        }
    }

    /** Starts a process in the cluster's directory; it ends with the cluster at the latest. */
    public FlinkProcess start(FlinkProcess.Launch launch) {
        return group.start(launch);
    }

    /** A name for a client process that no other has, in the order of the calls. */
    String clientName(String kind, String purpose) {
        return String.format(
                Locale.ROOT, "%s-%02d-%s", kind, clientsNamed.incrementAndGet(), purpose);
    }

    /** Waits for a client to end and returns its exit code; kills it if it is too late. */
    public int awaitExit(FlinkProcess client, Duration limit) {
        return group.awaitExit(client, limit);
    }

    // ------------------------------------------------------------------------------------------
    //  Looking at it
    // ------------------------------------------------------------------------------------------

    /** The REST interface of the JobManager that leads. */
    public RestClient rest() {
        return rest;
    }

    /** The JobManager that leads; throws while there is none. */
    public FlinkProcess leader() {
        return jobManagers.at(leaderAddress());
    }

    /**
     * Cancels a job on the coordinator path, and waits until its coordinator has ended. Flink says
     * that a job is cancelled while a commit may still be under way, whose snapshot would appear in
     * a table that is rolled back meanwhile.
     *
     * @param table the table's directory, without its path
     */
    public void cancel(String job, String table, Duration limit) {
        String ended = "/" + table + " has ended.";
        long before = jobManagers.linesLogged(ended);
        rest.cancel(job);
        Await.until("the coordinator that commits to " + table + " to end", limit)
                .lookAt(logs())
                .holds(() -> jobManagers.linesLogged(ended), lines -> lines > before);
    }

    private URI leaderAddress() {
        if (options.zooKeeper == null) {
            return jobManagers.firstAddress();
        }
        return ZooKeeperNodes.leader(options.zooKeeper, CLUSTER_ID)
                .orElseThrow(() -> new ClusterException("no JobManager leads; look at " + logs()));
    }

    public FlinkDistribution distribution() {
        return distribution;
    }

    public Path directory() {
        return options.directory;
    }

    public Path conf() {
        return group.conf();
    }

    public Path logs() {
        return group.logs();
    }

    /** The local directory of the checkpoints, unless the storage is elsewhere. */
    public Path checkpoints() {
        return directory().resolve("checkpoints");
    }

    /** The local directory of the savepoints, unless the storage is elsewhere. */
    public Path savepoints() {
        return directory().resolve("savepoints");
    }

    /** A directory of the storage: {@code checkpoints}, {@code savepoints} or {@code ha}. */
    public URI storage(String name) {
        return URI.create(options.storage + "/" + name);
    }

    public Path log4jProperties() {
        return group.log4jProperties();
    }

    /** The process of this name, alive or not. */
    public FlinkProcess process(String name) {
        return group.process(name);
    }

    // ------------------------------------------------------------------------------------------
    //  Breaking it
    // ------------------------------------------------------------------------------------------

    /** SIGKILL; the process is no longer one of the cluster's afterwards. */
    public void kill(FlinkProcess process) {
        group.kill(process);
        listener.accept(process + " was killed with SIGKILL");
    }

    /** SIGSTOP: the process is alive, but does nothing until {@link #resume}. */
    public void pause(FlinkProcess process) {
        process.pause();
        listener.accept(process + " was paused with SIGSTOP");
    }

    /** SIGCONT. */
    public void resume(FlinkProcess process) {
        process.resume();
        listener.accept(process + " goes on after SIGCONT");
    }

    /** Ends every process. */
    @Override
    public void close() {
        group.close();
    }
}
