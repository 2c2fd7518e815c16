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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.manifest.ManifestCommittable;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** The place right around each commit where a run lets it fail, hang, or its process die. */
final class FailingCommitter implements Committer<Committable, ManifestCommittable> {

    private final Committer<Committable, ManifestCommittable> delegate;
    private final Simulation simulation;
    private final SimulatedLoop loop;

    FailingCommitter(
            Committer<Committable, ManifestCommittable> delegate,
            Simulation simulation,
            SimulatedLoop loop) {
        this.delegate = delegate;
        this.simulation = simulation;
        this.loop = loop;
    }

    @Override
    public boolean forceCreatingSnapshot() {
        return delegate.forceCreatingSnapshot();
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId, long watermark, List<Committable> committables) throws IOException {
        return delegate.combine(checkpointId, watermark, committables);
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId,
            long watermark,
            ManifestCommittable manifestCommittable,
            List<Committable> committables) {
        return delegate.combine(checkpointId, watermark, manifestCommittable, committables);
    }

    @Override
    public void commit(List<ManifestCommittable> committables)
            throws IOException, InterruptedException {
        before(committables);
        delegate.commit(committables);
        after();
    }

    @Override
    public int filterAndCommit(
            List<ManifestCommittable> committables,
            boolean checkAppendFiles,
            boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        before(committables);
        int committed =
                delegate.filterAndCommit(
                        committables, checkAppendFiles, partitionMarkDoneRecoverFromState);
        after();
        return committed;
    }

    private void before(List<ManifestCommittable> committables) throws IOException {
        simulation
                .oracle()
                .committing(loop, committables.get(committables.size() - 1).identifier());
        simulation.faults().beforeCommit(loop);
    }

    private void after() throws IOException {
        simulation.oracle().committed(loop.job);
        simulation.faults().afterCommit(loop);
    }

    @Override
    public Map<Long, List<Committable>> groupByCheckpoint(Collection<Committable> committables) {
        return delegate.groupByCheckpoint(committables);
    }

    @Override
    public void snapshotState() throws Exception {
        delegate.snapshotState();
    }

    @Override
    public void close() throws Exception {
        delegate.close();
    }
}
