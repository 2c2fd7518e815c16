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
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Where the processes of a cluster run: on this machine, or each in a container. */
public interface ProcessStarter {

    /** Processes of this machine; the default, which needs nothing. */
    ProcessStarter LOCAL = new LocalProcessStarter();

    /**
     * Starts a JVM.
     *
     * @param command the options of {@code java} and what comes behind them
     * @param environment variables on top of what this JVM has
     * @param out the file for its standard output and standard error
     */
    Process start(
            String name,
            List<String> command,
            Map<String, String> environment,
            Path directory,
            Path out)
            throws IOException;

    /** Sends a signal, such as {@code STOP}; throws if it was not sent. */
    void signal(Process process, String signal) throws IOException, InterruptedException;
}
