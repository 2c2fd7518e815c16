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

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.manifest.ManifestCommittable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A committer that touches no file, and tells a {@link HandOver} what it is handed: so a measure
 * holds the coordinator's own work only. One thread uses it, the coordinator's.
 */
final class NoIoCommitter implements Committer<Committable, ManifestCommittable> {

    private final HandOver handOver;

    NoIoCommitter(HandOver handOver) {
        this.handOver = handOver;
    }

    @Override
    public boolean forceCreatingSnapshot() {
        return false;
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId, long watermark, List<Committable> committables) {
        return combine(
                checkpointId,
                watermark,
                new ManifestCommittable(checkpointId, watermark),
                committables);
    }

    @Override
    public ManifestCommittable combine(
            long checkpointId,
            long watermark,
            ManifestCommittable manifestCommittable,
            List<Committable> committables) {
        for (Committable committable : committables) {
            manifestCommittable.addFileCommittable(committable.commitMessage());
        }
        return manifestCommittable;
    }

    @Override
    public void commit(List<ManifestCommittable> committables) {
        handOver.arrived(committables);
    }

    @Override
    public int filterAndCommit(
            List<ManifestCommittable> committables,
            boolean checkAppendFiles,
            boolean partitionMarkDoneRecoverFromState) {
        handOver.arrived(committables);
        return committables.size();
    }

    @Override
    public Map<Long, List<Committable>> groupByCheckpoint(Collection<Committable> committables) {
        Map<Long, List<Committable>> groups = new TreeMap<>();
        for (Committable committable : committables) {
            groups.computeIfAbsent(committable.checkpointId(), id -> new ArrayList<>())
                    .add(committable);
        }
        return groups;
    }

    @Override
    public void close() {}
}
