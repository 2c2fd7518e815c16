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

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;

/** A plot that cannot be drawn costs a warning, never the table. */
class PlotTest {

    @TempDir Path directory;

    private final Values values = new Values();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @Test
    @DisplayName("A value of 0 has no place on a logarithmic axis: the warning names it")
    void zeroIsLeftOut() throws Exception {
        restore(1_000, 0, 20);
        restore(3_000, 0, 180);
        restore(10_000, 2, 2_000);

        print(directory.resolve("plot.png"));

        assertThat(out.toString()).contains("restore, writers replay in ascending order", "2,000");
        assertThat(err.toString())
                .contains("restore CPU ms at 1000 writers, 1 files is 0.0")
                .contains("restore CPU ms at 3000 writers, 1 files is 0.0");
        assertThat(directory.resolve("plot.png")).doesNotExist();
    }

    @Test
    @DisplayName("A file that cannot be written: the table is printed, the warning says why")
    void unwritableFile() throws Exception {
        restore(1_000, 1, 20);
        restore(3_000, 3, 180);
        Path nowhere = directory.resolve("missing").resolve("plot.png");

        print(nowhere);

        assertThat(out.toString()).contains("restore, writers replay in ascending order");
        assertThat(err.toString()).contains("cannot draw " + nowhere).contains("No such file");
    }

    @Test
    @DisplayName("Two sizes that are above 0 are drawn, without a warning")
    void draws() throws Exception {
        restore(1_000, 1, 20);
        restore(3_000, 3, 180);

        print(directory.resolve("plot.png"));

        assertThat(err.toString()).isEmpty();
        assertThat(Files.size(directory.resolve("plot.png"))).isPositive();
    }

    private void restore(int writers, double ours, double other) {
        values.add(0, "restore", writers + " writers, 1 files", "restore CPU ms", ours);
        values.add(1, "restore", writers + " writers, 1 files", "restore CPU ms", other);
    }

    private void print(Path plot) throws Exception {
        Benchmark.print(
                new Table(values, Collections.emptyList()),
                BenchmarkOptions.Output.TEXT,
                new PrintStream(out, true));
        Benchmark.draw(values, plot, new PrintStream(err, true));
    }
}
