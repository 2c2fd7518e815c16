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

package org.apache.paimon.utils;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The loop that tests step by hand keeps the contract of the real one. */
class SteppedEventLoopTest {

    private final AtomicLong clock = new AtomicLong();
    private final List<String> failures = new ArrayList<>();
    private final List<String> ran = new ArrayList<>();
    private final SteppedEventLoop loop =
            new SteppedEventLoop(
                    clock::get,
                    (name, failure) -> failures.add(name + ": " + failure.getMessage()));

    @BeforeEach
    void start() {
        loop.start();
    }

    @Test
    void runsNothingBeforeItsStart() {
        SteppedEventLoop created = new SteppedEventLoop((name, failure) -> {});
        assertThat(created.execute("open", () -> ran.add("open"))).isTrue();

        assertThatThrownBy(created::runNext)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The loop was not started. Pending: [open]");
        assertThat(ran).isEmpty();
        created.start();
        assertThat(created.runAll()).isEqualTo(1);
        assertThat(ran).containsExactly("open");
        assertThatThrownBy(created::start).hasMessage("The loop was started already.");
    }

    @Test
    @DisplayName("A7: a loop closed before its start is terminated at once and runs nothing")
    void closedBeforeItsStart() {
        SteppedEventLoop created = new SteppedEventLoop((name, failure) -> {});
        created.execute("open", () -> ran.add("open"));

        assertThat(created.close(Duration.ofHours(1))).isTrue();
        created.start();

        assertThat(created.terminated()).isTrue();
        assertThat(created.cancelled()).isTrue();
        assertThat(created.runNext()).isFalse();
        assertThat(ran).isEmpty();
    }

    @Test
    void runsOneActionPerStep() {
        loop.execute("a", () -> ran.add("a"));
        loop.execute("b", () -> ran.add("b"));

        assertThat(loop.pending()).containsExactly("a", "b");
        assertThat(ran).isEmpty();
        assertThat(loop.runNext()).isTrue();
        assertThat(ran).containsExactly("a");
        assertThat(loop.pendingCount()).isEqualTo(1);
        assertThat(loop.runAll()).isEqualTo(1);
        assertThat(loop.runNext()).isFalse();
        assertThat(ran).containsExactly("a", "b");
    }

    @Test
    void reportsAFailureAndGoesOn() {
        loop.execute(
                "a",
                () -> {
                    throw new IllegalStateException("no");
                });
        loop.execute("b", () -> ran.add("b"));
        loop.runAll();

        assertThat(failures).containsExactly("a: no");
        assertThat(ran).containsExactly("b");
    }

    @Test
    void knowsWhetherTheCallerIsInside() {
        loop.execute("a", loop::assertInside);
        loop.runAll();

        assertThat(failures).isEmpty();
        assertThatThrownBy(loop::assertInside).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("A7: close drains until its deadline, by the clock that the actions move")
    void closeDrainsUntilTheDeadline() {
        for (String name : new String[] {"a", "b", "c"}) {
            loop.execute(
                    name,
                    () -> {
                        ran.add(name);
                        clock.addAndGet(Duration.ofSeconds(1).toNanos());
                    });
        }

        assertThat(loop.close(Duration.ofSeconds(2))).isTrue();

        assertThat(ran).containsExactly("a", "b");
        assertThat(loop.cancelled()).isTrue();
        assertThat(loop.execute("d", () -> ran.add("d"))).isFalse();
    }

    @Test
    @DisplayName("A7: a hanging loop is not dead before it dies")
    void hangsUntilItDies() {
        loop.execute("a", () -> ran.add("a"));
        loop.hang();

        assertThat(loop.close(Duration.ofSeconds(2))).isFalse();
        assertThat(loop.terminated()).isFalse();
        List<Duration> reported = new ArrayList<>();
        loop.awaitTermination(
                Duration.ofSeconds(1),
                waited -> {
                    reported.add(waited);
                    if (reported.size() == 2) {
                        loop.die();
                    }
                });

        assertThat(reported).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2));
        assertThat(loop.terminated()).isTrue();
        assertThat(ran).isEmpty();
    }

    @Test
    void refusesToWaitForItselfOrForever() {
        loop.execute("a", () -> loop.close(Duration.ZERO));
        loop.runAll();

        assertThat(failures).hasSize(1).first().asString().contains("wait for itself");
        assertThatThrownBy(() -> loop.awaitTermination(Duration.ofSeconds(1), waited -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Nobody ends this loop");
    }
}
