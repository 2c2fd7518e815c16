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

import java.util.List;

import static org.apache.paimon.flink.cluster.demo.DemoContext.LIMIT;
import static org.apache.paimon.flink.cluster.demo.DemoContext.PARALLELISM;
import static org.apache.paimon.flink.cluster.demo.DemoContext.RECORDS;
import static org.apache.paimon.flink.cluster.demo.DemoContext.require;

/** Ends the restored job in one of three ways, and counts what is in the table. */
final class EndingSteps {

    private final DemoContext context;
    private final SavepointSteps savepoints;
    private final RollbackSteps rollback;

    EndingSteps(DemoContext context, SavepointSteps savepoints, RollbackSteps rollback) {
        this.context = context;
        this.savepoints = savepoints;
        this.rollback = rollback;
    }

    void finish() {
        context.rest().awaitJobState(context.job(), "FINISHED", LIMIT);
        context.tell("the table is at %s", context.head());
    }

    void stop() {
        awaitMoreRecordsThanBefore();
        RestClient.Savepoint last =
                context.cli()
                        .stop(
                                context.job(),
                                context.savepoints(),
                                RestClient.StopMode.NO_DRAIN,
                                LIMIT);
        context.tell("%s", last);
        // No waiting here: when the stop has returned, the tag is there.
        String tag = SavepointSteps.tagOf(last);
        TableDirectory.Snapshot tagged = context.table().tags().get(tag);
        require(tagged != null, "there is no tag %s; look at %s", tag, context.logs());
        SavepointSteps.requireOwn(last, tagged);
        require(
                tagged.id() == context.head().id(),
                "the tag is on %s, but the table is at %s",
                tagged,
                context.head());
        context.tell("tag %s is on %s", tag, tagged);
        savepoints.tellLogLine(last, tagged);
    }

    void cancel() {
        awaitMoreRecordsThanBefore();
        context.cancel();
        context.tell("the table is at %s", context.head());
    }

    /** All that the rollback threw away is written again, and more. */
    private void awaitMoreRecordsThanBefore() {
        long before = rollback.before().records();
        TableDirectory.Snapshot now =
                context.awaiting("more than " + before + " records")
                        .holds(
                                context.table()::latest,
                                s -> s.isPresent() && s.get().records() > before)
                        .get();
        context.tell(
                "the table is at %s; before the rollback it was at %s", now, rollback.before());
    }

    void count(DemoOptions.Ending ending) {
        SqlTable counted =
                context.run("count", context.sql().countBySplit(PARALLELISM)).tables().get(0);
        context.tellLines(counted.lines());
        ExactlyOnce check = new ExactlyOnce(PARALLELISM);
        for (List<String> row : counted.rows()) {
            check.split(
                    Integer.parseInt(row.get(0)),
                    Long.parseLong(row.get(1)),
                    Long.parseLong(row.get(2)),
                    Long.parseLong(row.get(3)),
                    Long.parseLong(row.get(4)));
        }
        long records = check.records();
        context.tell("%d records, each once, no gap below the last of each split", records);
        long expected = context.head().records();
        require(records == expected, "the snapshot says it has %d records", expected);
        require(
                ending != DemoOptions.Ending.FINISH || records == RECORDS,
                "the source had %d records to give",
                RECORDS);
    }
}
