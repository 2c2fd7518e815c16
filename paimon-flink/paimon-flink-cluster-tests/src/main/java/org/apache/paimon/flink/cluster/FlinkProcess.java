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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One JVM of the cluster, a service beside it, or a client of it: a name, a pid, a log file, and
 * the ways to end it.
 *
 * <p>Every process runs under {@link ParentGuard}. Thread-safe as far as {@link Process} is.
 */
public final class FlinkProcess {

    /** What a process is there for. */
    public enum Role {
        JOB_MANAGER,
        TASK_MANAGER,
        /** Kafka, ZooKeeper, HDFS and the like. */
        SERVICE,
        /** Ends by itself when its work is done. */
        CLIENT;

        boolean isServer() {
            return this != CLIENT;
        }
    }

    private static final Duration SIGNAL_LIMIT = Duration.ofSeconds(10);

    private final Role role;
    private final String name;
    private final ProcessStarter starter;
    private final Process process;
    private final Path log;
    private final Path out;

    private FlinkProcess(
            Role role, String name, ProcessStarter starter, Process process, Path log, Path out) {
        this.starter = starter;
        this.role = role;
        this.name = name;
        this.process = process;
        this.log = log;
        this.out = out;
    }

    /** Describes a process to start. */
    public static Launch launch(Role role, String name, String classPath, String mainClass) {
        return new Launch(role, name, classPath, mainClass);
    }

    public Role role() {
        return role;
    }

    public String name() {
        return name;
    }

    public long pid() {
        return process.pid();
    }

    /** The lines of its log that hold a text. */
    public List<String> linesLogged(String text) {
        return Arrays.stream(Tail.text(log).split("\\R"))
                .filter(line -> line.contains(text))
                .collect(Collectors.toList());
    }

    /** Log4j's file. */
    public Path log() {
        return log;
    }

    /** Standard output and standard error. */
    public Path out() {
        return out;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Throws, with the end of its output, if the process is dead. */
    public void requireAlive() {
        if (!process.isAlive()) {
            throw new ClusterException(
                    String.format(
                            "%s (pid %d) ended with exit code %d; look at %s and %s%s",
                            name,
                            pid(),
                            process.exitValue(),
                            log,
                            out,
                            Tail.of(out, 5).isEmpty() ? "" : ", which ends: " + Tail.of(out, 5)));
        }
    }

    /** Waits for the process to end by itself and returns its exit code; kills it if too late. */
    public int awaitExit(Duration limit) {
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return process.exitValue();
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while waiting for " + name, e);
        }
        kill();
        throw new ClusterException(
                String.format(
                        "%s (pid %d) was not done within %d s and has been killed; look at %s and"
                                + " %s",
                        name, pid(), limit.getSeconds(), log, out));
    }

    /** SIGKILL: no shutdown hook runs, no connection is closed in good order. Returns when dead. */
    public void kill() {
        process.destroyForcibly();
        boolean interrupted = false;
        long end = System.nanoTime() + SIGNAL_LIMIT.toNanos();
        while (process.isAlive() && System.nanoTime() < end) {
            try {
                process.waitFor(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (process.isAlive()) {
            throw new ClusterException(name + " (pid " + pid() + ") survived SIGKILL");
        }
    }

    /** SIGTERM; returns at once. */
    public void terminate() {
        process.destroy();
    }

    /**
     * SIGSTOP: alive, but not running until {@link #resume()}. {@link #kill()} works on it, too.
     */
    public void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String signal) {
        requireAlive();
        try {
            starter.signal(process, signal);
        } catch (IOException e) {
            throw new ClusterException("cannot send SIG" + signal + " to " + this, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while signalling " + this, e);
        }
    }

    @Override
    public String toString() {
        return name + " (pid " + pid() + ")";
    }

    /** What is needed to start one JVM. */
    public static final class Launch {

        private final Role role;
        private final String name;
        private final String classPath;
        private final String mainClass;
        private final List<String> jvmOptions = new ArrayList<>();
        private final List<String> arguments = new ArrayList<>();
        private final Map<String, String> environment = new LinkedHashMap<>();

        private Launch(Role role, String name, String classPath, String mainClass) {
            this.role = role;
            this.name = name;
            this.classPath = classPath;
            this.mainClass = mainClass;
        }

        public Launch jvm(List<String> options) {
            jvmOptions.addAll(options);
            return this;
        }

        public Launch jvm(String... options) {
            Collections.addAll(jvmOptions, options);
            return this;
        }

        public Launch arguments(List<String> more) {
            arguments.addAll(more);
            return this;
        }

        public Launch arguments(String... more) {
            Collections.addAll(arguments, more);
            return this;
        }

        public Launch environment(String key, Object value) {
            environment.put(key, value.toString());
            return this;
        }

        /** Starts the JVM in {@code directory} with its logs in {@code logDirectory}. */
        public FlinkProcess start(Path directory, Path logDirectory, Path log4jProperties) {
            return start(ProcessStarter.LOCAL, directory, logDirectory, log4jProperties);
        }

        /** Likewise, on this machine or elsewhere. */
        FlinkProcess start(
                ProcessStarter starter, Path directory, Path logDirectory, Path log4jProperties) {
            Path log = logDirectory.resolve(name + ".log");
            Path out = logDirectory.resolve(name + ".out");
            List<String> command = new ArrayList<>(FlinkDistribution.quickStart());
            command.addAll(jvmOptions);
            command.addAll(FlinkDistribution.opens());
            command.add("-Dlog.file=" + log);
            command.add("-Dlog4j.configurationFile=" + log4jProperties.toUri());
            command.add("-cp");
            command.add(classPath);
            command.add(ParentGuard.class.getName());
            command.add(mainClass);
            command.addAll(arguments);
            try {
                Files.write(
                        logDirectory.resolve(name + ".command"),
                        (String.join("\n", command) + "\n").getBytes(StandardCharsets.UTF_8));
                Process process = starter.start(name, command, environment, directory, out);
                return new FlinkProcess(role, name, starter, process, log, out);
            } catch (IOException e) {
                throw new ClusterException("cannot start " + name + ": " + e.getMessage(), e);
            }
        }
    }
}
