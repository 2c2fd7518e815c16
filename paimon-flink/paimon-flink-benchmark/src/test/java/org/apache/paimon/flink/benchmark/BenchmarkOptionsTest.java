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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The command line of the benchmark. */
class BenchmarkOptionsTest {

    @TempDir Path directory;

    @Test
    @DisplayName("All measures are taken three times unless the command line says otherwise")
    void defaults() throws Exception {
        BenchmarkOptions options = parse();

        assertThat(options.extent()).isEqualTo(Plan.Extent.FULL);
        assertThat(options.rounds()).isEqualTo(3);
        assertThat(options.json()).isFalse();
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
                        "2",
                        "--json",
                        "--plot",
                        "p.png");

        assertThat(options.extent()).isEqualTo(Plan.Extent.QUICK);
        assertThat(options.rounds()).isEqualTo(2);
        assertThat(options.includes("tag")).isTrue();
        assertThat(options.includes("restore")).isFalse();
        assertThat(options.json()).isTrue();
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
        assertThatThrownBy(() -> BenchmarkOptions.parse("--json"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--jar, --against and --dir are needed");
    }

    private BenchmarkOptions parse(String... more) throws Exception {
        Path jar = directory.resolve("a.jar");
        if (!Files.exists(jar)) {
            Files.createFile(jar);
        }
        String[] args = new String[6 + more.length];
        String[] needed = {
            "--jar", jar.toString(), "--against", jar.toString(), "--dir", directory.toString()
        };
        System.arraycopy(needed, 0, args, 0, 6);
        System.arraycopy(more, 0, args, 6, more.length);
        return BenchmarkOptions.parse(args);
    }
}
