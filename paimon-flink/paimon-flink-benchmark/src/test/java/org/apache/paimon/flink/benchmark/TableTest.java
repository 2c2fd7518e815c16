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

package org.apache.paimon.flink.benchmark;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** From measured values to verdicts. */
class TableTest {

    private final Values values = new Values();

    @Test
    @DisplayName("A ratio at its bound meets the target, one above it misses it")
    void judgesRatios() {
        both("heap", "1000 writers, 1 files", "heap held per file", 450, 1_000);
        both("heap", "10000 writers, 10 files", "heap held per file", 451, 1_000);

        assertThat(markdown())
                .contains("| 1,000 writers, 1 file | 450 | 1,000 | 0.45x | <= 0.45x | met |")
                .contains("| 10,000 writers, 10 files | 451 | 1,000 | 0.45x | <= 0.45x | MISSED |");
    }

    @Test
    @DisplayName("The smallest value of all rounds counts")
    void takesTheSmallest() {
        both("serializer", "1 files", "bytes", 720, 718);
        both("serializer", "1 files", "bytes", 719, 719);

        assertThat(markdown()).contains("| 719 | 718 | 1.00x | one byte more | met |");
    }

    @Test
    @DisplayName("What only one jar was measured for is not judged against the other")
    void saysWhatWasNotMeasured() {
        values.add(0, "heap", "1000 writers, 1 files", "heap held per file", 450);

        assertThat(markdown()).contains("| 450 | - | - | <= 0.45x | not measured |");
        assertThat(table().text()).contains("1 rows: 0 met, 0 MISSED, 0 reported, 1 not measured.");
    }

    @Test
    @DisplayName("A restore of ten times the writers may take twelve times the time")
    void comparesSizes() {
        both("restore", "1000 writers, 1 files", "restore CPU ms", 10, 10);
        both("restore", "10000 writers, 1 files", "restore CPU ms", 121, 900);

        assertThat(markdown())
                .contains(
                        "| 10,000 instead of 1,000 writers | 12.1 | 90 | 0.13x | <= 12 | MISSED |");
    }

    @Test
    @DisplayName("What was measured as 0 is compared with nothing: not a target that is missed")
    void comparesNothingWithZero() {
        both("restore", "1000 writers, 1 files", "restore CPU ms", 0, 10);
        both("restore", "10000 writers, 1 files", "restore CPU ms", 10, 0);
        both("restore", "30000 writers, 1 files", "restore CPU ms", 30, 0);

        assertThat(markdown())
                .contains("| 10,000 instead of 1,000 writers | - | 0 | - | <= 12 | not measured |")
                .contains("| 30,000 writers, 1 file | 30 | 0 | - | <= 0.10x | not measured |");
    }

    @Test
    @DisplayName("Below a tenth of the interval counts the largest number of writers measured")
    void largestCountBelowTenPercent() {
        both("checkpoint", "1000 writers, 1 files", "loop CPU ms", 20, 90);
        both("checkpoint", "30000 writers, 1 files", "loop CPU ms", 999, 1_000);
        both("checkpoint", "10000 writers, 100 files", "loop CPU ms", 5, 5);

        assertThat(markdown())
                .contains("| most measured below 10 %, 1 file each | 30,000 | 1,000 | 30x |");
    }

    @Test
    @DisplayName("Jobs in turns: median of the ratios, within what two equal jobs differ by")
    void comparesJobsInTurns() {
        turn(1, 1_000, 1_100, 1_080);
        turn(2, 500, 450, 540);
        turn(3, 100, 200, 108);

        // 1.1, 0.9 and 2.0; the two equal jobs differ by 8 %.
        assertThat(markdown()).contains("| 450 | 500 | 1.10x | >= 1.00x, noise 8 % | met |");

        turn(4, 100, 10, 108);
        turn(5, 100, 10, 108);
        turn(6, 100, 10, 108);
        assertThat(markdown()).contains("| >= 1.00x, noise 8 % | MISSED |");
    }

    @Test
    @DisplayName("Jobs in turns: what equal ones differ by more than 10 % in is only reported")
    void judgesNothingByNoise() {
        turn(1, 1_000, 900, 1_090);
        assertThat(markdown()).contains("| 0.90x | >= 1.00x, noise 9 % | MISSED |");

        turn(2, 1_000, 500, 1_350);
        turn(3, 1_000, 500, 1_350);
        assertThat(markdown()).contains("| 0.50x | none, noise 35 % | reported |");
        assertThat(table().text()).contains("1 rows: 0 met, 0 MISSED, 1 reported");
    }

    @Test
    @DisplayName(
            "Jobs in turns: equal ones that differ from turn to turn allow two standard errors")
    void knowsHowSureAMedianIs() {
        double[] equal = {900, 950, 1_000, 1_000, 1_000, 1_050, 1_100, 1_000, 900};
        for (int turn = 0; turn < equal.length; turn++) {
            turn(turn, 1_000, 950, equal[turn]);
        }

        // Half of the equal ones are off by 5 % or more, so a standard deviation is 7.4 %, and the
        // median of nine has an error of 3.1 %. With 5 % of noise this would be missed.
        assertThat(markdown()).contains("| 950 | 1,000 | 0.95x | >= 1.00x, noise 6.20 % | met |");
    }

    @Test
    @DisplayName("A tag costs the same calls whatever the table, or misses its target")
    void tagsCostConstantCalls() {
        both("tag", "10 snapshots", "newest: calls", 12, 8);
        both("tag", "1000 snapshots", "newest: calls", 12, 8);
        both("tag", "10 snapshots", "gone: calls", 6, 15);
        both("tag", "1000 snapshots", "gone: calls", 7, 1_005);
        assertThat(table().text()).contains("4 rows: 4 met, 0 MISSED");

        both("tag", "20 snapshots", "newest: calls", 17, 8);
        both("tag", "20 snapshots", "gone: calls", 47, 15);
        assertThat(table().text()).contains("6 rows: 4 met, 2 MISSED");
    }

    @Test
    @DisplayName("Values written and read again give the same table")
    void readsWhatItWrote(@TempDir Path directory) throws Exception {
        both("restore", "1000 writers, 1 files", "restore CPU ms", 10.25, 20);
        Path file = directory.resolve("values.tsv");
        Files.write(
                file,
                Arrays.asList(
                        Values.line(0, "restore", "1000 writers, 1 files", "restore CPU ms", 10.25),
                        Values.line(1, "restore", "1000 writers, 1 files", "restore CPU ms", 20)));

        Table again = new Table(Values.read(file), Collections.emptyList());

        assertThat(again.json()).isEqualTo(table().json()).contains("10.25");

        Files.write(file, Arrays.asList("0\theap\tat\theld\t1", "2\theap\tat\theld\t1"));
        assertThatThrownBy(() -> Values.read(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining("jar '2' is neither 0 nor 1");
    }

    @Test
    @DisplayName("Markdown can be read as it is: a line per row, in columns")
    void alignsMarkdown() {
        both("heap", "1000 writers, 1 files", "heap held per file", 450, 1_000);
        both("heap", "10000 writers, 10 files", "heap held per file", 451, 1_000);

        assertThat(table().markdown())
                .isEqualTo(
                        String.join(
                                "\n",
                                "**heap held per pending checkpoint (bytes per file)**",
                                "",
                                "| at                       | this | other jar | ratio | must reach | verdict |",
                                "| ---                      |  --: |       --: |   --: | ---        | ---     |",
                                "| 1,000 writers, 1 file    |  450 |     1,000 | 0.45x | <= 0.45x   | met     |",
                                "| 10,000 writers, 10 files |  451 |     1,000 | 0.45x | <= 0.45x   | MISSED  |",
                                ""));
    }

    @Test
    @DisplayName("Failed measures are part of each output that has room for them")
    void tellsFailures() {
        Table table = new Table(values, Collections.singletonList("tag \"x\" failed"));

        assertThat(table.text()).contains("FAILED: tag \"x\" failed");
        assertThat(table.json()).contains("\"failures\":[\"tag \\\"x\\\" failed\"]");
    }

    private void turn(int turn, double off, double on, double again) {
        String metric = "turn " + turn + ": " + JobProbe.RECORDS;
        values.add(0, "job", JobProbe.OFF_COORDINATOR, metric, off);
        values.add(0, "job", JobProbe.ON_COORDINATOR, metric, on);
        values.add(0, "job", JobProbe.CONTROL, metric, again);
    }

    private void both(String measure, String at, String metric, double ours, double other) {
        values.add(0, measure, at, metric, ours);
        values.add(1, measure, at, metric, other);
    }

    /** Without what aligns its columns. */
    private String markdown() {
        return table().markdown().replaceAll(" +", " ");
    }

    private Table table() {
        return new Table(values, Collections.emptyList());
    }
}
