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

package org.apache.paimon.flink.benchmark;

import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.utils.SnapshotManager;

import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.SubtaskStateStats;
import org.apache.flink.runtime.checkpoint.TaskStateStats;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;

import javax.annotation.Nullable;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Whole jobs on a cluster in this process: records per second, checkpoint durations and the
 * writers' synchronous part, with auto-tag and without, on both commit paths, one after the other
 * in several turns. A savepoint is taken in each second, with auto-tag or not. And what it takes to
 * recover when one task fails.
 */
final class JobProbe {

    private static final String ON_COORDINATOR = "coordinator path, auto-tag on";
    private static final String OFF_COORDINATOR = "coordinator path, auto-tag off";
    private static final String ON_OPERATOR = "operator path, auto-tag on";
    private static final String OFF_OPERATOR = "operator path, auto-tag off";

    private static final int PARALLELISM = 2;
    private static final long CHECKPOINT_MILLIS = 200;

    private final Path directory;
    private int tables;

    private JobProbe(Path directory) {
        this.directory = directory;
    }

    static void runJobs(int turns, int seconds, Path directory, Results results) throws Exception {
        JobProbe probe = new JobProbe(directory);
        Map<String, Job> jobs = new LinkedHashMap<>();
        for (String name :
                new String[] {OFF_COORDINATOR, ON_COORDINATOR, OFF_OPERATOR, ON_OPERATOR}) {
            jobs.put(name, new Job());
        }
        List<String> order = new ArrayList<>(jobs.keySet());
        try (JobRunner runner = new JobRunner(RpcServiceSharing.SHARED, 4)) {
            // The first two turns only warm up. The order changes, so that it favours nobody.
            for (int turn = -2; turn < turns; turn++) {
                Collections.reverse(order);
                for (String name : order) {
                    Job job =
                            probe.run(
                                    runner,
                                    name.startsWith("coordinator"),
                                    name.endsWith("on"),
                                    seconds);
                    if (job == null) {
                        jobs.remove(name);
                    } else if (turn >= 0) {
                        jobs.get(name).add(job);
                    }
                }
                order.retainAll(jobs.keySet());
            }
        }
        jobs.forEach(
                (name, job) -> {
                    results.add(name, "records/s", job.recordsPerSecond());
                    results.add(name, "checkpoint ms", job.checkpointMillis());
                    results.add(name, "synchronous part ms", job.syncMillis());
                });
        compare("coordinator path, on/off", ON_COORDINATOR, OFF_COORDINATOR, jobs, results);
        compare("operator path, on/off", ON_OPERATOR, OFF_OPERATOR, jobs, results);
        compare("on, coordinator/operator path", ON_COORDINATOR, ON_OPERATOR, jobs, results);
        compare("off, coordinator/operator path", OFF_COORDINATOR, OFF_OPERATOR, jobs, results);
    }

    private static void compare(
            String name, String job, String with, Map<String, Job> jobs, Results results) {
        Job one = jobs.get(job);
        Job other = jobs.get(with);
        if (one != null && other != null) {
            results.add(name, "records/s", one.recordsPerSecond() / other.recordsPerSecond());
            results.add(name, "checkpoint", one.checkpointMillis() / other.checkpointMillis());
            results.add(name, "synchronous part", one.syncMillis() / other.syncMillis());
        }
    }

    /**
     * @return null when the jar refuses the combination of options
     */
    @Nullable
    private Job run(JobRunner runner, boolean coordinator, boolean tagging, int seconds)
            throws Exception {
        JobID id;
        try {
            id =
                    runner.write(
                            table(coordinator, tagging), PARALLELISM, CHECKPOINT_MILLIS, 1_000_000);
        } catch (IllegalArgumentException refused) {
            return null;
        }
        Path savepoints = Files.createDirectories(directory.resolve("savepoints"));
        // Past its start.
        runner.checkpoint(id);
        long first = System.nanoTime();
        long emitted = JobRunner.EMITTED.sum();
        long from = System.currentTimeMillis();
        for (int second = 1; second <= seconds; second++) {
            long end = first + second * 1_000_000_000L;
            Trees.delete(savepoints);
            Files.createDirectories(savepoints);
            runner.savepoint(id, savepoints);
            JobRunner.await("a second has passed", () -> System.nanoTime() >= end);
        }
        Job job = new Job();
        job.records = JobRunner.EMITTED.sum() - emitted;
        job.nanos = System.nanoTime() - first;
        for (AbstractCheckpointStats stats :
                runner.graph(id).getCheckpointStatsSnapshot().getHistory().getCheckpoints()) {
            if (stats.getStatus() == CheckpointStatsStatus.COMPLETED
                    && stats.getTriggerTimestamp() >= from) {
                job.checkpoints++;
                job.checkpointMillis += stats.getEndToEndDuration();
                for (TaskStateStats task : stats.getAllTaskStateStats()) {
                    for (SubtaskStateStats subtask : task.getSubtaskStats()) {
                        if (subtask != null) {
                            job.subtasks++;
                            job.syncMillis += subtask.getSyncCheckpointDuration();
                        }
                    }
                }
            }
        }
        runner.cancel(id);
        return job;
    }

    private FileStoreTable table(boolean coordinator, boolean tagging) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("sink.coordinator-commit.enabled", Boolean.toString(coordinator));
        options.put("sink.savepoint.auto-tag", Boolean.toString(tagging));
        return MeasuredTable.create(
                        Files.createDirectories(directory.resolve("table-" + tables++)), options)
                .table();
    }

    /**
     * The synchronous part alone, in Flink's test harness, for a savepoint with ten files: finer
     * than the milliseconds that Flink counts.
     */
    static void runWriter(int savepoints, Path directory, Results results) throws Exception {
        MeasuredTable measured = MeasuredTable.create(directory, Collections.emptyMap());
        double[] micros = {Double.MAX_VALUE, Double.MAX_VALUE};
        RecordedWriter[] writers = new RecordedWriter[2];
        for (int tagging = 0; tagging < 2; tagging++) {
            Map<String, String> options = new HashMap<>();
            options.put("sink.coordinator-commit.enabled", "true");
            options.put("sink.savepoint.auto-tag", Boolean.toString(tagging == 1));
            writers[tagging] =
                    RecordedWriter.start(
                            MeasuredSink.committing(measured.table(options))
                                    .writers(
                                            (table, user, state, io, memory, metrics) ->
                                                    new GivenFilesWrite(
                                                            id -> measured.files(10, id)),
                                            "writer"));
        }
        for (long id = 1; id <= savepoints; id++) {
            for (int tagging = 0; tagging < 2; tagging++) {
                RecordedWriter writer = writers[tagging];
                long start = DrivenCoordinator.ownCpuNanos();
                writer.savepoint(id);
                micros[tagging] =
                        Math.min(micros[tagging], (DrivenCoordinator.ownCpuNanos() - start) / 1e3);
                writer.sent();
                writer.complete(id);
            }
        }
        String name = "one writer, 10 files, a savepoint";
        results.add(name, "auto-tag off, CPU us", micros[0]);
        results.add(name, "auto-tag on, CPU us", micros[1]);
        results.add("one writer, on/off", "synchronous part", micros[1] / micros[0]);
    }

    /** One of four independent writers fails. */
    static void runRecovery(int turns, Path directory, Results results) throws Exception {
        JobProbe probe = new JobProbe(directory);
        double[] restarted = new double[2];
        double[] millis = {Double.MAX_VALUE, Double.MAX_VALUE};
        try (JobRunner runner = new JobRunner(RpcServiceSharing.SHARED, 4)) {
            for (int turn = 0; turn <= turns; turn++) {
                for (int path = 0; path < 2; path++) {
                    FileStoreTable table = probe.table(path == 0, false);
                    JobID id = runner.write(table, 4, CHECKPOINT_MILLIS, 20_000);
                    SnapshotManager snapshots = table.snapshotManager();
                    JobRunner.await(
                            "the job has committed",
                            () -> snapshots.latestSnapshotIdFromFileSystem() != null);
                    long failedAt = System.nanoTime();
                    JobRunner.FAIL.set(true);
                    restarted[path] = runner.awaitRestart(id);
                    long latest = snapshots.latestSnapshotIdFromFileSystem();
                    JobRunner.await(
                            "the job commits again",
                            () -> snapshots.latestSnapshotIdFromFileSystem() > latest);
                    if (turn > 0) {
                        millis[path] = Math.min(millis[path], (System.nanoTime() - failedAt) / 1e6);
                    }
                    runner.cancel(id);
                }
            }
        }
        String[] names = {"coordinator path", "operator path"};
        for (int path = 0; path < 2; path++) {
            results.add(names[path], "tasks restarted", restarted[path]);
            results.add(names[path], "ms until the next commit", millis[path]);
        }
        results.add("coordinator/operator", "tasks restarted", restarted[0] / restarted[1]);
        results.add("coordinator/operator", "time until the next commit", millis[0] / millis[1]);
    }

    /** Sums over the turns. */
    private static final class Job {

        private long records;
        private long nanos;
        private long checkpoints;
        private long checkpointMillis;
        private long subtasks;
        private long syncMillis;

        private void add(Job other) {
            records += other.records;
            nanos += other.nanos;
            checkpoints += other.checkpoints;
            checkpointMillis += other.checkpointMillis;
            subtasks += other.subtasks;
            syncMillis += other.syncMillis;
        }

        private double recordsPerSecond() {
            return records * 1e9 / nanos;
        }

        private double checkpointMillis() {
            return (double) checkpointMillis / checkpoints;
        }

        private double syncMillis() {
            return (double) syncMillis / subtasks;
        }
    }
}
