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

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Starts JobManagers and knows at which port each serves.
 *
 * <p>The first one's ports are in {@code config.yaml}, where clients of a cluster without high
 * availability look for them; each further one gets its own ports on its command line.
 */
final class JobManagers {

    /** How often a JobManager that lost the race for its port is started again. */
    private static final int PORT_ATTEMPTS = 3;

    private final ProcessGroup group;
    private final FlinkConfig config;
    private final List<String> entryPoint;
    private final int preferredRestPort;
    private final Consumer<String> listener;
    private final Ports ports;
    private final Map<Integer, FlinkProcess> byRestPort = new LinkedHashMap<>();
    private int started;

    /**
     * @param entryPoint the main class, and its arguments after {@code --configDir}
     */
    JobManagers(
            ProcessGroup group,
            FlinkConfig config,
            List<String> entryPoint,
            int preferredRestPort,
            Consumer<String> listener) {
        this.group = group;
        this.config = config;
        this.entryPoint = entryPoint;
        this.preferredRestPort = preferredRestPort;
        this.listener = listener;
        this.ports = new Ports(listener);
    }

    /** How often a text occurs in the logs of all of them, also of those that have ended. */
    long linesLogged(String text) {
        return byRestPort.values().stream().mapToLong(jm -> jm.linesLogged(text).size()).sum();
    }

    /** Starts the one whose ports clients find in {@code config.yaml}. */
    FlinkProcess startFirst(String classPath, ProcessMemory memory, Duration limit) {
        byRestPort.clear();
        String name = "jm-" + ++started;
        for (int attempt = 1; ; attempt++) {
            int restPort = ports.pick("the Web UI", preferredRestPort);
            int rpcPort = ports.pick();
            config.set("rest.port", restPort)
                    .set("jobmanager.rpc.port", rpcPort)
                    .set("high-availability.jobmanager.port", rpcPort)
                    .set("blob.server.port", ports.pick())
                    .writeTo(group.conf());
            FlinkProcess process =
                    launch(
                            attempt == 1 ? name : name + "-attempt-" + attempt,
                            classPath,
                            memory,
                            new ArrayList<>());
            try {
                awaitServing(process, restPort, limit);
                return process;
            } catch (ClusterException e) {
                if (!lostItsPort(process) || attempt == PORT_ATTEMPTS) {
                    throw e;
                }
                listener.accept("a port was taken while the JobManager started: trying others");
                group.kill(process);
            }
        }
    }

    /** Starts one more, which leads when no other does; returns when it serves. */
    FlinkProcess startStandby(String classPath, ProcessMemory memory, Duration limit) {
        String name = "jm-" + ++started;
        int restPort = ports.pick();
        int rpcPort = ports.pick();
        List<String> own = new ArrayList<>();
        option(own, "rest.port", restPort);
        option(own, "jobmanager.rpc.port", rpcPort);
        option(own, "high-availability.jobmanager.port", rpcPort);
        option(own, "blob.server.port", ports.pick());
        FlinkProcess process = launch(name, classPath, memory, own);
        awaitServing(process, restPort, limit);
        return process;
    }

    private static void option(List<String> arguments, String key, Object value) {
        arguments.add("-D");
        arguments.add(key + "=" + value);
    }

    private FlinkProcess launch(
            String name, String classPath, ProcessMemory memory, List<String> own) {
        return group.start(
                FlinkProcess.launch(
                                FlinkProcess.Role.JOB_MANAGER, name, classPath, entryPoint.get(0))
                        .jvm(memory.jvm())
                        .arguments("--configDir", group.conf().toString())
                        .arguments(memory.dynamic())
                        .arguments(own)
                        .arguments(entryPoint.subList(1, entryPoint.size())));
    }

    private void awaitServing(FlinkProcess process, int restPort, Duration limit) {
        RestClient rest = new RestClient(address(restPort));
        Await.until(process + " to answer at " + rest.address(), limit)
                .unless(process::requireAlive)
                .lookAt(process.log())
                .telling(listener)
                .holds(rest::overview, overview -> true);
        byRestPort.put(restPort, process);
        listener.accept(process + " serves the Web UI at " + rest.address());
    }

    private static boolean lostItsPort(FlinkProcess process) {
        return !process.isAlive()
                && Tail.mentions(
                        process.log(),
                        "BindException",
                        "Address already in use",
                        "Could not start rest endpoint on any port");
    }

    /** The address that is in {@code config.yaml}. */
    URI firstAddress() {
        return address(Integer.parseInt(config.options().get("rest.port")));
    }

    /** Whose Web UI is at this address. */
    FlinkProcess at(URI address) {
        FlinkProcess process = byRestPort.get(address.getPort());
        if (process == null) {
            throw new ClusterException(
                    "no JobManager of this cluster serves at "
                            + address
                            + "; there are at ports "
                            + byRestPort);
        }
        return process;
    }

    private static URI address(int restPort) {
        return URI.create("http://" + Ports.HOST + ":" + restPort);
    }
}
