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

package org.apache.paimon.flink.sink.testutils;

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.Committer;
import org.apache.paimon.manifest.ManifestCommittable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A committer with hook points around the table's commit: a test fails, hangs or changes the table
 * exactly there. Also remembers what it was asked to commit.
 */
@SuppressWarnings("try") // close() may be interrupted, as the base declares it
public final class HookedCommitter implements Committer<Committable, ManifestCommittable> {

    private final Committer<Committable, ManifestCommittable> delegate;
    private final Hooks hooks;

    public HookedCommitter(Committer<Committable, ManifestCommittable> delegate, Hooks hooks) {
        this.delegate = delegate;
        this.hooks = hooks;
    }

    /** What happens around commits; shared by all the committers of a test. */
    public static final class Hooks {

        private final List<Long> asked = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger stateSnapshots = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();
        private volatile Hook before = identifier -> {};
        private volatile Hook after = identifier -> {};

        /** Identifiers in the order in which commits of them began. */
        public List<Long> asked() {
            return new ArrayList<>(asked);
        }

        /** How often a committer was asked to snapshot its state. */
        public int stateSnapshots() {
            return stateSnapshots.get();
        }

        /** How often a committer was closed. */
        public int closed() {
            return closed.get();
        }

        public void before(Hook hook) {
            before = hook;
        }

        public void after(Hook hook) {
            after = hook;
        }

        public void clear() {
            before = identifier -> {};
            after = identifier -> {};
        }
    }

    /** Gets the highest identifier of the commit; what it throws is what the committer throws. */
    @FunctionalInterface
    public interface Hook {

        void at(long identifier) throws Exception;
    }

    @Override
    public void commit(List<ManifestCommittable> committables)
            throws IOException, InterruptedException {
        before(committables);
        delegate.commit(committables);
        at(hooks.after, committables);
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
        at(hooks.after, committables);
        return committed;
    }

    private void before(List<ManifestCommittable> committables) throws IOException {
        committables.forEach(committable -> hooks.asked.add(committable.identifier()));
        at(hooks.before, committables);
    }

    private static void at(Hook hook, List<ManifestCommittable> committables) throws IOException {
        if (committables.isEmpty()) {
            return;
        }
        try {
            hook.at(committables.get(committables.size() - 1).identifier());
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
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
    public Map<Long, List<Committable>> groupByCheckpoint(Collection<Committable> committables) {
        return delegate.groupByCheckpoint(committables);
    }

    @Override
    public void snapshotState() throws Exception {
        hooks.stateSnapshots.incrementAndGet();
        delegate.snapshotState();
    }

    @Override
    public void close() throws Exception {
        hooks.closed.incrementAndGet();
        delegate.close();
    }
}
