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

import org.apache.paimon.Snapshot;
import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.tag.OwnSnapshots;
import org.apache.paimon.tag.SavepointTagger;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A committer that is told which identifiers are savepoints, and tags their snapshots as it goes.
 *
 * <p><b>Who uses it.</b> Both commit paths (T9): {@link AutoTagForSavepointCommitterOperator} on
 * its task's thread, and the coordinator on its event loop. One thread at a time.
 *
 * <p><b>Promises.</b> T3: a batch is committed in pieces, each up to a savepoint, and the tag is
 * created between two pieces; whatever expires snapshots at the end of a piece finds the savepoint
 * snapshot as the newest one. T8: a savepoint without a committable of its own gets no tag. T10:
 * the snapshot is looked up behind an anchor, the newest snapshot of the table before the commit;
 * the anchor travels in the committer's state, so that a restored committer need not search either.
 *
 * <p><b>Recovery.</b> The snapshot of a savepoint carries {@link #SAVEPOINT_PROPERTY}, written with
 * the commit itself. When the job dies between the commit and the tag, the restored committer finds
 * the snapshot and tags it (A4, A5). A snapshot without the property was committed as something
 * else than the complete cut of a savepoint (A3), so it is not tagged.
 */
public class SavepointTaggingCommitter implements Committer<Committable, ManifestCommittable> {

    /**
     * Snapshot property: this snapshot holds exactly what the savepoint of its identifier holds.
     */
    public static final String SAVEPOINT_PROPERTY = "savepoint.complete-cut";

    private static final Logger LOG = LoggerFactory.getLogger(SavepointTaggingCommitter.class);

    private static final ListStateDescriptor<Long> ANCHOR_STATE =
            new ListStateDescriptor<>("savepoint_tag_anchor_state", LongSerializer.INSTANCE);

    private static final long NO_ANCHOR = -1;

    /** More tagged savepoints than this forget the oldest: they are not aborted any more. */
    private static final int MAX_TAGGED = 1_024;

    private final Committer<Committable, ManifestCommittable> delegate;
    private final OwnSnapshots ownSnapshots;
    private final SavepointTagger tagger;
    private final RestoredTags restoredTags;
    private final ListState<Long> anchorState;

    /** Savepoints that are to be tagged once they are committed. */
    private final NavigableSet<Long> savepoints = new TreeSet<>();

    /** The snapshots that were tagged here, the newest by savepoint id, for an abort (A1). */
    private final NavigableMap<Long, Snapshot> tagged = new TreeMap<>();

    /** Newest snapshot when the restored checkpoint was taken; {@link #NO_ANCHOR} if unknown. */
    private final long restoredAnchor;

    /**
     * @param stateStore where the anchor is kept, the one of the committer's context
     */
    public SavepointTaggingCommitter(
            Committer<Committable, ManifestCommittable> delegate,
            OwnSnapshots ownSnapshots,
            SavepointTagger tagger,
            RestoredTags restoredTags,
            StateStore stateStore)
            throws Exception {
        this.delegate = delegate;
        this.ownSnapshots = ownSnapshots;
        this.tagger = tagger;
        this.restoredTags = restoredTags;
        this.anchorState = stateStore.getListState(ANCHOR_STATE);
        long anchor = NO_ANCHOR;
        for (Long restored : anchorState.get()) {
            anchor = restored;
        }
        this.restoredAnchor = anchor;
    }

    /** Which snapshots of an earlier attempt may be tagged after a restore. */
    public enum RestoredTags {
        /** Only those that were committed as the complete cut of a savepoint. */
        MARKED,
        /** All: there is one writer of reports, so a cut is always complete. */
        ANY
    }

    // ------------------------------------------------------------------------
    //  Savepoints
    // ------------------------------------------------------------------------

    /** The checkpoint with this id is a savepoint: tag it when it gets committed. */
    public void savepoint(long savepointId) {
        savepoints.add(savepointId);
    }

    /** Savepoints that are not settled yet, in ascending order. */
    public Collection<Long> pendingSavepoints() {
        return Collections.unmodifiableCollection(savepoints);
    }

    /** A1: the savepoint will never complete; a tag that it already has is deleted. */
    public void abort(long savepointId) {
        savepoints.remove(savepointId);
        Snapshot snapshot = tagged.get(savepointId);
        if (snapshot == null) {
            // An earlier attempt may have tagged it.
            snapshot = ownSnapshots.find(savepointId).orElse(null);
        }
        if (snapshot != null) {
            tagger.deleteTag(savepointId, snapshot);
            tagged.remove(savepointId);
        }
    }

    /**
     * T8: everything up to this checkpoint is committed; savepoints up to it that had nothing to
     * commit stay without a tag.
     */
    public void settle(long checkpointId) {
        NavigableSet<Long> empty = savepoints.headSet(checkpointId, true);
        if (!empty.isEmpty()) {
            LOG.info("Nothing was written for the savepoints {}, so they get no tag.", empty);
            empty.clear();
        }
    }

    /** A7: somebody else has committed this savepoint; its tag may be missing (T3). */
    public void committedByAnother(long savepointId) {
        tagRestored(savepointId);
    }

    /** Makes up for the tags of savepoints that were committed without this committer. */
    void tagCommitted() {
        for (Long savepointId : new ArrayList<>(savepoints)) {
            Optional<Snapshot> snapshot = findRestored(savepointId);
            if (snapshot.isPresent()) {
                tag(savepointId, snapshot);
            }
        }
    }

    // ------------------------------------------------------------------------
    //  Committer
    // ------------------------------------------------------------------------

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
    public void commit(List<ManifestCommittable> committables)
            throws IOException, InterruptedException {
        int from = 0;
        for (int to = 1; to <= committables.size(); to++) {
            ManifestCommittable last = committables.get(to - 1);
            if (savepoints.contains(last.identifier())) {
                last.addProperty(SAVEPOINT_PROPERTY, Boolean.TRUE.toString());
                ownSnapshots.mark();
                delegate.commit(committables.subList(from, to));
                tag(
                        last.identifier(),
                        ownSnapshots.findAfter(ownSnapshots.anchor(), last.identifier()));
                from = to;
            }
        }
        if (from < committables.size()) {
            delegate.commit(committables.subList(from, committables.size()));
        }
    }

    /** Also called with what was committed already: then only a missing tag is made up for. */
    @Override
    public int filterAndCommit(
            List<ManifestCommittable> committables,
            boolean checkAppendFiles,
            boolean partitionMarkDoneRecoverFromState)
            throws IOException {
        int committed = 0;
        int from = 0;
        for (int to = 1; to <= committables.size(); to++) {
            ManifestCommittable last = committables.get(to - 1);
            boolean savepoint = savepoints.contains(last.identifier());
            if (savepoint || to == committables.size()) {
                if (savepoint) {
                    last.addProperty(SAVEPOINT_PROPERTY, Boolean.TRUE.toString());
                }
                committed +=
                        delegate.filterAndCommit(
                                committables.subList(from, to),
                                checkAppendFiles,
                                partitionMarkDoneRecoverFromState);
                if (savepoint) {
                    tagRestored(last.identifier());
                }
                from = to;
            }
        }
        return committed;
    }

    @Override
    public void snapshotState() throws Exception {
        ownSnapshots.mark();
        anchorState.update(Collections.singletonList(ownSnapshots.anchor()));
        delegate.snapshotState();
    }

    @Override
    public void close() throws Exception {
        delegate.close();
    }

    // ------------------------------------------------------------------------

    private void tagRestored(long savepointId) {
        Optional<Snapshot> snapshot = findRestored(savepointId);
        if (snapshot.isPresent()
                && restoredTags == RestoredTags.MARKED
                && !marked(snapshot.get())) {
            LOG.info(
                    "Snapshot {} was committed for checkpoint {} before the restore, but not as the"
                            + " complete cut of a savepoint; it gets no tag.",
                    snapshot.get().id(),
                    savepointId);
            savepoints.remove(savepointId);
            return;
        }
        tag(savepointId, snapshot);
    }

    /** Writers replay for a while what was committed, which lies before the anchor then. */
    private Optional<Snapshot> findRestored(long savepointId) {
        if (restoredAnchor == NO_ANCHOR) {
            return ownSnapshots.find(savepointId);
        }
        Optional<Snapshot> snapshot = ownSnapshots.findAfter(restoredAnchor, savepointId);
        return snapshot.isPresent()
                ? snapshot
                : ownSnapshots.findBefore(restoredAnchor, savepointId);
    }

    private static boolean marked(Snapshot snapshot) {
        return snapshot.properties() != null
                && Boolean.parseBoolean(snapshot.properties().get(SAVEPOINT_PROPERTY));
    }

    private void tag(long savepointId, Optional<Snapshot> snapshot) {
        if (snapshot.isPresent()) {
            tagged.put(savepointId, snapshot.get());
            if (tagged.size() > MAX_TAGGED) {
                tagged.pollFirstEntry();
            }
            tagger.createTag(savepointId, snapshot.get());
        } else {
            tagger.snapshotGone(savepointId);
        }
        savepoints.remove(savepointId);
    }
}
