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

package org.apache.paimon.flink.sink.testutils;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A scenario and a directory for each test; no job and no committing thread outlives its test. */
public abstract class JobITCase {

    @TempDir protected Path directory;

    protected Scenario scenario;

    private final List<RunningJob> jobs = new ArrayList<>();
    private final List<Scenario> scenarios = new ArrayList<>();

    @BeforeEach
    void openScenario() {
        scenario = scenario(0, 4);
    }

    @AfterEach
    void endJobs() {
        scenarios.forEach(Scenario::release);
        jobs.forEach(RunningJob::cancelIfRunning);
        RunningJob.awaitNoCommitter();
        scenarios.forEach(Scenario::close);
    }

    protected abstract TestCluster cluster();

    /**
     * Of every job, unless its test says something else. Chained, the sink has its default
     * parallelism.
     */
    protected Input input() {
        return Input.CHAINED;
    }

    /** One more scenario, of other records. */
    protected Scenario scenario(int firstLane, int lanes) {
        Scenario opened = Scenario.open(firstLane, lanes);
        scenarios.add(opened);
        return opened;
    }

    /** A table with auto-tag, and these options on top. */
    protected AppendTable table(CommitPath path, String... keysAndValues) throws Exception {
        Map<String, String> options = new HashMap<>(path.options());
        for (int i = 0; i < keysAndValues.length; i += 2) {
            options.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return AppendTable.create(directory, scenario, options);
    }

    protected RunningJob.Builder job() {
        RunningJob.Builder job = RunningJob.on(cluster(), directory).input(input());
        return input() == Input.CHAINED ? job : job.parallelismAtTheSink();
    }

    protected RunningJob.Builder job(AppendTable table) {
        return job().write(scenario, table.table());
    }

    protected RunningJob start(RunningJob.Builder builder) throws Exception {
        RunningJob job = submit(builder);
        job.awaitRunning();
        return job;
    }

    protected RunningJob start(AppendTable table) throws Exception {
        return start(job(table));
    }

    protected RunningJob submit(RunningJob.Builder builder) throws Exception {
        RunningJob job = builder.submit();
        jobs.add(job);
        return job;
    }
}
