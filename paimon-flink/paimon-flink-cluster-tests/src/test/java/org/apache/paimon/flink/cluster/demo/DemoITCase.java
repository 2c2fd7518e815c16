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

import org.apache.paimon.flink.cluster.Distributions;
import org.apache.paimon.flink.cluster.FlinkDistribution;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** What {@code tools/demo} shows, with {@code flink stop} at the end. */
class DemoITCase {

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path directory;

    @Test
    @DisplayName("T1, T2, A3, L1: the demo shows tags, metrics, log lines and the rollback by path")
    void theStoryShowsWhatIsThere() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        FlinkDistribution distribution = Distributions.built();
        Verdict verdict =
                new Demo(
                                DemoOptions.parse(
                                        "--flink",
                                        System.getProperty("cluster.home"),
                                        "--jar",
                                        distribution.paimonJar().toString(),
                                        "--dir",
                                        directory.resolve("demo").toString(),
                                        "--end",
                                        "stop"),
                                new PrintStream(bytes, true, "UTF-8"))
                        .run();
        String told = new String(bytes.toByteArray(), StandardCharsets.UTF_8);
        System.out.println(told);

        assertThat(verdict.line()).startsWith("VERDICT: OK");
        assertThat(verdict.exitCode()).isZero();

        Matcher logged =
                Pattern.compile(
                                "INFO \\w+: Savepoint (\\d+) at (\\S+): reported"
                                        + " by 4 of 4 writers, committed as snapshot (\\d+), tagged"
                                        + " as savepoint-\\1\\.")
                        .matcher(told);
        assertThat(logged.find()).as("the line of the first savepoint").isTrue();
        String first = logged.group(1);
        String path = logged.group(2);
        String snapshot = logged.group(3);
        assertThat(logged.find()).as("the line of the second savepoint").isTrue();
        String second = logged.group(1);
        assertThat(logged.find()).as("the line of the savepoint of the stop").isTrue();

        assertThat(told)
                .contains("CALL sys.savepoint_tags(`table` => 'default.T');")
                .containsPattern("\n +tag savepoint-" + first + "\n +snapshot_id +" + snapshot)
                .containsPattern("\n +savepoint_path +" + Pattern.quote(path) + "\n")
                .containsPattern("\n +metadata_exists +true\n");

        assertThat(told).contains(CoordinatorMetrics.PREFIX);
        assertThat(metric(told, "numCommits")).isGreaterThanOrEqualTo(4);
        assertThat(metric(told, "lastCommitDurationMs")).isNotNegative();
        assertThat(metric(told, "numSavepointTagsCreated")).isEqualTo(2);
        assertThat(metric(told, "lastTaggedCheckpointId")).isEqualTo(Long.parseLong(second));
        assertThat(metric(told, "numRestores")).isEqualTo(1);

        assertThat(told)
                .contains("`savepoint` => '" + path + "',\n", " dry_run => true);\n")
                .containsPattern("\n +snapshot_id +" + snapshot + "\n")
                .containsPattern("\n +tag +savepoint-" + first + "\n")
                .containsPattern("\n +tag_going +savepoint-" + second + " on snapshot \\d+\n")
                .containsPattern("\n +result +dry run: nothing was changed\n")
                .containsPattern("\n +result +rolled back\n")
                .contains("records, each once");
    }

    /** The first value that the story shows. */
    private static long metric(String told, String name) {
        Matcher line = Pattern.compile("(?m)^ +" + name + " +(-?\\d+)  ").matcher(told);
        assertThat(line.find()).as(name).isTrue();
        return Long.parseLong(line.group(1));
    }
}
