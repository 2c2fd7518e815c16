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
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.StockReleaseJob;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Savepoints that the untouched released jar has written, in a JVM without our classes, on either
 * commit path; and savepoints of ours that it restores.
 */
class StockSavepointITCase extends JobITCase {

    private static final int PARALLELISM = 2;

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest(name = "{0}, 2 to {1}, stopped {2}")
    @CsvSource({
        "COORDINATOR, 2, false",
        "COORDINATOR, 4, false",
        "COORDINATOR, 1, false",
        "COORDINATOR, 2, true",
        "OPERATOR, 2, false",
        "OPERATOR, 4, false"
    })
    @DisplayName(
            "S3: a savepoint of the released jar restores, and from then on savepoints are tagged")
    void savepointOfTheReleasedJarRestores(CommitPath path, int parallelism, boolean stopped)
            throws Exception {
        String autoTagBefore = String.valueOf(path == CommitPath.OPERATOR);
        AppendTable table = table(path, "sink.savepoint.auto-tag", autoTagBefore);
        StockReleaseJob stock =
                StockReleaseJob.run(directory, table.location(), scenario, PARALLELISM, stopped);
        assertThat(stock.releaseOnly()).as("the other JVM has none of our classes").isTrue();
        Savepoint savepoint = stock.savepoint();
        // The released coordinator may lose the race between the commit of a stop and its own end.
        assertThat(table.ids().size()).isIn(stopped ? Arrays.asList(40, 80) : Arrays.asList(40));

        RunningJob job =
                start(
                        job().parallelism(parallelism)
                                .write(scenario, table.table("sink.savepoint.auto-tag", "true"))
                                .from(savepoint));
        table.awaitCommitted(savepoint.id());
        table.assertHolds(scenario.before(savepoint.id()));
        scenario.emit(10);
        Savepoint next = job.savepoint();
        scenario.emit(10);
        Savepoint last = job.stop();

        assertThat(table.tags()).contains(next.tag(), last.tag());
        table.assertTagHolds(next.tag(), scenario.before(next.id()));
        table.assertHolds(scenario.everything());
        table.assertWatermarksRise();
        assertThat(table.commitUsers()).hasSize(1);
    }

    @ParameterizedTest(name = "stopped {0}")
    @ValueSource(booleans = {false, true})
    @DisplayName("S4: with auto-tag off, the released jar restores what this build has written")
    void releasedJarRestoresOurSavepoint(boolean stopped) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR, "sink.savepoint.auto-tag", "false");
        RunningJob job = start(job(table).parallelism(PARALLELISM));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = stopped ? job.stop() : job.savepoint();
        if (!stopped) {
            job.cancel();
        }

        goesOnInTheReleasedJar(table, savepoint, 20);
    }

    @Test
    @DisplayName("S4: from auto-tag on, one restore with it off leads back to the released jar")
    void wayBackFromAutoTag() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR, "sink.savepoint.auto-tag", "false");
        RunningJob tagging =
                start(
                        job().parallelism(PARALLELISM)
                                .write(scenario, table.table("sink.savepoint.auto-tag", "true")));
        scenario.emit(10);
        Savepoint pending = tagging.savepoint();
        scenario.emit(10);
        Savepoint flagged = tagging.savepoint();
        tagging.cancel();
        assertThat(table.identifiers()).doesNotContain(pending.id(), flagged.id());

        RunningJob job = start(job(table).parallelism(PARALLELISM).from(flagged));
        scenario.emit(10);
        Savepoint stopped = job.stop();
        table.assertHolds(scenario.everything());
        table.assertTags();

        goesOnInTheReleasedJar(table, stopped, 30);
    }

    private void goesOnInTheReleasedJar(AppendTable table, Savepoint savepoint, int emitted)
            throws Exception {
        StockReleaseJob stock =
                StockReleaseJob.restore(
                        directory, table.location(), scenario, PARALLELISM, savepoint, emitted);

        assertThat(stock.releaseOnly()).as("the other JVM has none of our classes").isTrue();
        table.assertHolds(scenario.everything());
        assertThat(table.ids()).hasSize(4 * (emitted + 20));
        assertThat(table.commitUsers()).hasSize(1);
    }
}
