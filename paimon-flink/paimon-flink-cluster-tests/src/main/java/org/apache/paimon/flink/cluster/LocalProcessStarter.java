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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts processes of this machine. */
final class LocalProcessStarter implements ProcessStarter {

    private static final int SIGNAL_SECONDS = 10;

    @Override
    public Process start(
            String name,
            List<String> command,
            Map<String, String> environment,
            Path directory,
            Path out)
            throws IOException {
        List<String> words = new ArrayList<>();
        words.add(FlinkDistribution.java().toString());
        words.addAll(command);
        ProcessBuilder builder =
                new ProcessBuilder(words)
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile());
        // A Flink installation of the caller must not leak in.
        builder.environment().keySet().removeIf(key -> key.startsWith("FLINK_"));
        builder.environment().remove("HADOOP_CONF_DIR");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().putAll(environment);
        return builder.start();
    }

    @Override
    public void signal(Process process, String signal) throws IOException, InterruptedException {
        Process kill =
                new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                        .redirectErrorStream(true)
                        .start();
        if (!kill.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
            kill.destroyForcibly();
            throw new IOException("process " + process.pid() + " took no SIG" + signal);
        }
    }
}
