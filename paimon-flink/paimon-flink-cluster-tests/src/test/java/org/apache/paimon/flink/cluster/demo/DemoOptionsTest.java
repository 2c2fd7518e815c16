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

import org.apache.paimon.flink.cluster.CommandLine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Paths;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DemoOptionsTest {

    private static DemoOptions parse(String more) throws CommandLine.UsageException {
        String base = "--flink f --jar a.jar --dir d";
        return DemoOptions.parse((more.isEmpty() ? base : base + " " + more).split(" "));
    }

    @Test
    void withoutOptionsTheClusterIsStoppedAndTheStoryIsForPeople() throws Exception {
        DemoOptions options = parse("");

        assertThat(options.keep()).isFalse();
        assertThat(options.json()).isFalse();
        assertThat(options.port()).isEqualTo(8081);
        assertThat(options.ending()).isEqualTo(DemoOptions.Ending.FINISH);
        assertThat(options.jar()).isEqualTo(Paths.get("a.jar").toAbsolutePath());
    }

    @Test
    void everyOptionIsUnderstood() throws Exception {
        DemoOptions options = parse("--keep --json --port 9000 --end stop");

        assertThat(options.keep()).isTrue();
        assertThat(options.json()).isTrue();
        assertThat(options.port()).isEqualTo(9000);
        assertThat(options.ending()).isEqualTo(DemoOptions.Ending.STOP);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--bogus", "--port", "--port 0", "--port 70000", "--port x", "--end never"})
    void whatCannotBeUnderstoodIsNamed(String words) {
        String[] parts = words.split(" ");
        assertThatThrownBy(() -> parse(words))
                .isInstanceOf(CommandLine.UsageException.class)
                .hasMessageContaining(parts[0])
                .hasMessageContaining(parts[parts.length - 1]);
    }

    @Test
    void aMissingOptionIsNamed() {
        assertThatThrownBy(() -> DemoOptions.parse("--flink", "f", "--dir", "d"))
                .isInstanceOf(CommandLine.UsageException.class)
                .hasMessageContaining("--jar");
    }
}
