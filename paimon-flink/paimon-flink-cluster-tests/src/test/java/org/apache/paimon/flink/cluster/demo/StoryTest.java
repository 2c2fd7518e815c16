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

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

class StoryTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final AtomicLong clock = new AtomicLong();
    private final List<String> ran = new ArrayList<>();
    private final Story story = new Story(new PrintStream(bytes, true), clock::get);

    private String told() {
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
    }

    @Test
    void eachStepIsToldWithItsNumberTheElapsedTimeAndHowLongItTook() {
        Verdict verdict =
                story.step("Start", () -> clock.addAndGet(61_500))
                        .step("Count", () -> story.tell("%d records", 7))
                        .run();

        assertThat(told().split("\\R"))
                .containsExactly(
                        "[ 1/2 0:00] Start",
                        "              done in 61.5 s",
                        "[ 2/2 1:01] Count",
                        "              7 records",
                        "              done in 0.0 s");
        assertThat(verdict.isOk()).isTrue();
        assertThat(verdict.exitCode()).isZero();
        assertThat(verdict.line())
                .startsWith("VERDICT: OK")
                .contains("2 of 2")
                .doesNotContain("\n");
    }

    @Test
    void theFirstStepThatFailsEndsTheStoryAndIsNamedInTheVerdict() {
        Verdict verdict =
                story.step("Start", () -> ran.add("start"))
                        .step(
                                "Kill",
                                () -> {
                                    throw new IllegalStateException("subtask 2\nrestarted, too");
                                })
                        .step("Count", () -> ran.add("count"))
                        .run();

        assertThat(ran).containsExactly("start");
        assertThat(told()).contains("FAILED: subtask 2");
        assertThat(verdict.exitCode()).isEqualTo(1);
        assertThat(verdict.line())
                .isEqualTo("VERDICT: FAILED at step 2 of 3 (Kill): subtask 2 restarted, too");
    }

    @Test
    void anInterruptedStoryFallsSilentAndItsVerdictSaysWhere() {
        List<Verdict> verdicts = new ArrayList<>();
        story.step("Start", () -> {})
                .step(
                        "Submit",
                        () -> {
                            verdicts.add(story.interrupt());
                            story.tell("not for anybody's ears");
                        })
                .run();

        assertThat(told()).doesNotContain("ears");
        assertThat(verdicts.get(0).line())
                .isEqualTo("VERDICT: FAILED at step 2 of 2 (Submit): interrupted");
    }

    @Test
    void theVerdictForProgramsHasTheReasonTheStepsAndTheirTimes() throws Exception {
        Verdict verdict =
                story.step("Start", () -> clock.addAndGet(1_500))
                        .step(
                                "Kill",
                                () -> {
                                    throw new IllegalStateException("no");
                                })
                        .run();

        JsonNode json = new ObjectMapper().readTree(verdict.json(Paths.get("log")));

        assertThat(json.path("verdict").asText()).isEqualTo("FAILED");
        assertThat(json.path("failedStep").asInt()).isEqualTo(2);
        assertThat(json.path("stepsDone").asInt()).isEqualTo(1);
        assertThat(json.path("stepsTotal").asInt()).isEqualTo(2);
        assertThat(json.path("reason").asText()).isEqualTo("no");
        assertThat(json.path("logs").asText()).isEqualTo("log");
        assertThat(json.path("steps").path(0).path("seconds").asDouble()).isEqualTo(1.5);
    }
}
