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

package org.apache.paimon.flink.sink.coordinator.report;

import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** Makes reports for tests: {@code Reports.of(7).files("a", "b").savepoint().encoded()}. */
public final class Reports {

    public static final CheckpointCommittablesSerializer SERIALIZER =
            new CheckpointCommittablesSerializer(
                    new CommittableSerializer(new CommitMessageSerializer()));

    private final long checkpointId;
    private final List<Committable> committables = new ArrayList<>();
    private long watermark = Long.MIN_VALUE;
    private boolean idle;
    private boolean savepoint;

    private Reports(long checkpointId) {
        this.checkpointId = checkpointId;
    }

    public static Reports of(long checkpointId) {
        return new Reports(checkpointId);
    }

    /** Files that exist in name only, one commit message each. */
    public Reports files(String... fileNames) {
        for (String fileName : fileNames) {
            committables.add(new Committable(checkpointId, message(fileName)));
        }
        return this;
    }

    /** Files that were really written. */
    public Reports messages(Collection<CommitMessage> messages) {
        for (CommitMessage message : messages) {
            committables.add(new Committable(checkpointId, message));
        }
        return this;
    }

    public Reports watermark(long value) {
        watermark = value;
        return this;
    }

    public Reports idle() {
        idle = true;
        return this;
    }

    public Reports savepoint() {
        savepoint = true;
        return this;
    }

    public CheckpointCommittables report() {
        return new CheckpointCommittables(checkpointId, committables, watermark, idle, savepoint);
    }

    public EncodedReport encoded() {
        try {
            return EncodedReport.encode(report(), SERIALIZER);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Names of the files that a report carries, in order. */
    public static List<String> fileNames(CheckpointCommittables report) {
        return report.committables().stream()
                .flatMap(
                        committable ->
                                ((CommitMessageImpl) committable.commitMessage())
                                        .newFilesIncrement().newFiles().stream())
                .map(DataFileMeta::fileName)
                .collect(Collectors.toList());
    }

    public static List<String> fileNames(EncodedReport report) {
        try {
            return fileNames(report.decode(SERIALIZER));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static CommitMessage message(String fileName) {
        DataFileMeta file =
                DataFileMeta.create(
                        fileName,
                        100L,
                        10L,
                        DataFileMeta.EMPTY_MIN_KEY,
                        DataFileMeta.EMPTY_MAX_KEY,
                        SimpleStats.EMPTY_STATS,
                        SimpleStats.EMPTY_STATS,
                        0L,
                        9L,
                        0L,
                        DataFileMeta.DUMMY_LEVEL,
                        Collections.emptyList(),
                        Timestamp.fromEpochMillis(1_600_000_000_000L),
                        null,
                        null,
                        FileSource.APPEND,
                        null,
                        null,
                        null,
                        null);
        return new CommitMessageImpl(
                BinaryRow.EMPTY_ROW,
                0,
                -1,
                new DataIncrement(
                        Collections.singletonList(file),
                        Collections.emptyList(),
                        Collections.emptyList()),
                CompactIncrement.emptyIncrement());
    }
}
