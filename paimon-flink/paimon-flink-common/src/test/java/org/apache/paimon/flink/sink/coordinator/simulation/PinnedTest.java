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

package org.apache.paimon.flink.sink.coordinator.simulation;

import java.util.Locale;

/** Prints a schedule as the body of a plain test. */
final class PinnedTest {

    private PinnedTest() {}

    static String print(long seed, Schedule.Outcome failed) {
        RunConfig config = failed.schedule.config;
        StringBuilder code = new StringBuilder();
        code.append("    /** ").append(oneLine(failed.violation)).append(" */\n");
        code.append("    @Test\n");
        code.append("    void ")
                .append(config.mode.name().toLowerCase(Locale.ROOT))
                .append("Seed")
                .append(seed)
                .append("() {\n");
        code.append("        scenario(Mode.").append(config.mode);
        code.append(", ").append(config.parallelism).append(")\n");
        if (config.maxPartBytes < 1 << 20) {
            code.append("                .maxPartBytes(").append(config.maxPartBytes).append(")\n");
        }
        if (config.forceSnapshots) {
            code.append("                .forceSnapshots()\n");
        }
        if (!config.autoTag) {
            code.append("                .withoutTags()\n");
        }
        for (Step step : failed.schedule.steps) {
            code.append("                .then(StepKind.")
                    .append(step.kind)
                    .append(", ")
                    .append(step.a)
                    .append(", ")
                    .append(step.b)
                    .append(")\n");
        }
        code.append("                .keepsItsPromises();\n    }\n");
        return code.toString();
    }

    private static String oneLine(Throwable violation) {
        Throwable root = violation;
        while (root.getCause() != null && !(root instanceof Violation)) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage()).replace('\n', ' ').replace("*/", "* /");
    }
}
