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

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class AwaitTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(50);

    @Test
    void returnsTheFirstValueThatIsGood() {
        AtomicInteger probes = new AtomicInteger();

        int seen = Await.until("three", LONG).holds(probes::incrementAndGet, n -> n == 3);

        assertThat(seen).isEqualTo(3);
        assertThat(probes).hasValue(3);
    }

    @Test
    void aProbeThatThrowsMeansNotYet() {
        AtomicInteger probes = new AtomicInteger();

        String seen =
                Await.until("an answer", LONG)
                        .holds(
                                () -> {
                                    if (probes.incrementAndGet() == 1) {
                                        throw new ClusterException("connection refused");
                                    }
                                    return "up";
                                },
                                "up"::equals);

        assertThat(seen).isEqualTo("up");
    }

    @Test
    void aWaitInVainSaysForWhatWhatItSawLastAndWhereToLook() {
        assertThatThrownBy(
                        () ->
                                Await.until("a tag", SHORT)
                                        .lookAt("log/jm-1.log")
                                        .holds(Optional::empty, Optional::isPresent))
                .isInstanceOf(ClusterException.class)
                .hasMessageContainingAll("a tag", "Optional.empty", "log/jm-1.log");
    }

    @Test
    void theLastExceptionIsTheCauseOfAWaitInVain() {
        assertThatThrownBy(
                        () ->
                                Await.until("an answer", SHORT)
                                        .holds(
                                                () -> {
                                                    throw new ClusterException("refused");
                                                },
                                                seen -> true))
                .hasMessageContaining("refused")
                .hasCauseInstanceOf(ClusterException.class);
    }

    @Test
    void aPointlessWaitEndsAtOnceWithTheReason() {
        assertThatThrownBy(
                        () ->
                                Await.until("the JobManager", LONG)
                                        .unless(
                                                () -> {
                                                    throw new ClusterException("jm-1 is dead");
                                                })
                                        .holds(() -> 0, seen -> false))
                .hasMessage("jm-1 is dead");
    }
}
