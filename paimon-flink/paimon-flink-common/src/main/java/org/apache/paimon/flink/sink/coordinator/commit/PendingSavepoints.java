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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.paimon.Snapshot;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.RestoredCommits;
import org.apache.paimon.tag.SavepointTagger;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The savepoints that are to be tagged once they are committed. Creates and deletes their tags.
 *
 * <p>Threads: the committer's.
 *
 * <p><b>Promises.</b> A1, L2: a savepoint that never completes is not pending any more, and loses
 * the tag that it may have. A4: a tag that this process or the restored checkpoint has created is
 * not created again. A5: a snapshot from before the restore is tagged only if it holds the complete
 * cut. T8: a savepoint without data is dropped. L1: {@link #stamp} marks the commit.
 *
 * <p><b>Recovery.</b> It starts empty. The committer is told the savepoints again, by the replays
 * on the coordinator path and by the operator's state on the other.
 */
final class PendingSavepoints {

    private static final Logger LOG = LoggerFactory.getLogger(PendingSavepoints.class);

    private final RestoredCommits restored;

    /** Null when savepoints are not to be tagged. */
    @Nullable private final SavepointTagger tagger;

    private final TaggedSavepoints tagged;

    private final NavigableMap<Long, Savepoint> pending = new TreeMap<>();

    /**
     * @param restored what was committed before the restore
     * @param tagger null when savepoints are not to be tagged
     * @param tagged what this process has tagged before
     */
    PendingSavepoints(
            RestoredCommits restored, @Nullable SavepointTagger tagger, TaggedSavepoints tagged) {
        this.restored = restored;
        this.tagger = tagger;
        this.tagged = tagged;
    }

    // ------------------------------------------------------------------------
    //  What is pending
    // ------------------------------------------------------------------------

    /**
     * @param path where the savepoint is written; null when that is not known
     */
    void add(long savepointId, @Nullable String path) {
        add(savepointId, path, Savepoint.WRITERS_UNKNOWN);
    }

    /**
     * @param writers how many have reported it
     */
    void add(long savepointId, @Nullable String path, int writers) {
        pending.merge(
                savepointId,
                new Savepoint(path, writers),
                (known, again) -> again.path == null ? known : again);
    }

    /** In ascending order. */
    Collection<Long> ids() {
        return Collections.unmodifiableCollection(pending.keySet());
    }

    /**
     * L1: says so in a committable that is the complete cut of a pending savepoint.
     *
     * @return whether it is one
     */
    boolean stamp(ManifestCommittable committable) {
        long identifier = committable.identifier();
        Savepoint savepoint = pending.get(identifier);
        if (savepoint == null) {
            return false;
        }
        CommitProperties.stampSavepoint(committable, savepoint.path);
        return true;
    }

    /** T8: everything up to this checkpoint is committed. */
    void dropWithoutData(long checkpointId) {
        NavigableSet<Long> empty = pending.navigableKeySet().headSet(checkpointId, true);
        if (!empty.isEmpty()) {
            LOG.info("Nothing was written for the savepoints {}, so they get no tag.", empty);
            empty.clear();
        }
    }

    // ------------------------------------------------------------------------
    //  Tags
    // ------------------------------------------------------------------------

    /** Whether savepoints are tagged at all. */
    boolean tagsSavepoints() {
        return tagger != null;
    }

    /** The snapshot on which this process has begun a savepoint's tag; empty when it has not. */
    Optional<Snapshot> snapshotWithTag(long savepointId) {
        return tagged.snapshot(savepointId);
    }

    /**
     * Tags what was committed just now, if it was pending.
     *
     * @param snapshot the one committed for it; empty when it is gone already
     */
    void tagCommitted(long savepointId, Optional<Snapshot> snapshot) {
        Savepoint savepoint = pending.remove(savepointId);
        if (savepoint == null || tagger == null) {
            return;
        }
        if (snapshot.isPresent()) {
            tag(savepointId, savepoint, snapshot.get());
        } else {
            tagger.snapshotGone(savepointId);
        }
    }

    /** Tags all that were committed before the restore. */
    void tagRestored() {
        for (Long savepointId : new ArrayList<>(pending.keySet())) {
            if (restored.snapshot(savepointId).isPresent()) {
                tagRestored(savepointId);
            }
        }
    }

    /** Tags what was committed before the restore, if it is pending and was not tagged. */
    void tagRestored(long savepointId) {
        if (tagger == null) {
            return;
        }
        Savepoint savepoint = pending.remove(savepointId);
        if (savepoint == null || tagged.contains(savepointId)) {
            return;
        }
        if (restored.decided(savepointId)) {
            // A4: its owner may have deleted the tag.
            return;
        }
        Optional<Snapshot> snapshot = restored.snapshot(savepointId);
        if (!snapshot.isPresent()) {
            tagger.snapshotGone(savepointId);
        } else if (CommitProperties.holdsCompleteCut(snapshot.get())) {
            tag(savepointId, savepoint, snapshot.get());
        } else {
            LOG.info(
                    "Snapshot {} was committed for checkpoint {} before the restore, but not as the"
                            + " complete cut of a savepoint; it gets no tag.",
                    snapshot.get().id(),
                    savepointId);
        }
    }

    private void tag(long savepointId, Savepoint savepoint, Snapshot snapshot) {
        tagged.begin(savepointId, snapshot);
        Optional<String> name = tagger.createTag(savepointId, snapshot);
        tagged.tagged(savepointId, name.orElse(null));
        if (name.isPresent()) {
            String path = CommitProperties.savepointPath(snapshot);
            LOG.info(
                    "Savepoint {} at {}: {}committed as snapshot {}, tagged as {}.",
                    savepointId,
                    path == null ? "an unknown path" : path,
                    savepoint.reported(),
                    snapshot.id(),
                    name.get());
        }
    }

    // ------------------------------------------------------------------------
    //  Savepoints that never complete
    // ------------------------------------------------------------------------

    /** A1: a tag that this process has created is deleted. */
    void abort(long savepointId) {
        pending.remove(savepointId);
        Optional<Snapshot> snapshot = tagged.snapshot(savepointId);
        if (tagger != null && snapshot.isPresent()) {
            tagger.deleteTag(savepointId, snapshot.get());
        }
        // A8: not before it is deleted, or nobody would try again.
        tagged.remove(savepointId);
    }

    /** L2, T5: the identifier may have been used before, for a savepoint in another place. */
    void withdraw(long savepointId, String path) {
        restored.snapshot(savepointId)
                .filter(snapshot -> path.equals(CommitProperties.savepointPath(snapshot)))
                .ifPresent(snapshot -> withdraw(savepointId, snapshot));
    }

    /** L2: a tag on this snapshot is deleted, whoever has created it. */
    void withdraw(long savepointId, Snapshot snapshot) {
        pending.remove(savepointId);
        if (tagger != null) {
            tagger.deleteTag(savepointId, snapshot);
        }
        tagged.remove(savepointId);
    }

    /** What is known of a savepoint that is to be tagged. */
    private static final class Savepoint {

        private static final int WRITERS_UNKNOWN = -1;

        /** Where it is written (L1); null where that is not known. */
        @Nullable private final String path;

        /** How many writers have reported it. */
        private final int writers;

        private Savepoint(@Nullable String path, int writers) {
            this.path = path;
            this.writers = writers;
        }

        private String reported() {
            return writers == WRITERS_UNKNOWN
                    ? ""
                    : "reported by " + writers + " of " + writers + " writers, ";
        }
    }
}
