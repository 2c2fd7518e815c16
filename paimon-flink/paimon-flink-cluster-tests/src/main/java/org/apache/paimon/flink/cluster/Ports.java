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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Picks TCP ports of 127.0.0.1 for processes that are about to start, never the same one twice.
 *
 * <p>Between the pick and the bind another process may take the port. {@link FlinkCluster} then
 * finds its process dead with a bind error and asks for another one.
 */
public final class Ports {

    /** The only address anything of ours listens on. */
    public static final String HOST = "127.0.0.1";

    private static final int CONNECT_MILLIS = 1_000;

    /**
     * A port in the ephemeral range may be taken by any connection that is opened between pick and
     * bind; Linux has the lowest such range.
     */
    private static final int FIRST_EPHEMERAL = 32_768;

    private static final int LOWEST = 12_000;

    private final Set<Integer> given = new HashSet<>();
    private final Consumer<String> log;

    public Ports(Consumer<String> log) {
        this.log = log;
    }

    /** The preferred port if it is free, else any free one, which is said in the log. */
    public synchronized int pick(String purpose, int preferred) {
        if (!given.contains(preferred) && isFree(preferred)) {
            given.add(preferred);
            return preferred;
        }
        int port = pick();
        log.accept(
                String.format(
                        "port %d for %s is taken on %s: using %d", preferred, purpose, HOST, port));
        return port;
    }

    /** Any free port that no outgoing connection gets from the operating system. */
    public synchronized int pick() {
        for (int attempt = 0; attempt < 1_000; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, FIRST_EPHEMERAL);
            if (!given.contains(port) && isFree(port)) {
                given.add(port);
                return port;
            }
        }
        throw new ClusterException(
                String.format(
                        "no free port on %s between %d and %d", HOST, LOWEST, FIRST_EPHEMERAL));
    }

    /** Whether somebody accepts connections at a port of this host. */
    static boolean answers(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(HOST, port), CONNECT_MILLIS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = bound(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static ServerSocket bound(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByName(HOST), port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
