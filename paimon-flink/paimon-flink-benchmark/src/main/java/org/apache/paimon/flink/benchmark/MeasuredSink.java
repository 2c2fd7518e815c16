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
import org.apache.paimon.flink.sink.CommitterOperatorFactory;
import org.apache.paimon.flink.sink.RowAppendTableSink;
import org.apache.paimon.flink.sink.StoreSinkWrite;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.FileStoreTable;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;

import javax.annotation.Nullable;

/**
 * The sink under measurement, with its two ends in our hands: what the writers flush, and what the
 * coordinator hands to its committer. Everything in between is the jar's own.
 */
final class MeasuredSink extends RowAppendTableSink {

    private static final long serialVersionUID = 1L;

    @Nullable private final Committer.Factory<Committable, ManifestCommittable> committers;

    private MeasuredSink(
            FileStoreTable table,
            @Nullable Committer.Factory<Committable, ManifestCommittable> committers) {
        super(table, null, null);
        this.committers = committers;
    }

    /** With the jar's own committers. */
    static MeasuredSink committing(FileStoreTable table) {
        return new MeasuredSink(table, null);
    }

    /** With committers that only hand over; not to be serialized. */
    static MeasuredSink handingOverTo(FileStoreTable table, HandOver handOver) {
        return new MeasuredSink(table, context -> new NoIoCommitter(handOver));
    }

    @Override
    protected Committer.Factory<Committable, ManifestCommittable> createCommitterFactory() {
        return committers == null ? super.createCommitterFactory() : committers;
    }

    OneInputStreamOperatorFactory<InternalRow, Committable> writers(
            StoreSinkWrite.Provider writes, String commitUser) {
        return createWriteOperatorFactory(writes, commitUser);
    }

    /** The committer operator of the operator path. */
    CommitterOperatorFactory<Committable, ManifestCommittable> committers(String commitUser) {
        return createCommitterOperatorFactory(true, commitUser, null);
    }

    static OperatorCoordinator.Provider coordinators(
            OneInputStreamOperatorFactory<InternalRow, Committable> writers,
            OperatorID operatorId) {
        return ((CoordinatedOperatorFactory<?>) writers)
                .getCoordinatorProvider("writer", operatorId);
    }
}
