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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The command line of the benchmark. */
class BenchmarkOptionsTest {

    @TempDir Path directory;

    @Test
    @DisplayName(
            "All measures are taken, those of time three times, unless the options say otherwise")
    void defaults() throws Exception {
        BenchmarkOptions options = parse();

        assertThat(options.extent()).isEqualTo(Plan.Extent.FULL);
        assertThat(options.rounds()).isEqualTo(3);
        assertThat(parse("--quick").rounds()).isEqualTo(1);
        assertThat(options.output()).isEqualTo(BenchmarkOptions.Output.TEXT);
        assertThat(options.values()).isNull();
        assertThat(options.plot()).isNull();
        assertThat(Plan.of(Plan.Extent.FULL))
                .allSatisfy(planned -> assertThat(options.includes(planned.measure)).isTrue());
    }

    @Test
    @DisplayName("Options choose measures, rounds and output")
    void chooses() throws Exception {
        BenchmarkOptions options =
                parse(
                        "--quick",
                        "--only",
                        "heap,tag",
                        "--rounds",
                        "4",
                        "--json",
                        "--plot",
                        "p.png");

        assertThat(options.extent()).isEqualTo(Plan.Extent.QUICK);
        assertThat(options.rounds()).isEqualTo(4);
        assertThat(options.includes("tag")).isTrue();
        assertThat(options.includes("restore")).isFalse();
        assertThat(options.output()).isEqualTo(BenchmarkOptions.Output.JSON);
        assertThat(options.plot()).hasFileName("p.png");
    }

    @Test
    @DisplayName("What is wrong with the command line is said with option and value")
    void saysWhatIsWrong() {
        assertThatThrownBy(() -> parse("--fast"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--fast");
        assertThatThrownBy(() -> parse("--only", "heap,speed"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'speed'")
                .hasMessageContaining("serializer");
        assertThatThrownBy(() -> parse("--rounds", "0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--rounds needs a positive number, not '0'");
        assertThatThrownBy(() -> parse("--rounds"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--rounds needs a value");
        assertThatThrownBy(() -> parse("--against", "nowhere.jar"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--against: there is no file 'nowhere.jar'");
        assertThatThrownBy(() -> parse("--values", "nowhere.tsv"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--values: there is no file 'nowhere.tsv'");
        assertThatThrownBy(() -> parse("--json", "--markdown"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("exclude each other");
        assertThatThrownBy(() -> BenchmarkOptions.parse("--json"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--jar, --against and --dir are needed");
    }

    @Test
    @DisplayName("A file that is no jar of Paimon is refused, with what it lacks")
    void refusesOtherJars() throws Exception {
        Path text = Files.write(directory.resolve("text.jar"), new byte[] {'n', 'o'});
        Path other = jar("other.jar", "org/example/Other.class");
        Path older =
                jar(
                        "older.jar",
                        "org/apache/paimon/utils/SnapshotManager.class",
                        "org/apache/paimon/flink/sink/RowAppendTableSink.class");

        assertThatThrownBy(() -> parse("--against", text.toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--against: '" + text + "' is no jar");
        assertThatThrownBy(() -> parse("--jar", other.toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--jar: '" + other + "' does not hold")
                .hasMessageContaining("SnapshotManager")
                .hasMessageContaining("2.0.0 or newer");
        assertThatThrownBy(() -> parse("--against", older.toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("AutoTagForSavepointCommitterOperator");
    }

    private Path jar(String name, String... entries) throws IOException {
        Path file = directory.resolve(name);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            for (String entry : entries) {
                zip.putNextEntry(new ZipEntry(entry));
                zip.closeEntry();
            }
        }
        return file;
    }

    private BenchmarkOptions parse(String... more) throws Exception {
        Path jar = jar("paimon.jar", BenchmarkOptions.MEASURED.toArray(new String[0]));
        List<String> args = new ArrayList<>();
        Collections.addAll(args, "--jar", jar.toString(), "--against", jar.toString());
        Collections.addAll(args, "--dir", directory.toString());
        Collections.addAll(args, more);
        return BenchmarkOptions.parse(args.toArray(new String[0]));
    }
}
