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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.Hook;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.api.common.JobStatus;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code flink stop}, with and without {@code --drain}, and what comes after it. */
class StopITCase extends JobITCase {

    private static final Logger LOG = LoggerFactory.getLogger(StopITCase.class);

    /** How many stops in a row; every second one has a slow commit. */
    private static final int STOPS = Integer.getInteger("stops", 4);

    private static final Duration SLOW = Duration.ofSeconds(2);

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest(name = "{0}, drain {1}")
    @CsvSource({"COORDINATOR, false", "COORDINATOR, true", "OPERATOR, false"})
    @DisplayName("T2: every stop returns with its snapshot committed and tagged")
    void everyStopReturnsWithItsTag(CommitPath path, boolean drain) throws Exception {
        AppendTable table = table(path);
        Set<String> tags = new TreeSet<>();
        Set<Long> written = new TreeSet<>();
        long slowest = 0;
        for (int i = 0; i < STOPS; i++) {
            // A stop with drain is the end of a job, so each has its own.
            Scenario fresh = scenario(10 * i, 4);
            RunningJob job = start(job().write(fresh, table.table()));
            fresh.flow();
            fresh.awaitMore();
            if (i % 2 == 1) {
                // The hooks of the table are those of its first scenario.
                scenario.afterSnapshot.slowNext(SLOW);
            }
            long begin = System.nanoTime();
            Savepoint savepoint = drain ? job.stopWithDrain() : job.stop();
            slowest = Math.max(slowest, System.nanoTime() - begin);

            // No waiting from here on.
            written.addAll(fresh.before(savepoint.id()));
            assertThat(table.latest().commitIdentifier()).isEqualTo(savepoint.id());
            String tag =
                    tags.contains(savepoint.tag())
                            ? savepoint.tag() + "-" + table.latest().id()
                            : savepoint.tag();
            assertThat(table.tags()).contains(tag);
            table.assertTagHolds(tag, written);
            table.assertHolds(written);
            tags = table.tags();
            scenario.afterSnapshot.clear();
        }
        LOG.info(
                "{} stops on the {} path, drain {}: the slowest took {} ms.",
                STOPS,
                path,
                drain,
                slowest / 1_000_000);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T2, A5: stopped and restored again and again, it goes on as the same commit user")
    void stoppedAndRestoredAgainAndAgain(CommitPath path) throws Exception {
        AppendTable table = table(path);
        Savepoint last = null;
        Set<String> tags = new TreeSet<>();
        long slowest = 0;
        for (int i = 0; i < STOPS; i++) {
            RunningJob job = start(last == null ? job(table) : job(table).from(last));
            scenario.flow();
            scenario.awaitMore();
            if (i % 2 == 1) {
                scenario.afterSnapshot.slowNext(SLOW);
            }
            long begin = System.nanoTime();
            last = job.stop();
            slowest = Math.max(slowest, System.nanoTime() - begin);

            tags.add(last.tag());
            assertThat(table.tags()).isEqualTo(tags);
            table.assertTagHolds(last.tag(), scenario.before(last.id()));
            table.assertHolds(scenario.before(last.id()));
        }
        RunningJob job = start(job(table).from(last));
        scenario.pause();
        scenario.emit(1);
        table.awaitCommitted(job.checkpoint().id());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
        LOG.info(
                "{} stops and {} restores on the {} path: the slowest stop took {} ms.",
                STOPS,
                STOPS,
                path,
                slowest / 1_000_000);
    }

    @ParameterizedTest(name = "force snapshots {0}")
    @ValueSource(strings = {"false", "true"})
    @DisplayName("T2, E1: restored after a stop with drain, it goes on as the same commit user")
    void restoredAfterADrain(String forceSnapshots) throws Exception {
        AppendTable table =
                table(CommitPath.COORDINATOR, "commit.force-create-snapshot", forceSnapshots);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint drained = job.stopWithDrain();
        table.assertTagHolds(drained.tag(), scenario.everything());
        assertThat(table.identifiers()).containsExactly(drained.id());

        RunningJob restored = start(job(table).from(drained));
        scenario.emit(10);
        // The identifier of the next checkpoint must be free, or this would be taken for committed.
        scenario.beforeSnapshot.failNext(1);
        Savepoint checkpoint = restored.checkpoint();
        assertThat(checkpoint.id()).isEqualTo(drained.id() + 1);
        restored.awaitRestart(1);
        table.awaitCommitted(checkpoint.id());
        table.assertHolds(scenario.everything());
        scenario.emit(10);
        Savepoint again = restored.stopWithDrain();
        table.assertTagHolds(again.tag(), scenario.everything());

        RunningJob last = start(job(table).from(again));
        scenario.emit(10);
        table.awaitCommitted(last.checkpoint().id());
        table.assertTags(drained.tag(), again.tag());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("T2: a stop waits for its commit, whatever that takes")
    void stopWaitsForItsCommit(boolean drain) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Hook.Gate gate = scenario.beforeTag.holdNext();
        CompletableFuture<String> stop = job.stopFuture(drain);
        gate.awaitReached();
        assertThat(stop).isNotDone();
        assertThat(job.status()).isEqualTo(JobStatus.RUNNING);
        gate.open();

        Savepoint savepoint = Savepoint.at(stop.get(60, TimeUnit.SECONDS));
        table.assertTagHolds(savepoint.tag(), scenario.everything());
    }

    private enum Failure {
        COMMIT,
        AFTER_COMMIT,
        TAG
    }

    @ParameterizedTest(name = "{0}, drain {1}, {2} fails")
    @CsvSource({
        "COORDINATOR, false, COMMIT",
        "COORDINATOR, false, AFTER_COMMIT",
        "COORDINATOR, false, TAG",
        "COORDINATOR, true, COMMIT",
        "COORDINATOR, true, TAG",
        "OPERATOR, false, COMMIT",
        "OPERATOR, false, TAG"
    })
    @DisplayName(
            "T2, A5: a stop that cannot commit or tag is no success; a restore makes up for it")
    void stopThatFails(CommitPath path, boolean drain, Failure failure) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        (failure == Failure.COMMIT
                        ? scenario.beforeSnapshot
                        : failure == Failure.TAG ? scenario.beforeTag : scenario.afterSnapshot)
                .failNext(1);
        CompletableFuture<String> stop = job.stopFuture(drain);

        // Flink does not restart a job whose stop failed after the savepoint was complete.
        assertThatThrownBy(() -> stop.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);
        job.awaitStatus(JobStatus.FAILED);
        assertThat(job.failures()).contains("planned failure");
        table.assertTags();
        Savepoint savepoint = job.newestSavepoint();

        RunningJob restored = start(job(table).from(savepoint));
        table.awaitTags(savepoint.tag());
        table.assertTagHolds(savepoint.tag(), scenario.everything());
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());
        table.assertTags(savepoint.tag());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }

    @Test
    @DisplayName("T2, A3: a region that fails before the stop's savepoint is complete")
    void regionFailsDuringAStop() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Hook.Gate gate = scenario.beforeSnapshot.holdNext();
        Savepoint checkpoint = job.checkpoint();
        gate.awaitReached();
        // The coordinator is busy, so the savepoint of the stop stays pending.
        scenario.emit(10);
        CompletableFuture<String> stop = job.stopFuture(false);
        scenario.fail(0);
        job.awaitGraph("the region has failed", graph -> !job.attemptsOf(graph).get(0).equals(0));
        gate.open();
        assertThatThrownBy(() -> stop.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);

        job.awaitRunning();
        scenario.awaitEmitted();
        table.awaitCommitted(checkpoint.id());
        Savepoint stopped = job.stop();
        table.assertTags(stopped.tag());
        table.assertTagHolds(stopped.tag(), scenario.everything());
        table.assertHolds(scenario.everything());
    }
}
