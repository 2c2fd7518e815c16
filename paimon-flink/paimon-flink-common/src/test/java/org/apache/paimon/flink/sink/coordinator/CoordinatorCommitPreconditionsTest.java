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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataTypes;

import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The spec's refusals: each names the option, what it found and what it needs. */
class CoordinatorCommitPreconditionsTest {

    private static final String OPTION = "sink.coordinator-commit.enabled";

    @TempDir private File directory;

    private FileStoreTable table(boolean primaryKey, String... options) throws Exception {
        Map<String, String> all = new HashMap<>();
        all.put(OPTION, "true");
        all.put("bucket", "-1");
        all.put("write-only", "true");
        for (int i = 0; i < options.length; i += 2) {
            all.put(options[i], options[i + 1]);
        }
        Schema.Builder schema =
                Schema.newBuilder()
                        .column("id", DataTypes.INT().notNull())
                        .column("name", DataTypes.STRING())
                        .options(all);
        if (primaryKey) {
            schema.primaryKey("id");
        }
        FileSystemCatalog catalog =
                new FileSystemCatalog(LocalFileIO.create(), new Path(directory.toURI().toString()));
        catalog.createDatabase("db", true);
        Identifier identifier = Identifier.create("db", "t");
        catalog.createTable(identifier, schema.build(), false);
        return (FileStoreTable) catalog.getTable(identifier);
    }

    private static CheckpointConfig checkpoints(Duration interval, int concurrent) {
        Configuration configuration = new Configuration();
        if (interval != null) {
            configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
        }
        configuration.set(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, concurrent);
        return StreamExecutionEnvironment.getExecutionEnvironment(configuration)
                .getCheckpointConfig();
    }

    private static void refused(ThrowingCallable check, String name, String found, String needed) {
        assertThatThrownBy(check)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPTION)
                .hasMessageContaining(name)
                .hasMessageContaining("to be " + needed)
                .hasMessageContaining("but it is " + found);
    }

    // ------------------------------------------------------------------------

    @Test
    @DisplayName("Refusals: a table and a job that fit pass")
    void passes() throws Exception {
        FileStoreTable table = table(false);

        assertThat(CoordinatorCommitPreconditions.requested(table)).isTrue();
        assertThatCode(() -> CoordinatorCommitPreconditions.checkTable(table))
                .doesNotThrowAnyException();
        assertThatCode(
                        () ->
                                CoordinatorCommitPreconditions.checkJob(
                                        true, checkpoints(Duration.ofSeconds(1), 1)))
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("Refusals: the auto-tag option is not refused (any more)")
    void passesAutoTag() throws Exception {
        FileStoreTable table = table(false, "sink.savepoint.auto-tag", "true");

        assertThatCode(() -> CoordinatorCommitPreconditions.checkTable(table))
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("Refusals: the path is off unless asked for")
    void offByDefault() throws Exception {
        FileStoreTable table = table(false, OPTION, "false");

        assertThat(CoordinatorCommitPreconditions.requested(table)).isFalse();
    }

    @Test
    @DisplayName("Refusals: a primary key is named with its columns")
    void refusesPrimaryKeys() throws Exception {
        FileStoreTable table = table(true, "bucket", "2");

        refused(
                () -> CoordinatorCommitPreconditions.checkTable(table),
                "primary-key",
                "[id]",
                "no primary key");
    }

    @Test
    @DisplayName("Refusals: a fixed bucket is named with its number")
    void refusesFixedBuckets() throws Exception {
        FileStoreTable table = table(false, "bucket", "4", "bucket-key", "id");

        refused(
                () -> CoordinatorCommitPreconditions.checkTable(table),
                "bucket",
                "4 (HASH_FIXED)",
                "-1");
    }

    @Test
    @DisplayName("Refusals: write-only = false")
    void refusesWritersThatCompact() throws Exception {
        FileStoreTable table = table(false, "write-only", "false");

        refused(
                () -> CoordinatorCommitPreconditions.checkTable(table),
                "write-only",
                "false",
                "true");
    }

    @Test
    @DisplayName("Refusals: precommit-compact = true")
    void refusesPrecommitCompaction() throws Exception {
        FileStoreTable table = table(false, "precommit-compact", "true");

        refused(
                () -> CoordinatorCommitPreconditions.checkTable(table),
                "precommit-compact",
                "true",
                "false");
    }

    @Test
    @DisplayName("Refusals: batch mode")
    void refusesBatch() {
        refused(
                () ->
                        CoordinatorCommitPreconditions.checkJob(
                                false, checkpoints(Duration.ofSeconds(1), 1)),
                "execution.runtime-mode",
                "BATCH",
                "STREAMING");
    }

    @Test
    @DisplayName("Refusals: checkpointing off")
    void refusesJobsWithoutCheckpoints() {
        refused(
                () -> CoordinatorCommitPreconditions.checkJob(true, checkpoints(null, 1)),
                "execution.checkpointing.interval",
                "not set",
                "an interval");
    }

    @Test
    @DisplayName("Refusals: more than one concurrent checkpoint")
    void refusesConcurrentCheckpoints() {
        refused(
                () ->
                        CoordinatorCommitPreconditions.checkJob(
                                true, checkpoints(Duration.ofSeconds(1), 3)),
                "execution.checkpointing.max-concurrent-checkpoints",
                "3",
                "1");
    }

    @Test
    @DisplayName("E1: a bounded source without checkpoints after it has finished is named")
    void refusesBoundedSourcesWithoutALastCheckpoint() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Long> bounded = env.fromSequence(1, 2).map(x -> x);

        assertThatThrownBy(
                        () ->
                                CoordinatorCommitPreconditions.checkBoundedSources(
                                        false, bounded.getTransformation()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPTION)
                .hasMessageContaining("Sequence")
                .hasMessageContaining("execution.checkpointing.checkpoints-after-tasks-finish")
                .hasMessageContaining("= true")
                .hasMessageContaining("false");
        assertThatCode(
                        () ->
                                CoordinatorCommitPreconditions.checkBoundedSources(
                                        true, bounded.getTransformation()))
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("E1: an unbounded source needs no checkpoint after its end")
    void passesUnboundedSources() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        @SuppressWarnings("deprecation")
        DataStream<Long> unbounded =
                env.addSource(
                        new org.apache.flink.streaming.api.functions.source.legacy.SourceFunction<
                                Long>() {
                            @Override
                            public void run(SourceContext<Long> context) {}

                            @Override
                            public void cancel() {}
                        });
        assertThat(unbounded.getTransformation())
                .matches(
                        source ->
                                ((org.apache.flink.streaming.api.transformations.WithBoundedness)
                                                        source)
                                                .getBoundedness()
                                        == Boundedness.CONTINUOUS_UNBOUNDED);

        assertThatCode(
                        () ->
                                CoordinatorCommitPreconditions.checkBoundedSources(
                                        false, unbounded.getTransformation()))
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("A7: a negative close timeout is refused with the option and its value")
    void refusesNegativeTimeouts() {
        String key = "sink.coordinator-commit.close-timeout";

        assertThat(CoordinatorCommitOptions.closeTimeout(Collections.emptyMap()))
                .isEqualTo(Duration.ofSeconds(30));
        assertThat(CoordinatorCommitOptions.closeTimeout(Collections.singletonMap(key, "2 s")))
                .isEqualTo(Duration.ofSeconds(2));
        assertThatThrownBy(
                        () ->
                                CoordinatorCommitOptions.closeTimeout(
                                        Collections.singletonMap(key, "PT-1S")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key)
                .hasMessageContaining("-1");
    }
}
