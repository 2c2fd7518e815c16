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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The processes that live in one directory and end together.
 *
 * <p>They end with {@link #close()}, with this JVM's orderly end (hook), and with its sudden end
 * ({@link ParentGuard}). Used from one thread, except {@link #close()}, which any thread may call.
 *
 * <pre>
 * conf/                        log4j2.properties, and what the owner puts there
 * log/NAME.log|.out|.command   one set per process
 * </pre>
 */
public final class ProcessGroup implements AutoCloseable {

    private static final Duration TERMINATE_LIMIT = Duration.ofSeconds(5);

    private final Path directory;
    private final ProcessStarter starter;
    private final Map<String, FlinkProcess> processes =
            Collections.synchronizedMap(new LinkedHashMap<>());
    private final Map<String, Object> environment = new LinkedHashMap<>();
    private final Thread hook;

    /**
     * @param name names the group in this JVM's shutdown hook
     */
    public ProcessGroup(String name, Path directory, ProcessStarter starter) {
        this.starter = starter;
        this.directory = directory.toAbsolutePath();
        this.hook = new Thread(this::killAll, "stop-" + name);
        try {
            Files.createDirectories(conf());
            Files.createDirectories(logs());
            try (InputStream in =
                    ProcessGroup.class.getResourceAsStream("/cluster-log4j2.properties")) {
                Files.copy(in, log4jProperties(), StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (IOException e) {
            throw new ClusterException("cannot prepare the directory " + directory, e);
        }
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** A variable for every process that starts from now on. */
    public ProcessGroup environment(String key, Object value) {
        environment.put(key, value);
        return this;
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

    public Path log4jProperties() {
        return conf().resolve("log4j2.properties");
    }

    /** Starts a process in the group's directory. */
    public FlinkProcess start(FlinkProcess.Launch launch) {
        environment.forEach(launch::environment);
        FlinkProcess process = launch.start(starter, directory, logs(), log4jProperties());
        processes.put(process.name(), process);
        return process;
    }

    /** The process of this name, alive or not, unless it was killed or forgotten. */
    public FlinkProcess process(String name) {
        FlinkProcess process = processes.get(name);
        if (process == null) {
            throw new ClusterException(
                    "there is no process " + name + "; there are " + processes.keySet());
        }
        return process;
    }

    /** The processes that are there to stay until they are ended. */
    public List<FlinkProcess> servers() {
        List<FlinkProcess> servers = new ArrayList<>();
        for (FlinkProcess process : all()) {
            if (process.role().isServer()) {
                servers.add(process);
            }
        }
        return servers;
    }

    public void requireServersAlive() {
        servers().forEach(FlinkProcess::requireAlive);
    }

    /** Waits for a client to end and returns its exit code; kills it if it is too late. */
    public int awaitExit(FlinkProcess client, Duration limit) {
        try {
            return client.awaitExit(limit);
        } finally {
            processes.remove(client.name());
        }
    }

    /** SIGKILL; the process is no longer one of the group afterwards. */
    public void kill(FlinkProcess process) {
        process.kill();
        processes.remove(process.name());
    }

    /** Ends all processes: SIGTERM, and SIGKILL for those that are still there a little later. */
    public void endProcesses() {
        List<FlinkProcess> all = all();
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
    }

    /** Ends all processes for good. */
    @Override
    public void close() {
        endProcesses();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // This JVM is going down: the hook has run or will, and finds nothing to do.
        }
    }

    private List<FlinkProcess> all() {
        synchronized (processes) {
            return new ArrayList<>(processes.values());
        }
    }

    private void killAll() {
        all().forEach(FlinkProcess::kill);
        processes.clear();
    }
}
