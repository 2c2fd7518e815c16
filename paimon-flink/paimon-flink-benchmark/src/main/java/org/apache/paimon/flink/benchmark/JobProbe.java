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

import org.apache.paimon.Snapshot;
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
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whole jobs on a cluster in this process: records per second, checkpoint durations and the
 * writers' synchronous part, with auto-tag and without, on both commit paths, one after the other
 * in several turns. A savepoint is taken in each second, with auto-tag or not. And what it takes to
 * recover when one task fails.
 */
final class JobProbe {

    static final String OFF_COORDINATOR = "coordinator path, auto-tag off";
    static final String ON_COORDINATOR = "coordinator path, auto-tag on";
    static final String OFF_OPERATOR = "operator path, auto-tag off";
    static final String ON_OPERATOR = "operator path, auto-tag on";

    /** The same as {@link #OFF_COORDINATOR} once more: what two equal jobs differ by. */
    static final String CONTROL = "coordinator path, auto-tag off, again";

    static final int JOBS = 5;

    static final String RECORDS = "records/s";
    static final String CPU = "CPU us per record";
    static final String CHECKPOINT = "ms per checkpoint";
    static final String SYNC = "synchronous part ms";

    private static final int PARALLELISM = 2;
    private static final long CHECKPOINT_MILLIS = 200;

    private final Path directory;
    private int tables;

    private JobProbe(Path directory) {
        this.directory = directory;
    }

    static void runJobs(int warmUps, int turns, int seconds, Path directory, Results results)
            throws Exception {
        JobProbe probe = new JobProbe(directory);
        List<String> order =
                new ArrayList<>(
                        Arrays.asList(
                                OFF_COORDINATOR,
                                ON_COORDINATOR,
                                OFF_OPERATOR,
                                ON_OPERATOR,
                                CONTROL));
        try (JobRunner runner = new JobRunner(RpcServiceSharing.SHARED, 4)) {
            for (int turn = 1 - warmUps; turn <= turns; turn++) {
                // The order changes, so that it favours nobody.
                Collections.reverse(order);
                Collections.rotate(order, 1);
                for (String name : new ArrayList<>(order)) {
                    Job job =
                            probe.run(
                                    runner,
                                    name.startsWith("coordinator"),
                                    name.contains("auto-tag on"),
                                    seconds);
                    if (job == null) {
                        order.remove(name);
                    } else if (turn > 0) {
                        job.addTo(results, name, "turn " + turn + ": ");
                    }
                }
            }
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
        Job job = new Job();
        long first = System.nanoTime();
        long cpu = DrivenCoordinator.allCpuNanos();
        long emitted = JobRunner.EMITTED.sum();
        long from = System.currentTimeMillis();
        for (int second = 1; second <= seconds; second++) {
            long end = first + second * 1_000_000_000L;
            Trees.delete(savepoints);
            Files.createDirectories(savepoints);
            runner.savepoint(id, savepoints);
            JobRunner.await("a second has passed", () -> System.nanoTime() >= end);
        }
        job.records = JobRunner.EMITTED.sum() - emitted;
        job.cpuNanos = DrivenCoordinator.allCpuNanos() - cpu;
        job.nanos = System.nanoTime() - first;
        for (AbstractCheckpointStats stats :
                runner.graph(id).getCheckpointStatsSnapshot().getHistory().getCheckpoints()) {
            if (stats.getStatus() == CheckpointStatsStatus.COMPLETED
                    && stats.getTriggerTimestamp() >= from) {
                job.checkpointMillis.add((double) stats.getEndToEndDuration());
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
        String name = "test harness, savepoint of 10 files";
        results.add(name, "auto-tag off, CPU us", micros[0]);
        results.add(name, "auto-tag on, CPU us", micros[1]);
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
                    // An asynchronous commit of an earlier checkpoint does not count.
                    long restored = runner.restoredCheckpoint(id);
                    JobRunner.await(
                            "a checkpoint after the restore is committed",
                            () -> {
                                Snapshot latest = snapshots.latestSnapshotFromFileSystem();
                                return latest.commitIdentifier() > restored;
                            });
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
    }

    /** What one job of one turn did. */
    private static final class Job {

        private final List<Double> checkpointMillis = new ArrayList<>();
        private long records;
        private long nanos;
        private long cpuNanos;
        private long subtasks;
        private long syncMillis;

        private void addTo(Results results, String name, String turn) {
            results.add(name, turn + RECORDS, records * 1e9 / nanos);
            results.add(name, turn + CPU, cpuNanos / 1e3 / records);
            results.add(name, turn + CHECKPOINT, Numbers.median(checkpointMillis));
            results.add(name, turn + SYNC, (double) syncMillis / subtasks);
        }
    }
}
