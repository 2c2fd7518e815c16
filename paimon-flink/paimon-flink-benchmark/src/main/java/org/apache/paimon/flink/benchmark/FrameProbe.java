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

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.flink.sink.FlinkSinkBuilder;
import org.apache.paimon.flink.sink.RowAppendTableSink;
import org.apache.paimon.flink.sink.StoreSinkWrite;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * W2: a report, and a replay of several, that are larger than an RPC frame, through real RPC: one
 * writer reports very many files in one checkpoint; then savepoints, which nothing completes, pile
 * up, and a job restored from the last one replays them all.
 */
final class FrameProbe {

    /** How long nothing may arrive until what is missing counts as lost. */
    private static final long PATIENCE_MILLIS = 120_000;

    private static volatile MeasuredTable table;
    private static volatile HandOver handOver;
    private static volatile int files;

    private FrameProbe() {}

    static void run(int filesPerCheckpoint, int savepoints, Path directory, Results results)
            throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("sink.coordinator-commit.enabled", "true");
        table = MeasuredTable.create(directory, options);
        handOver = new HandOver();
        files = filesPerCheckpoint;
        String report = filesPerCheckpoint + " files in a report";
        String replay = savepoints + " such reports in a replay";
        try (JobRunner runner = new JobRunner(RpcServiceSharing.DEDICATED, 1)) {
            JobID job = runner.submit(job(), null);
            long start = System.nanoTime();
            resetPeak();
            runner.checkpoint(job);
            if (!allArrived(files, report, start, results)) {
                // It loses replays as well, and waits for them in vain before it takes a savepoint.
                runner.cancel(job);
                return;
            }

            Path directories = Files.createDirectories(directory.resolve("savepoints"));
            String last = null;
            for (int i = 0; i < savepoints; i++) {
                Path next = Files.createDirectories(directories.resolve("s" + i));
                last = runner.savepoint(job, next);
                if (i > 0) {
                    Trees.delete(directories.resolve("s" + (i - 1)));
                }
            }
            runner.cancel(job);

            handOver = new HandOver();
            start = System.nanoTime();
            resetPeak();
            job = runner.submit(job(), last);
            allArrived((long) files * savepoints, replay, start, results);
            runner.cancel(job);
        }
    }

    /** Time and heap tell nothing when something is missing. */
    private static boolean allArrived(long expected, String what, long start, Results results) {
        long arrived = handOver.arrivedWithin(expected, PATIENCE_MILLIS);
        results.add(what, "share that arrived", (double) arrived / expected);
        if (arrived < expected) {
            return false;
        }
        results.add(what, "seconds", (System.nanoTime() - start) / 1e9);
        results.add(what, "highest heap MB", peak());
        return true;
    }

    private static StreamExecutionEnvironment job() throws Exception {
        StreamExecutionEnvironment env = JobRunner.environment(1, TimeUnit.HOURS.toMillis(1));
        // Flink reads state back byte by byte; docs/operations.md recommends this for such states.
        env.getConfig().setUseSnapshotCompression(true);
        FileStoreTable written = table.table();
        new ManyFilesSink(written)
                .sinkFrom(
                        FlinkSinkBuilder.mapToInternalRow(
                                JobRunner.orders(env, 10), written.rowType(), null),
                        "frame-probe-00000000-0000-0000-0000-000000000001");
        return env;
    }

    private static void resetPeak() {
        System.gc();
        ManagementFactory.getMemoryPoolMXBeans().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    private static double peak() {
        long peak = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() == java.lang.management.MemoryType.HEAP) {
                peak += pool.getPeakUsage().getUsed();
            }
        }
        return peak / 1e6;
    }

    /** Ends in this process, although it travels as a job. */
    private static final class ManyFilesSink extends RowAppendTableSink {

        private static final long serialVersionUID = 1L;

        private ManyFilesSink(FileStoreTable table) {
            super(table, null, 1);
        }

        @Override
        protected Committer.Factory<Committable, ManifestCommittable> createCommitterFactory() {
            return context -> new NoIoCommitter(handOver);
        }

        @Override
        protected OneInputStreamOperatorFactory<InternalRow, Committable>
                createWriteOperatorFactory(StoreSinkWrite.Provider writes, String commitUser) {
            return super.createWriteOperatorFactory(
                    (table, user, state, ioManager, memory, metrics) ->
                            new GivenFilesWrite(id -> FrameProbe.table.files(files, id)),
                    commitUser);
        }
    }
}
