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

import org.apache.paimon.flink.sink.AutoTagForSavepointCommitterOperatorFactory;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableTypeInfo;
import org.apache.paimon.flink.sink.CommitterOperatorFactory;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.tag.testutils.CountingFileIO;

import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.stream.Collectors;

/**
 * File system calls that a tag costs: those of a committer operator with auto-tag, less those of
 * one without, doing the same. Counted, so load on the machine does not matter.
 *
 * <pre>
 *   newest       the savepoint is committed and tagged, its snapshot is the newest
 *   100 behind   the job died between commit and tag, others committed 100 snapshots since
 *   gone         as before, but the snapshot has expired, the job had committed once more, and
 *                others committed as many as there were
 * </pre>
 */
final class TagProbe {

    private static final String USER = "job-00000000-0000-0000-0000-000000000001";
    private static final long SAVEPOINT = 5;

    static final String NEWEST = "newest";
    private static final String BEHIND = "100 behind";
    private static final String GONE = "gone, with others' commits after it";

    private final int snapshots;
    private final Path directory;

    private CountingFileIO fileIO;
    private MeasuredTable table;
    private Path snapshotDirectory;

    private TagProbe(int snapshots, Path directory) {
        this.snapshots = snapshots;
        this.directory = directory;
    }

    static void run(int snapshots, Path directory, Results results) throws Exception {
        TagProbe probe = new TagProbe(snapshots, directory);
        String name = snapshots + " snapshots";
        for (String situation : new String[] {NEWEST, BEHIND, GONE}) {
            CallCount with = probe.measure(situation, true);
            CallCount without = probe.measure(situation, false);
            results.add(name, situation + ": calls", with.total - without.total);
            results.add(name, situation + ": files opened", with.opened - without.opened);
        }
    }

    private CallCount measure(String situation, boolean tagging) throws Exception {
        createTable((situation + (tagging ? " on" : " off")).replaceAll("\\W+", "-"));
        OperatorSubtaskState state;
        try (OneInputStreamOperatorTestHarness<Committable, Committable> committer =
                committer(tagging)) {
            committer.initializeEmptyState();
            committer.open();
            committer.processElement(table.files(1, SAVEPOINT).get(0), SAVEPOINT);
            state =
                    committer
                            .snapshotWithLocalState(
                                    SAVEPOINT,
                                    SAVEPOINT,
                                    SavepointType.savepoint(SavepointFormatType.CANONICAL))
                            .getJobManagerOwnedState();
            fileIO.reset();
            committer.notifyOfCompletedCheckpoint(SAVEPOINT);
            if (situation.equals(NEWEST)) {
                return new CallCount(fileIO);
            }
            if (situation.equals(GONE)) {
                committer.processElement(table.files(1, SAVEPOINT + 1).get(0), SAVEPOINT + 1);
                committer.snapshot(SAVEPOINT + 1, SAVEPOINT + 1);
                committer.notifyOfCompletedCheckpoint(SAVEPOINT + 1);
            }
        }

        Files.deleteIfExists(
                snapshotDirectory.resolveSibling("tag").resolve("tag-savepoint-" + SAVEPOINT));
        long savepointSnapshot = snapshots + 1L;
        if (situation.equals(BEHIND)) {
            addSnapshots(100);
        } else {
            addSnapshots(snapshots);
            for (long id = 1; id <= savepointSnapshot; id++) {
                Files.delete(snapshotDirectory.resolve("snapshot-" + id));
            }
            hint("EARLIEST", savepointSnapshot + 1);
        }
        try (OneInputStreamOperatorTestHarness<Committable, Committable> committer =
                committer(tagging)) {
            fileIO.reset();
            committer.initializeState(state);
            committer.open();
            return new CallCount(fileIO);
        }
    }

    private void createTable(String name) throws Exception {
        fileIO = new CountingFileIO(LocalFileIO.create());
        Path warehouse = Files.createDirectories(directory.resolve(name));
        table = MeasuredTable.create(fileIO, warehouse, Collections.emptyMap());
        try (TableCommitImpl commit = table.table().newCommit("others")) {
            commit.commit(
                    new ManifestCommittable(
                            1,
                            null,
                            table.files(1, 1).stream()
                                    .map(Committable::commitMessage)
                                    .collect(Collectors.toList())));
        }
        snapshotDirectory =
                warehouse
                        .resolve(MeasuredTable.NAME.getDatabaseName() + ".db")
                        .resolve(MeasuredTable.NAME.getTableName())
                        .resolve("snapshot");
        addSnapshots(snapshots - 1);
    }

    /** As if others had committed; copied from the first snapshot, which is much faster. */
    private void addSnapshots(int count) throws Exception {
        long latest = table.table().snapshotManager().latestSnapshotId();
        Path first = snapshotDirectory.resolve("snapshot-1");
        String text = new String(Files.readAllBytes(first), StandardCharsets.UTF_8);
        for (long id = latest + 1; id <= latest + count; id++) {
            String copy = text.replaceFirst("(\"id\"\\s*:\\s*)1\\b", "$1" + id);
            Files.write(
                    snapshotDirectory.resolve("snapshot-" + id),
                    copy.getBytes(StandardCharsets.UTF_8));
        }
        hint("LATEST", latest + count);
    }

    private void hint(String name, long id) throws Exception {
        Files.write(
                snapshotDirectory.resolve(name),
                Long.toString(id).getBytes(StandardCharsets.UTF_8));
    }

    private OneInputStreamOperatorTestHarness<Committable, Committable> committer(boolean tagging)
            throws Exception {
        FileStoreTable committed = table.table();
        CommitterOperatorFactory<Committable, ManifestCommittable> plain =
                MeasuredSink.committing(committed).committers(USER);
        OneInputStreamOperatorFactory<Committable, Committable> factory =
                tagging
                        ? new AutoTagForSavepointCommitterOperatorFactory<>(
                                plain,
                                committed::snapshotManager,
                                committed::tagManager,
                                () -> committed.store().newTagDeletion(),
                                () -> committed.store().createTagCallbacks(committed),
                                null)
                        : plain;
        OneInputStreamOperatorTestHarness<Committable, Committable> harness =
                new OneInputStreamOperatorTestHarness<>(factory, 1, 1, 0);
        harness.setup(new CommittableTypeInfo().createSerializer(new SerializerConfigImpl()));
        return harness;
    }

    private static final class CallCount {

        private final long total;
        private final long opened;

        private CallCount(CountingFileIO fileIO) {
            this.total = fileIO.total();
            this.opened = fileIO.count(CountingFileIO.Call.OPEN);
        }
    }
}
