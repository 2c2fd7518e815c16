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

package org.apache.paimon.flink.cluster.demo;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** How the story ended, as one line for people and as JSON for programs. */
final class Verdict {

    private final List<StepResult> steps;
    private final int failedStep;
    private final int stepCount;
    private final String reason;
    private final long millis;

    private Verdict(
            List<StepResult> steps, int failedStep, int stepCount, String reason, long millis) {
        this.steps = Collections.unmodifiableList(new ArrayList<>(steps));
        this.failedStep = failedStep;
        this.stepCount = stepCount;
        this.reason = reason;
        this.millis = millis;
    }

    static Verdict ok(List<StepResult> steps, long millis) {
        return new Verdict(steps, 0, steps.size(), "", millis);
    }

    static Verdict failed(
            List<StepResult> steps, int failedStep, int stepCount, String reason, long millis) {
        return new Verdict(steps, failedStep, stepCount, reason, millis);
    }

    /** The story was cut short from outside. */
    static Verdict interrupted(
            List<StepResult> steps, int step, int stepCount, String title, long millis) {
        List<StepResult> all = new ArrayList<>(steps);
        all.add(new StepResult(title, 0));
        return new Verdict(all, step, stepCount, "interrupted", millis);
    }

    boolean isOk() {
        return failedStep == 0;
    }

    int exitCode() {
        return isOk() ? 0 : 1;
    }

    /** One line. */
    String line() {
        String oneLine = reason.replaceAll("\\s*\\R\\s*", " ");
        return isOk()
                ? String.format(
                        Locale.ROOT,
                        "VERDICT: OK - %d of %d steps in %.0f s; every record is there exactly once",
                        stepCount,
                        stepCount,
                        millis / 1000.0)
                : String.format(
                        Locale.ROOT,
                        "VERDICT: FAILED at step %d of %d (%s): %s",
                        failedStep,
                        stepCount,
                        steps.get(failedStep - 1).title,
                        oneLine);
    }

    /** One line of JSON. */
    String json(Path logs) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("verdict", isOk() ? "OK" : "FAILED");
        root.put("seconds", millis / 1000.0);
        root.put("stepsDone", isOk() ? stepCount : failedStep - 1);
        root.put("stepsTotal", stepCount);
        if (!isOk()) {
            root.put("failedStep", failedStep);
            root.put("reason", reason);
        }
        root.put("logs", logs.toString());
        ArrayNode list = root.putArray("steps");
        for (StepResult step : steps) {
            list.addObject().put("title", step.title).put("seconds", step.millis / 1000.0);
        }
        return root.toString();
    }

    /** A step that ran, well or not. */
    static final class StepResult {
        private final String title;
        private final long millis;

        StepResult(String title, long millis) {
            this.title = title;
            this.millis = millis;
        }
    }
}
