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

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The command line of {@code tools/simulate}, as far as it is answered before anything runs. */
class SimulateScriptTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--fast | unknown option '--fast'",
                "--seed | option --seed needs a value",
                "--mode friendly | option --mode needs legal, hostile or both, not 'friendly'",
                "--table paper | option --table needs memory or real, not 'paper'",
                "--minutes 0 | option --minutes needs a whole number from 1 on, not '0'",
                "--seed x | option --seed needs a whole number, not 'x'"
            },
            quoteCharacter = '"')
    @DisplayName("bad input: what is wrong with the command line is said, with exit code 2")
    void badOptions(String arguments, String message) throws Exception {
        Result result = simulate(arguments.split(" "));

        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.output).contains(message).contains("see tools/simulate --help");
    }

    @Test
    @DisplayName("the help names every option")
    void help() throws Exception {
        Result result = simulate("--help");

        assertThat(result.exitCode).isZero();
        assertThat(result.output)
                .contains("--schedules", "--minutes", "--seed", "--mode", "--table", "--threads")
                .contains("--json", "--help", "Exit code");
    }

    private static Result simulate(String... arguments) throws Exception {
        File root = new File("").getAbsoluteFile().getParentFile().getParentFile();
        List<String> command = new ArrayList<>();
        command.add(new File(root, "tools/simulate").getPath());
        command.addAll(Arrays.asList(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return new Result(process.exitValue(), output);
    }

    private static final class Result {

        private final int exitCode;
        private final String output;

        private Result(int exitCode, String output) {
            this.exitCode = exitCode;
            this.output = output;
        }
    }
}
