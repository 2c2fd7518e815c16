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

import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.flink.sink.testutils.CommitPath;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.options.Options;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataTypes;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.lineage.LineageVertex;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What the sinks put into the job graph, and what they refuse to. */
class SinkAtGraphTimeTest {

    private static final String OPTION = "sink.coordinator-commit.enabled";

    @TempDir private java.nio.file.Path directory;

    private final Configuration configuration = new Configuration();

    @BeforeEach
    void enableCheckpoints() {
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(1));
    }

    private StreamExecutionEnvironment environment() {
        return StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    }

    private static DataStream<RowData> records(StreamExecutionEnvironment env) {
        return env.fromData(TypeInformation.of(RowData.class), GenericRowData.of(1L));
    }

    private FileStoreTable table(String coordinatorCommit) throws Exception {
        FileSystemCatalog catalog =
                new FileSystemCatalog(LocalFileIO.create(), new Path(directory.toUri().toString()));
        catalog.createDatabase("db", true);
        Identifier identifier = Identifier.create("db", "orders");
        catalog.createTable(
                identifier,
                Schema.newBuilder()
                        .column("id", DataTypes.BIGINT())
                        .option("bucket", "-1")
                        .option("write-only", "true")
                        .option(OPTION, coordinatorCommit)
                        .build(),
                false);
        return (FileStoreTable) catalog.getTable(identifier);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("the lineage of the job names the table, on both commit paths")
    void lineageNamesTheTable(CommitPath path) throws Exception {
        FileStoreTable table = table(String.valueOf(path == CommitPath.COORDINATOR));
        StreamExecutionEnvironment env = environment();
        new FlinkSinkBuilder(table).forRowData(records(env)).build();
        List<LineageVertex> sinks = env.getStreamGraph().getLineageGraph().sinks();

        assertThat(sinks).hasSize(1);
        assertThat(sinks.get(0).datasets())
                .singleElement()
                .satisfies(
                        dataset ->
                                assertThat(dataset.name() + " " + dataset.namespace())
                                        .contains("orders"));
    }

    @Test
    @DisplayName("Refusals: a sink of another kind that cannot commit in the coordinator")
    void sinkThatCannotCommitInTheCoordinatorIsRefused() throws Exception {
        FileStoreTable table = table("true");

        assertThatThrownBy(() -> sinkFromRecords(new OperatorOnlySink(table)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPTION + " is true")
                .hasMessageContaining(OperatorOnlySink.class.getName())
                .hasMessageContaining("needs " + OPTION + " to be false");
    }

    @Test
    @DisplayName("Refusals: ... which commits in an operator when it is not asked for more")
    void sinkThatIsNotAskedForTheCoordinatorIsAccepted() throws Exception {
        StreamExecutionEnvironment env = sinkFromRecords(new OperatorOnlySink(table("false")));

        assertThat(env.getStreamGraph().getStreamingPlanAsJSON()).contains("Global Committer");
    }

    private StreamExecutionEnvironment sinkFromRecords(AppendTableSink<InternalRow> sink) {
        StreamExecutionEnvironment env = environment();
        sink.sinkFrom(
                FlinkSinkBuilder.mapToInternalRow(
                        records(env), sink.table.rowType(), CatalogContext.create(new Options())));
        return env;
    }

    @Test
    @DisplayName("Refusals: a job that rewrites file indexes writes no rows, and is not refused")
    void rewriteOfFileIndexesIsAccepted() throws Exception {
        FileStoreTable table = table("true");
        StreamExecutionEnvironment env = environment();
        DataStream<ManifestEntry> entries =
                env.fromData(1).map(i -> (ManifestEntry) null).returns(ManifestEntry.class);
        new RewriteFileIndexSink(table).sinkFrom(entries);

        assertThat(env.getStreamGraph().getStreamingPlanAsJSON()).contains("Global Committer");
    }

    @Test
    @DisplayName("U1: unaligned checkpoints are accepted, at once or after a time-out")
    void unalignedCheckpointsAreAccepted() throws Exception {
        FileStoreTable table = table("true");
        configuration.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
        configuration.set(CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT, Duration.ofSeconds(5));

        assertThatCode(() -> new FlinkSinkBuilder(table).forRowData(records(environment())).build())
                .doesNotThrowAnyException();
    }

    @Test
    @DisplayName("Refusals: at-least-once mode, with option, value and what is needed")
    void atLeastOnceModeIsRefused() throws Exception {
        FileStoreTable table = table("true");
        configuration.set(
                CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE,
                CheckpointingMode.AT_LEAST_ONCE);
        FlinkSinkBuilder sink = new FlinkSinkBuilder(table).forRowData(records(environment()));

        assertThatThrownBy(sink::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPTION)
                .hasMessageContaining(
                        "execution.checkpointing.mode to be EXACTLY_ONCE, but it is AT_LEAST_ONCE");
    }

    /** Like the CDC append sink: it extends the base's sink, and is no RowAppendTableSink. */
    private static final class OperatorOnlySink extends AppendTableSink<InternalRow> {

        private static final long serialVersionUID = 1L;

        private OperatorOnlySink(FileStoreTable table) {
            super(table, null, null);
        }

        @Override
        protected OneInputStreamOperatorFactory<InternalRow, Committable>
                createWriteOperatorFactory(StoreSinkWrite.Provider provider, String commitUser) {
            return createNoStateRowWriteOperatorFactory(table, provider, commitUser);
        }

        @Override
        protected CommittableStateManager<ManifestCommittable> createCommittableStateManager() {
            return createRestoreOnlyCommittableStateManager(table);
        }
    }
}
