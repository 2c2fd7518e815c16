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

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * One server JVM of a service that can be killed, paused, and started again with the same files and
 * ports. Each start has a name and logs of its own ({@code namenode}, {@code namenode-2}, ...).
 */
public final class Server {

    private final ProcessGroup group;
    private final String name;
    private final Command command;
    private final Callable<Boolean> probe;
    private FlinkProcess process;
    private int starts;

    /** Describes the JVM; it may not have been started before under this name. */
    interface Command {
        FlinkProcess.Launch named(String name);
    }

    /**
     * @param probe whether it serves; an exception counts as no
     */
    Server(ProcessGroup group, String name, Command command, Callable<Boolean> probe) {
        this.group = group;
        this.name = name;
        this.command = command;
        this.probe = probe;
    }

    /** Starts it, after {@link #kill()} again, and waits until it serves. */
    public Server start(Duration limit) {
        if (process != null && process.isAlive()) {
            throw new ClusterException(process + " is running; it has to be killed first");
        }
        starts++;
        process = group.start(command.named(starts == 1 ? name : name + "-" + starts));
        return awaitServing(limit);
    }

    /** Waits until it serves. */
    public Server awaitServing(Duration limit) {
        FlinkProcess started = process();
        Await.until(started + " to serve", limit)
                .unless(started::requireAlive)
                .lookAt(started.log() + " and " + started.out())
                .holds(probe, Boolean::booleanValue);
        return this;
    }

    /** The process of the latest start, alive or not. */
    public FlinkProcess process() {
        if (process == null) {
            throw new ClusterException(name + " was not started");
        }
        return process;
    }

    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** SIGKILL; {@link #start} brings it back. */
    public void kill() {
        group.kill(process());
    }

    /** SIGSTOP. */
    public void pause() {
        process().pause();
    }

    /** SIGCONT. */
    public void resume() {
        process().resume();
    }
}
