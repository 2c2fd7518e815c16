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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/** What the report says of rounds that went well, missed their window, or found something. */
class ReportTest {

    private final AtomicLong clock = new AtomicLong();
    private final RoundResult ok = result(1, Scenario.TM_STOP, true);
    private final RoundResult missed = result(2, Scenario.TM_STOP, false);
    private final RoundResult violated =
            result(3, Scenario.JM_ZOMBIE, true)
                    .violations(
                            Collections.singletonList(
                                    new Violation(Violation.Kind.TAG_CONTENT, "tag <7> & more")))
                    .knownLimits(Collections.singletonList("tag savepoint-9"));
    private final List<RoundResult> all = Arrays.asList(ok, missed, violated);

    @Test
    void aViolationComesBeforeAMissAndAMissIsNotOk() {
        assertThat(all)
                .extracting(RoundResult::verdict)
                .containsExactly("OK", "MISSED", "VIOLATION");
        assertThat(result(4, Scenario.TM_STOP, false).violations(violated.violations()).verdict())
                .isEqualTo("VIOLATION");
    }

    @Test
    void theSummaryCountsHitsViolationsAndKnownLimits() {
        assertThat(Report.summary(all))
                .isEqualTo(
                        "VIOLATED: 3 rounds, 2 hit their window, 1 with a violation,"
                                + " known limits met 1 times");
        assertThat(Report.summary(Arrays.asList(ok, missed))).startsWith("OK: 2 rounds, 1 hit");
    }

    @Test
    void theJsonSaysOfEachScenarioHowOftenItHit() throws Exception {
        JsonNode json = new ObjectMapper().readTree(Report.json(42, all));

        assertThat(json.path("seed").asLong()).isEqualTo(42);
        assertThat(json.path("scenarios").path("tm-stop").path("rounds").asInt()).isEqualTo(2);
        assertThat(json.path("scenarios").path("tm-stop").path("hits").asInt()).isEqualTo(1);
        assertThat(json.path("scenarios").has("tm-frozen")).isFalse();
        assertThat(json.path("rounds").get(2).path("violations").get(0).asText())
                .isEqualTo("TAG_CONTENT: tag <7> & more");
    }

    @Test
    void thePageNeedsNothingElseAndEscapesWhatItShows(@TempDir Path directory) throws Exception {
        Report.write(directory, 42, all);

        String page = new String(Files.readAllBytes(directory.resolve("report.html")), "UTF-8");
        assertThat(page)
                .contains("tag &lt;7&gt; &amp; more")
                .doesNotContain("<7>")
                .doesNotContain("src=")
                .doesNotContain("href=");
        assertThat(page.split("<svg")).hasSize(1 + all.size());
        assertThat(page).contains("<title>1.5 s: tm-1 killed</title>");
        assertThat(directory.resolve("report.json")).exists();
    }

    private RoundResult result(int number, Scenario scenario, boolean hit) {
        clock.set(0);
        Timeline timeline = new Timeline(clock::get);
        clock.set(1500);
        timeline.add(Timeline.Kind.BREAK, "tm-1 killed");
        clock.set(20_000);
        return new RoundResult(number, 100 + number, scenario, hit, "seen", timeline);
    }
}
