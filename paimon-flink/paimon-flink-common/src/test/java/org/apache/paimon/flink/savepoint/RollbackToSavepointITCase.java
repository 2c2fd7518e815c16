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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.Scenario;
import org.apache.paimon.flink.sink.testutils.StockReleaseJob;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.types.Row;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code sys.rollback_to_savepoint} of real jobs, which are restored afterwards. */
class RollbackToSavepointITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13: back to the tag of a savepoint, and on from there")
    void taggedSavepoint(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint later = job.stop();
        table.assertTags(savepoint.tag(), later.tag());

        List<Row> rows =
                SqlCalls.batch(table)
                        .call(
                                "rollback_to_savepoint('%s', '%s')",
                                SqlCalls.name(table), savepoint.location());

        assertThat(SqlCalls.details(rows, "tag")).containsExactly(savepoint.tag());
        assertThat(SqlCalls.details(rows, "tag_going"))
                .hasSize(1)
                .allMatch(t -> t.contains(later.tag()));
        assertThat(SqlCalls.details(rows, "result")).containsExactly("rolled back");
        assertThat(SqlCalls.details(rows, "notice")).hasSize(1);
        table.assertTags(savepoint.tag());
        table.assertHolds(scenario.before(savepoint.id()));
        goesOn(table, job(table).from(savepoint));
    }

    @Test
    @DisplayName("issue 13: an empty savepoint without a tag, with a compaction behind it")
    void emptySavepointBeforeACompaction() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR, "compaction.min.file-num", "2");
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint first = job.checkpoint();
        table.awaitCommitted(first.id());
        // A writer reports its bucket once more without files.
        job.checkpoint();
        Savepoint empty = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();
        assertThat(table.identifiers()).doesNotContain(empty.id());
        SqlCalls sql = SqlCalls.batch(table);
        sql.call("compact('%s')", SqlCalls.name(table));
        assertThat(table.latest().commitKind()).isEqualTo(Snapshot.CommitKind.COMPACT);

        List<Row> rows =
                sql.call(
                        "rollback_to_savepoint('%s', '%s')",
                        SqlCalls.name(table), empty.location());

        assertThat(SqlCalls.details(rows, "tag")).isEmpty();
        assertThat(SqlCalls.details(rows, "reason"))
                .hasSize(1)
                .allMatch(r -> r.contains("newest snapshot of commit user"));
        assertThat(SqlCalls.details(rows, "snapshots_going"))
                .hasSize(2)
                .anyMatch(s -> s.contains("COMPACT"));
        table.assertHolds(scenario.before(empty.id()));
        goesOn(table, job(table).from(empty));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13: back to a retained checkpoint, with slash and _metadata")
    void retainedCheckpoint(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        table.awaitCommitted(checkpoint.id());
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();

        SqlCalls sql = SqlCalls.streaming(table);
        List<Row> dry =
                sql.call(
                        "rollback_to_savepoint('%s', '%s', true)",
                        SqlCalls.name(table), checkpoint.location() + "/_metadata");
        assertThat(SqlCalls.details(dry, "result")).containsExactly("dry run: nothing was changed");
        table.assertHolds(scenario.everything());
        sql.call(
                "rollback_to_savepoint(`table` => '%s', `savepoint` => '%s')",
                SqlCalls.name(table), URI.create(checkpoint.location()).getPath() + "/");

        table.assertHolds(scenario.before(checkpoint.id()));
        goesOn(table, job(table).from(checkpoint));
    }

    @ParameterizedTest(name = "{0} to {1}")
    @CsvSource({"4, 2", "2, 4"})
    @DisplayName("issue 13: restored at another parallelism")
    void rescaledRestore(int from, int to) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(job(table).parallelism(from));
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();

        rollBack(table, savepoint);

        table.assertHolds(scenario.before(savepoint.id()));
        goesOn(table, job(table).parallelism(to).from(savepoint));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13, T5: ids used twice: back to the savepoint of the second course")
    void idsUsedTwice(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(table);
        scenario.emit(5);
        Savepoint first = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        scenario.emit(5);
        Savepoint second = job.savepoint();
        scenario.emit(5);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();
        rollBack(table, first);
        RunningJob restored = start(job(table).from(first));
        scenario.awaitEmitted();
        table.awaitCommitted(restored.checkpoint().id());
        scenario.emit(5);
        Savepoint again = restored.savepoint();
        assertThat(again.id()).isEqualTo(second.id());
        scenario.emit(5);
        table.awaitCommitted(restored.checkpoint().id());
        restored.cancel();

        assertThatThrownBy(() -> rollBack(table, second))
                .hasStackTraceContaining("sys.savepoint_tags");
        table.assertHolds(scenario.everything());
        rollBack(table, again);

        table.assertHolds(scenario.before(again.id()));
        goesOn(table, job(table).from(again));
    }

    @Test
    @DisplayName("issue 13: a savepoint that was never committed goes to what was before it")
    void savepointThatWasNotCommitted() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint before = job.checkpoint();
        table.awaitCommitted(before.id());
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        job.cancel();
        table.appendForeignRow(4_000_000_000L);

        assertThatThrownBy(() -> rollBack(table, savepoint))
                .hasStackTraceContaining("force => true");
        SqlCalls.batch(table)
                .call(
                        "rollback_to_savepoint('%s', '%s', false, true)",
                        SqlCalls.name(table), savepoint.location());

        table.assertHolds(scenario.before(before.id()));
        goesOn(table, job(table).from(savepoint));
    }

    @Test
    @DisplayName("issue 13: two sinks in one job, each with a table of its own")
    void twoTables() throws Exception {
        Scenario more = scenario(10, 4);
        AppendTable first = table(CommitPath.COORDINATOR);
        AppendTable second = table(CommitPath.COORDINATOR, "sink.operator-uid.suffix", "second");
        RunningJob job = start(job(first).write(more, second.table()));
        scenario.emit(10);
        more.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        more.emit(5);
        Savepoint later = job.checkpoint();
        first.awaitCommitted(later.id());
        second.awaitCommitted(later.id());
        job.cancel();

        rollBack(first, savepoint);
        rollBack(second, savepoint);
        first.assertHolds(scenario.before(savepoint.id()));
        second.assertHolds(more.before(savepoint.id()));
        RunningJob restored = start(job(first).write(more, second.table()).from(savepoint));
        scenario.awaitEmitted();
        more.awaitEmitted();
        Savepoint last = restored.checkpoint();
        first.awaitCommitted(last.id());
        second.awaitCommitted(last.id());

        first.assertHolds(scenario.everything());
        second.assertHolds(more.everything());
    }

    @Test
    @DisplayName("issue 13: two sinks into one table: back to the earliest, the other is replayed")
    void twoSinksIntoOneTable() throws Exception {
        Scenario more = scenario(10, 4);
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(twoSinks(table, more));
        scenario.emit(10);
        more.emit(5);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        more.emit(5);
        Savepoint later = job.checkpoint();
        awaitBoth(table, later);
        job.cancel();

        List<Row> rows = rollBack(table, savepoint);

        assertThat(SqlCalls.details(rows, "passed_over"))
                .hasSize(1)
                .allMatch(other -> other.contains("earliest"));
        assertThat(table.snapshots()).hasSize(1);
        RunningJob restored = start(twoSinks(table, more).from(savepoint));
        scenario.awaitEmitted();
        more.awaitEmitted();
        awaitBoth(table, restored.checkpoint());
        Set<Long> both = new TreeSet<>(scenario.everything());
        both.addAll(more.everything());
        table.assertHolds(both);
    }

    private RunningJob.Builder twoSinks(AppendTable table, Scenario more) {
        return job().write(scenario, table.table("sink.operator-uid.suffix", "one"))
                .write(more, table.table("sink.operator-uid.suffix", "two"));
    }

    private static void awaitBoth(AppendTable table, Savepoint checkpoint) {
        table.awaitCommitted(checkpoint.id());
        table.awaitCommittedByAnother(
                table.newestWithIdentifier(checkpoint.id()).commitUser(), checkpoint.id());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("issue 13, S3: a savepoint of the stock release")
    void savepointOfTheStockRelease(CommitPath path) throws Exception {
        AppendTable table =
                table(path, "sink.savepoint.auto-tag", String.valueOf(path == CommitPath.OPERATOR));
        StockReleaseJob stock =
                StockReleaseJob.run(directory, table.location(), scenario, 2, false);
        assertThat(stock.releaseOnly()).isTrue();
        Savepoint savepoint = stock.savepoint();
        RunningJob job = start(job().parallelism(2).write(scenario, table.table()).from(savepoint));
        table.awaitCommitted(savepoint.id());
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        job.cancel();

        rollBack(table, savepoint);

        table.assertHolds(scenario.before(savepoint.id()));
        goesOn(table, job(table).parallelism(2).from(savepoint));
    }

    @Test
    @DisplayName("issue 13: while the job runs, its JobManager says so and nothing is changed")
    void runningJobIsFound() throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        table.awaitCommitted(job.checkpoint().id());
        URI rest = CLUSTER.miniCluster().getRestAddress().get();
        String jobManager = rest.getHost() + ":" + rest.getPort();
        SqlCalls sql = SqlCalls.batch(table);
        String call =
                String.format(
                        "rollback_to_savepoint(`table` => '%s', `savepoint` => '%s',"
                                + " job_manager => '%s')",
                        SqlCalls.name(table), savepoint.location(), jobManager);

        assertThatThrownBy(() -> sql.call(call))
                .rootCause()
                .hasMessageContaining(job.jobId().toString())
                .hasMessageContaining("Stop them first");
        table.assertHolds(scenario.everything());

        job.cancel();
        assertThat(SqlCalls.details(sql.call(call), "result")).containsExactly("rolled back");
        table.assertHolds(scenario.before(savepoint.id()));
        goesOn(table, job(table).from(savepoint));
    }

    private static List<Row> rollBack(AppendTable table, Savepoint savepoint) throws Exception {
        return SqlCalls.batch(table)
                .call(
                        "rollback_to_savepoint('%s', '%s')",
                        SqlCalls.name(table), savepoint.location());
    }

    /** Everything is emitted again from there, and something new after it. */
    private void goesOn(AppendTable table, RunningJob.Builder builder) throws Exception {
        RunningJob restored = start(builder);
        scenario.awaitEmitted();
        scenario.emit(10);
        table.awaitCommitted(restored.checkpoint().id());
        table.assertHolds(scenario.everything());
        assertThat(table.commitUsers()).hasSize(1);
    }
}
