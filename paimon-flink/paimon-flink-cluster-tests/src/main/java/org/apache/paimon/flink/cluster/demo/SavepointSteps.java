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

import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.SqlTable;
import org.apache.paimon.flink.cluster.TableDirectory;

import org.apache.flink.core.fs.Path;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import static org.apache.paimon.flink.cluster.demo.DemoContext.LIMIT;
import static org.apache.paimon.flink.cluster.demo.DemoContext.PARALLELISM;
import static org.apache.paimon.flink.cluster.demo.DemoContext.require;

/** Takes savepoints of the running job, and looks at their tags (T1, T2, L1). */
final class SavepointSteps {

    private static final String TIME_LEVEL_LOGGER_THREAD =
            "^(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+\\[[^\\]]*] ";

    private final DemoContext context;
    private RestClient.Savepoint first;
    private RestClient.Savepoint second;

    SavepointSteps(DemoContext context) {
        this.context = context;
    }

    /** Null before it is taken. */
    RestClient.Savepoint first() {
        return first;
    }

    /** Null before it is taken. */
    RestClient.Savepoint second() {
        return second;
    }

    static String tagOf(RestClient.Savepoint savepoint) {
        return "savepoint-" + savepoint.checkpointId();
    }

    // ------------------------------------------------------------------------------------------

    void takeByRest() {
        first = context.rest().savepoint(context.job(), context.savepoints(), LIMIT);
        awaitTag(first);
    }

    void takeByCommandLine() {
        second = context.cli().savepoint(context.job(), context.savepoints(), LIMIT);
        awaitTag(second);
    }

    private void awaitTag(RestClient.Savepoint savepoint) {
        context.tell("%s", savepoint);
        String tag = tagOf(savepoint);
        TableDirectory.Snapshot tagged =
                context.awaiting("tag " + tag)
                        .holds(
                                () -> Optional.ofNullable(context.table().tags().get(tag)),
                                Optional::isPresent)
                        .get();
        context.tell(
                "tag %s is on %s; the job has completed checkpoint %d",
                tag, tagged, context.rest().checkpoints(context.job()).latestCheckpoint());
        requireOwn(savepoint, tagged);
        tellLogLine(savepoint, tagged);
    }

    static void requireOwn(RestClient.Savepoint savepoint, TableDirectory.Snapshot tagged) {
        require(
                tagged.commitIdentifier() == savepoint.checkpointId(),
                "tag %s is on the commit of checkpoint %d, not of the savepoint",
                tagOf(savepoint),
                tagged.commitIdentifier());
    }

    /** What the JobManager logs of a savepoint that is tagged. */
    void tellLogLine(RestClient.Savepoint savepoint, TableDirectory.Snapshot tagged) {
        String begin = savepoint + ": ";
        String text = "S" + begin.substring(1);
        FlinkProcess jobManager = context.cluster().leader();
        List<String> lines =
                context.awaitingInAnyCase("'" + text + "...' in the JobManager's log")
                        .holds(() -> jobManager.linesLogged(text), found -> !found.isEmpty());
        String line = lines.get(lines.size() - 1);
        context.tell("in the log of %s:", jobManager.name());
        context.tell("%s", line.replaceFirst(TIME_LEVEL_LOGGER_THREAD, "$1 $2 $3: "));
        String expected =
                String.format(
                        "reported by %d of %d writers, committed as snapshot %d, tagged as %s.",
                        PARALLELISM, PARALLELISM, tagged.id(), tagOf(savepoint));
        require(line.endsWith(text + expected), "the line should end with '%s'", expected);
    }

    // ------------------------------------------------------------------------------------------

    void listAndRead() {
        List<SqlTable> results =
                context.run("tags", context.sql().tags(tagOf(first), tagOf(second))).tables();
        require(
                results.size() == 2,
                "2 results were expected, the client printed %d",
                results.size());
        SqlTable tags = results.get(0);
        SqlTable counted = results.get(1);
        context.tell("CALL sys.savepoint_tags(`table` => 'default.%s');", DemoSql.TABLE);
        tags.rows().forEach(row -> tellTag(tags.columns(), row));
        context.tell("the table at each tag:");
        context.tellLines(counted.lines());
        for (RestClient.Savepoint savepoint : Arrays.asList(first, second)) {
            requireListed(savepoint, tags);
            requireContent(savepoint, counted);
        }
    }

    /** The result is too wide for a terminal: a line for each of its columns. */
    private void tellTag(List<String> columns, List<String> row) {
        List<List<String>> values = new ArrayList<>();
        for (int column = 1; column < row.size(); column++) {
            String value = row.get(column).isEmpty() ? "-" : row.get(column);
            values.add(Arrays.asList("    " + columns.get(column), value));
        }
        context.tell("  %s %s", columns.get(0), row.get(0));
        context.tellLines(TextColumns.align(values));
    }

    private void requireListed(RestClient.Savepoint savepoint, SqlTable tags) {
        int row = rowOf(savepoint, tags);
        requireEqual("job_id", tags.column("job_id").get(row), context.job());
        requireEqual("metadata_exists", tags.column("metadata_exists").get(row), "true");
        requireEqual(
                "savepoint_path",
                new Path(tags.column("savepoint_path").get(row)).getPath(),
                new Path(savepoint.location()).getPath());
    }

    private static void requireEqual(String column, String value, String expected) {
        require(value.equals(expected), "%s should be %s and is %s", column, expected, value);
    }

    /** What was read at the tag is as much as the tagged snapshot says it has. */
    private void requireContent(RestClient.Savepoint savepoint, SqlTable counted) {
        String tag = tagOf(savepoint);
        long records = Long.parseLong(counted.column("records").get(rowOf(savepoint, counted)));
        long expected = context.table().tags().get(tag).records();
        require(
                records == expected,
                "%d records were read at %s, but its snapshot says it has %d",
                records,
                tag,
                expected);
    }

    private static int rowOf(RestClient.Savepoint savepoint, SqlTable result) {
        int row = result.column("tag").indexOf(tagOf(savepoint));
        require(row >= 0, "the result has no row for %s", tagOf(savepoint));
        return row;
    }
}
