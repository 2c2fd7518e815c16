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

package org.apache.paimon.flink.cluster;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FlinkProcessTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir private Path directory;

    /** Ends with the exit code it is told, or never. */
    public static final class Child {
        public static void main(String[] args) throws InterruptedException {
            System.out.println("started with " + String.join(",", args));
            if (args[0].equals("forever")) {
                TimeUnit.DAYS.sleep(1);
            }
            System.exit(Integer.parseInt(args[0]));
        }
    }

    /**
     * Starts a guarded child and dies without a farewell, as a harness killed with SIGKILL does.
     */
    public static final class Parent {
        public static void main(String[] args) {
            FlinkProcess child = child("orphan", Paths.get(args[0]), "forever");
            System.out.println("child " + child.pid());
            Runtime.getRuntime().halt(0);
        }
    }

    private static FlinkProcess child(String name, Path directory, String... arguments) {
        return launch(name, Child.class, directory, arguments);
    }

    private static FlinkProcess launch(
            String name, Class<?> main, Path directory, String... arguments) {
        return FlinkProcess.launch(
                        FlinkProcess.Role.CLIENT,
                        name,
                        System.getProperty("java.class.path"),
                        main.getName())
                .arguments(arguments)
                .start(directory, directory, directory.resolve("log4j2.properties"));
    }

    @Test
    void theMainClassGetsItsArgumentsAndItsExitCodeComesBack() {
        FlinkProcess process = child("client", directory, "3", "more");

        assertThat(process.awaitExit(LONG)).isEqualTo(3);
        assertThat(Tail.text(process.out())).contains("started with 3,more");
        assertThatThrownBy(process::requireAlive)
                .isInstanceOf(ClusterException.class)
                .hasMessageContainingAll("client", "exit code 3", "client.out", "started with 3");
    }

    @Test
    void aClientThatIsNotDoneInTimeIsKilledAndNamed() {
        FlinkProcess process = child("slow", directory, "forever");

        assertThatThrownBy(() -> process.awaitExit(Duration.ofMillis(100)))
                .isInstanceOf(ClusterException.class)
                .hasMessageContainingAll("slow", "killed", "slow.log");
        assertThat(process.isAlive()).isFalse();
    }

    @Test
    void aPausedProcessCanBeKilled() {
        FlinkProcess process = child("paused", directory, "forever");

        process.pause();
        assertThat(process.isAlive()).isTrue();
        process.kill();

        assertThat(process.isAlive()).isFalse();
    }

    @Test
    void noProcessOutlivesAParentThatWasKilled() {
        FlinkProcess parent = launch("parent", Parent.class, directory, directory.toString());

        assertThat(parent.awaitExit(LONG)).isZero();
        String pid = Tail.text(parent.out()).replaceAll("(?s).*child (\\d+).*", "$1");
        Awaitility.await("the end of the orphan")
                .atMost(LONG)
                .until(
                        () ->
                                !ProcessHandle.of(Long.parseLong(pid))
                                        .map(ProcessHandle::isAlive)
                                        .orElse(false));
    }
}
