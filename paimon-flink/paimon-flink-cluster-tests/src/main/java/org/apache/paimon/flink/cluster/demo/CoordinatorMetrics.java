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

import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.MetricsPage;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import static org.apache.paimon.flink.cluster.demo.DemoContext.require;

/** Reads the coordinator's metrics as Prometheus does: by HTTP from the JobManager's reporter. */
final class CoordinatorMetrics {

    static final String PREFIX = "flink_jobmanager_job_operator_coordinator_";

    /** What is shown of the running job, and what it says. */
    private static final String[][] RUNNING = {
        {"numCommits", "snapshots committed"},
        {"lastCommitDurationMs", "ms for the last commit, with its tag"},
        {"secondsSinceLastCommit", "s since the last commit"},
        {"pendingCheckpoints", "checkpoints reported by a writer and not committed"},
        {"heldReportBytes", "bytes of reports held"},
        {"numSavepointTagsCreated", "savepoint tags created"},
        {"lastTaggedCheckpointId", "checkpoint id of the savepoint tagged last"},
        {"numSavepointTagFailures", "attempts to create or delete a tag that failed"},
    };

    /** What is shown of the restored job. */
    private static final String[][] RESTORED = {
        {"numRestores", "restores completed"},
        {"lastRestoreDurationMs", "ms for the last restore, replays and commits included"},
        {"numSavepointTagsCreated", "savepoint tags created: that of the savepoint is there"},
        {"numSavepointTagCollisions", "tag names taken by another tag"},
    };

    private final DemoContext context;

    CoordinatorMetrics(DemoContext context) {
        this.context = context;
    }

    /**
     * Shows the metrics of the running job.
     *
     * @param tags how many savepoints have been tagged
     * @param lastTagged the checkpoint id of the last one
     */
    void tellRunning(int tags, long lastTagged) {
        Scrape scrape =
                context.awaiting("savepoint " + lastTagged + " in the coordinator's metrics")
                        .holds(this::scrape, seen -> seen.is("lastTaggedCheckpointId", lastTagged));
        tell(scrape, RUNNING);
        require(
                scrape.is("numSavepointTagsCreated", tags),
                "%d savepoints were tagged, the metric says otherwise",
                tags);
        require(scrape.is("numSavepointTagFailures", 0), "a tag has failed; see the log");
    }

    /** Shows the metrics of the restored job, unless it has ended before they could be read. */
    void tellRestored() {
        Scrape scrape =
                context.awaitingInAnyCase("the restore in the coordinator's metrics")
                        .holds(
                                () -> context.hasEnded() ? Scrape.NONE : scrape(),
                                seen -> seen == Scrape.NONE || seen.is("numRestores", 1));
        if (scrape == Scrape.NONE) {
            context.tell("the job has ended already: no metrics of it are left to read");
        } else {
            tell(scrape, RESTORED);
        }
    }

    private void tell(Scrape scrape, String[][] shown) {
        List<List<String>> rows = new ArrayList<>();
        for (String[] metric : shown) {
            rows.add(Arrays.asList("  " + metric[0], scrape.text(metric[0]), metric[1]));
        }
        context.tell("%s, %s...:", scrape.address, PREFIX);
        context.tellLines(TextColumns.align(rows));
    }

    private Scrape scrape() {
        for (MetricsPage page : context.prometheus().scrape()) {
            Map<String, Double> values = page.values(PREFIX, "job_id", context.job());
            if (!values.isEmpty()) {
                return new Scrape(page.address(), values);
            }
        }
        throw new ClusterException("no process serves metrics of the coordinator");
    }

    /** What the JobManager served at a time. */
    private static final class Scrape {

        /** The job has ended. */
        private static final Scrape NONE = new Scrape(null, null);

        private final URI address;
        private final Map<String, Double> values;

        private Scrape(URI address, Map<String, Double> values) {
            this.address = address;
            this.values = values;
        }

        private boolean is(String name, long value) {
            return value(name) == value;
        }

        private String text(String name) {
            return String.valueOf((long) value(name));
        }

        private double value(String name) {
            Double value = values.get(name);
            require(value != null, "%s%s is not at %s", PREFIX, name, address);
            return value;
        }

        @Override
        public String toString() {
            return String.valueOf(values);
        }
    }
}
