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

package org.apache.paimon.flink.sink;

import org.apache.paimon.flink.sink.testutils.AppendTable;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.flink.sink.testutils.JobITCase;
import org.apache.paimon.flink.sink.testutils.RunningJob;
import org.apache.paimon.flink.sink.testutils.Savepoint;
import org.apache.paimon.flink.sink.testutils.TestCluster;

import org.apache.flink.api.common.JobStatus;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;

/** What others can break: the state of a savepoint, and the directory of the tags. */
class BadInputITCase extends JobITCase {

    @RegisterExtension static final TestCluster CLUSTER = new TestCluster();

    @Override
    protected TestCluster cluster() {
        return CLUSTER;
    }

    private enum Damage {
        UNKNOWN_VERSION,
        ABSURD_COUNT,
        TRUNCATED
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2: a damaged writer state fails the restore and is named; the original restores")
    void damagedWriterStateIsNamed(Damage damage) throws Exception {
        AppendTable table = table(CommitPath.COORDINATOR);
        RunningJob job = start(table);
        // A lane's own position must not look like the beginning of a report.
        scenario.emit(10);
        scenario.emit(1, 5);
        Savepoint savepoint = job.savepoint();
        job.cancel();
        Path metadata = Paths.get(URI.create(savepoint.location())).resolve("_metadata");
        byte[] original = Files.readAllBytes(metadata);
        Files.write(metadata, damaged(original, savepoint.id(), damage));

        RunningJob damagedJob = submit(job(table).withoutRestart().from(savepoint));
        damagedJob.awaitStatus(JobStatus.FAILED);
        assertThat(damagedJob.failure())
                .contains("pending_committable_state")
                .contains(table.table().name())
                .contains(
                        damage == Damage.UNKNOWN_VERSION
                                ? "version 99"
                                : damage == Damage.ABSURD_COUNT ? "committables" : "bytes");
        assertThat(table.identifiers()).isEmpty();

        Files.write(metadata, original);
        start(job(table).from(savepoint));
        table.awaitTags(savepoint.tag());
        table.assertHolds(scenario.everything());
    }

    /** Finds the reports of both writers by checkpoint id and watermark. */
    private static byte[] damaged(byte[] metadata, long savepointId, Damage damage) {
        byte[] begin = ByteBuffer.allocate(2 * Long.BYTES).putLong(savepointId).putLong(10).array();
        byte[] damaged = metadata.clone();
        ByteBuffer buffer = ByteBuffer.wrap(damaged);
        int found = 0;
        for (int at = 8; at + begin.length <= damaged.length; at++) {
            if (!Arrays.equals(Arrays.copyOfRange(metadata, at, at + begin.length), begin)) {
                continue;
            }
            found++;
            switch (damage) {
                case UNKNOWN_VERSION:
                    buffer.putInt(at - 8, 99);
                    break;
                case ABSURD_COUNT:
                    buffer.putInt(at + begin.length + 2 + Integer.BYTES, Integer.MAX_VALUE);
                    break;
                default:
                    buffer.putInt(at + begin.length + 2 + 2 * Integer.BYTES, 1_000_000);
                    break;
            }
        }
        assertThat(found).as("reports in the savepoint").isEqualTo(2);
        return damaged;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "A8: a tag directory that cannot be written is named; mended, the tag is made up for")
    void tagDirectoryThatCannotBeWritten(CommitPath path) throws Exception {
        AppendTable table = table(path);
        RunningJob job = start(job(table).set("restart-strategy.fixed-delay.attempts", "10000"));
        Path tags = Paths.get(URI.create(table.location())).resolve("tag");
        Files.createFile(tags);

        scenario.emit(10);
        Savepoint savepoint = job.savepoint();
        scenario.emit(10);
        Savepoint checkpoint = job.checkpoint();
        Awaitility.await("the job has failed because of the tag")
                .atMost(Duration.ofSeconds(60))
                .until(() -> job.failures().contains(savepoint.tag()));
        assertThat(job.failures()).contains(tags.toString()).contains(savepoint.tag());
        Files.delete(tags);

        table.awaitTags(savepoint.tag());
        table.awaitCommitted(checkpoint.id());
        table.assertTagHolds(savepoint.tag(), scenario.before(savepoint.id()));
        table.assertHolds(scenario.everything());
    }
}
