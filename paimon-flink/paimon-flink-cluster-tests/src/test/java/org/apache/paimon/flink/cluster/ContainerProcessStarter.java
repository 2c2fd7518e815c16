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

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotFoundException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.utility.DockerImageName;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Starts each process in a container of its own: the same classes in a plain JDK image, on the
 * host's network and with the host's files at the same paths.
 *
 * <p>Nobody writes to a container's standard input, which stays open, so that {@link ParentGuard}
 * has nothing to do there; Testcontainers removes what this JVM leaves behind.
 */
final class ContainerProcessStarter implements ProcessStarter {

    private static final DockerImageName IMAGE =
            DockerImageName.parse("eclipse-temurin:17.0.15_6-jdk");

    private final List<Path> mounted;

    /**
     * @param mounted the directories that the processes see
     */
    ContainerProcessStarter(List<Path> mounted) {
        this.mounted = mounted;
    }

    /** Whether a Docker engine answers. */
    static boolean isAvailable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    @Override
    @SuppressWarnings("resource") // The process ends the container.
    public Process start(
            String name,
            List<String> command,
            Map<String, String> environment,
            Path directory,
            Path out)
            throws IOException {
        List<String> words = new ArrayList<>();
        words.add("java");
        words.addAll(command);
        Files.write(out, new byte[0]);
        GenericContainer<?> container =
                new GenericContainer<>(IMAGE)
                        .withNetworkMode("host")
                        .withEnv(environment)
                        .withCommand(words.toArray(new String[0]))
                        .withStartupCheckStrategy(new Started())
                        .withLogConsumer(frame -> append(out, frame.getBytes()))
                        .withCreateContainerCmdModifier(
                                create ->
                                        create.withStdinOpen(true)
                                                .withWorkingDir(directory.toString()));
        for (Path path : mounted) {
            container.withFileSystemBind(path.toString(), path.toString(), BindMode.READ_WRITE);
        }
        container.start();
        return new ContainerProcess(container);
    }

    private static void append(Path out, byte[] bytes) {
        if (bytes == null) {
            return;
        }
        try {
            Files.write(out, bytes, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void signal(Process process, String signal) {
        ((ContainerProcess) process).signal(signal);
    }

    /** A client may have ended already, whatever its exit code. */
    private static final class Started extends StartupCheckStrategy {
        @Override
        public StartupStatus checkStartupState(DockerClient client, String containerId) {
            InspectContainerResponse.ContainerState state = getCurrentState(client, containerId);
            return "created".equals(state.getStatus())
                    ? StartupStatus.NOT_YET_KNOWN
                    : StartupStatus.SUCCESSFUL;
        }
    }

    /** The main process of a container. */
    private static final class ContainerProcess extends Process {

        private static final long POLL_MILLIS = 200;

        private final GenericContainer<?> container;
        private final String id;
        private final long pid;

        /** Its exit code; null while it runs. */
        private volatile Integer exitCode;

        private ContainerProcess(GenericContainer<?> container) {
            this.container = container;
            this.id = container.getContainerId();
            Long found = state().getPidLong();
            this.pid = found == null ? 0 : found;
        }

        private InspectContainerResponse.ContainerState state() {
            return container.getDockerClient().inspectContainerCmd(id).exec().getState();
        }

        private void signal(String signal) {
            container.getDockerClient().killContainerCmd(id).withSignal(signal).exec();
        }

        @Override
        public boolean isAlive() {
            if (exitCode == null) {
                try {
                    InspectContainerResponse.ContainerState state = state();
                    if (!Boolean.TRUE.equals(state.getRunning())) {
                        Long code = state.getExitCodeLong();
                        exitCode = code == null ? -1 : code.intValue();
                        container.stop();
                    }
                } catch (NotFoundException e) {
                    exitCode = -1;
                }
            }
            return exitCode == null;
        }

        @Override
        public int exitValue() {
            if (isAlive()) {
                throw new IllegalThreadStateException("container " + id + " runs");
            }
            return exitCode;
        }

        @Override
        public int waitFor() throws InterruptedException {
            while (!waitFor(1, TimeUnit.MINUTES)) {
                // It runs.
            }
            return exitCode;
        }

        @Override
        public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
            long end = System.nanoTime() + unit.toNanos(timeout);
            while (isAlive()) {
                if (System.nanoTime() >= end) {
                    return false;
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
            return true;
        }

        @Override
        public void destroy() {
            signalIfAlive("TERM");
        }

        @Override
        public Process destroyForcibly() {
            signalIfAlive("KILL");
            return this;
        }

        private void signalIfAlive(String signal) {
            if (isAlive()) {
                try {
                    signal(signal);
                } catch (ConflictException | NotFoundException e) {
                    // It ended meanwhile.
                }
            }
        }

        @Override
        public long pid() {
            return pid;
        }

        @Override
        public OutputStream getOutputStream() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public InputStream getInputStream() {
            return InputStream.nullInputStream();
        }

        @Override
        public InputStream getErrorStream() {
            return InputStream.nullInputStream();
        }
    }
}
