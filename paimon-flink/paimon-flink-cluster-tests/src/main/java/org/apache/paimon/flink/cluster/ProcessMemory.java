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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What Flink's own memory calculator says for one kind of process. */
final class ProcessMemory {

    private static final String CALCULATOR = "org.apache.flink.runtime.util.bash.BashJavaUtils";
    private static final String ANSWER = "BASH_JAVA_UTILS_EXEC_RESULT:";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<String> jvm;
    private final List<String> dynamic;

    private ProcessMemory(List<String> jvm, List<String> dynamic) {
        this.jvm = jvm;
        this.dynamic = dynamic;
    }

    /** For a JobManager and for a TaskManager, in this order. */
    static List<ProcessMemory> calculate(ProcessGroup group, String classPath) {
        // Both at the same time: each calculation is a JVM of its own.
        FlinkProcess jobManager =
                calculator(group, classPath, "memory-of-jobmanager", "GET_JM_RESOURCE_PARAMS");
        FlinkProcess taskManager =
                calculator(group, classPath, "memory-of-taskmanager", "GET_TM_RESOURCE_PARAMS");
        return Arrays.asList(calculated(group, jobManager), calculated(group, taskManager));
    }

    private static FlinkProcess calculator(
            ProcessGroup group, String classPath, String name, String command) {
        return group.start(
                FlinkProcess.launch(FlinkProcess.Role.CLIENT, name, classPath, CALCULATOR)
                        .arguments(command, "--configDir", group.conf().toString()));
    }

    private static ProcessMemory calculated(ProcessGroup group, FlinkProcess calculator) {
        int exitCode = group.awaitExit(calculator, LIMIT);
        List<String> answers = new ArrayList<>();
        for (String line : Tail.text(calculator.out()).split("\\R")) {
            if (line.startsWith(ANSWER)) {
                answers.add(line.substring(ANSWER.length()));
            }
        }
        if (exitCode != 0 || answers.size() != 2) {
            throw new ClusterException(
                    String.format(
                            "%s ended with exit code %d and %d of 2 answers; look at %s",
                            calculator.name(), exitCode, answers.size(), calculator.out()));
        }
        return new ProcessMemory(words(answers.get(0)), words(answers.get(1)));
    }

    private static List<String> words(String line) {
        return line.trim().isEmpty()
                ? Collections.emptyList()
                : Arrays.asList(line.trim().split("\\s+"));
    }

    /** Options of the JVM. */
    List<String> jvm() {
        return jvm;
    }

    /** {@code -D} options of Flink. */
    List<String> dynamic() {
        return dynamic;
    }
}
