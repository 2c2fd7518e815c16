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

import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.SqlTable;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static org.apache.paimon.flink.cluster.demo.DemoContext.require;

/** Rolls the table back to a savepoint, of which only the path is given, and restores the job. */
final class RollbackSteps {

    /** So high that the demo is short, and so low that metrics can be read meanwhile. */
    private static final long RECORDS_PER_SECOND_TO_THE_END = 50_000;

    /** The restored job catches up, so that nobody has to wait. */
    private static final long RECORDS_PER_SECOND = 4_000;

    private final DemoContext context;
    private final SavepointSteps savepoints;
    private final CoordinatorMetrics metrics;

    /** The newest snapshot before the rollback; null until the job is cancelled. */
    private TableDirectory.Snapshot before;

    /** The snapshot of the savepoint; null until the dry run. */
    private TableDirectory.Snapshot target;

    /** What the dry run has said; null before it. */
    private SqlTable announced;

    RollbackSteps(DemoContext context, SavepointSteps savepoints, CoordinatorMetrics metrics) {
        this.context = context;
        this.savepoints = savepoints;
        this.metrics = metrics;
    }

    TableDirectory.Snapshot before() {
        return before;
    }

    void cancelJob() {
        context.cancel();
        before = context.head();
        context.tell("the table is at %s", before);
    }

    void dryRun() {
        target = context.table().tags().get(SavepointSteps.tagOf(savepoints.first()));
        announced = call("dry-run", ",\n    dry_run => true");
        tellRows(announced.rows());
        requireRow(announced, "result", "dry run: nothing was changed");
        requireRow(announced, "snapshot_id", String.valueOf(target.id()));
        TableDirectory.Snapshot now = context.head();
        require(now.id() == before.id(), "the dry run has changed the table: it is at %s", now);
        context.tell("the table is at %s, as before", now);
    }

    void rollBack() {
        SqlTable done = call("rollback", "");
        List<List<String>> news = new ArrayList<>(done.rows());
        news.removeAll(announced.rows());
        context.tell("the rows of the dry run, but for:");
        tellRows(news);
        requireRow(done, "result", "rolled back");
        require(
                news.size() == 1 && done.rows().size() == announced.rows().size(),
                "the dry run had announced something else: %s",
                announced.rows());
        TableDirectory.Snapshot now = context.head();
        Map<String, TableDirectory.Snapshot> tags = context.table().tags();
        context.tell("the table is at %s, its tags are %s", now, tags.keySet());
        require(
                now.id() == target.id(),
                "the table should be at the snapshot of savepoint %d",
                savepoints.first().checkpointId());
        require(
                tags.containsKey(SavepointSteps.tagOf(savepoints.first()))
                        && !tags.containsKey(SavepointSteps.tagOf(savepoints.second())),
                "the first tag should be there and the second one gone");
    }

    private SqlTable call(String purpose, String more) {
        String savepoint = savepoints.first().location();
        String jobManager = context.jobManager();
        context.tell("%s", DemoSql.rollbackCall(savepoint, jobManager, more).trim());
        return context.run(purpose, context.sql().rollback(savepoint, jobManager, more))
                .tables()
                .get(0);
    }

    private void tellRows(List<List<String>> rows) {
        List<List<String>> indented = new ArrayList<>();
        rows.forEach(row -> indented.add(Arrays.asList("  " + row.get(0), row.get(1))));
        context.tellLines(TextColumns.align(indented));
    }

    private static void requireRow(SqlTable said, String item, String detail) {
        int row = said.column("item").indexOf(item);
        require(
                row >= 0 && said.column("detail").get(row).equals(detail),
                "the procedure should have said '%s: %s'",
                item,
                detail);
    }

    void restore(DemoOptions.Ending ending) {
        RestClient.Savepoint first = savepoints.first();
        context.submit(
                DemoSql.restoreFrom(first.location()),
                ending == DemoOptions.Ending.FINISH
                        ? RECORDS_PER_SECOND_TO_THE_END
                        : RECORDS_PER_SECOND);
        String job = context.job();
        long restored =
                context.awaitingInAnyCase("job " + job + " to be restored")
                        .holds(
                                () -> context.rest().checkpoints(job).restored(),
                                Optional::isPresent)
                        .get();
        context.tell("job %s goes on from checkpoint id %d", job, restored);
        require(
                restored == first.checkpointId(),
                "it should go on from savepoint %d",
                first.checkpointId());
        metrics.tellRestored();
    }
}
