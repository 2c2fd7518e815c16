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
import org.apache.paimon.flink.sink.state.StateStore;
import org.apache.paimon.tag.CommitProperties;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * L2: the savepoints that are tagged and whose outcome is not known yet, since a later checkpoint
 * has overtaken them. A savepoint that never completed keeps no tag, whatever died in between.
 *
 * <pre>
 *   tag begun      kept for the JobMaster, and in each checkpoint of the coordinator
 *   look           after each completed checkpoint: forgotten once its metadata is found
 *   aborted        forgotten; the abort deletes the tag
 *   job ends       without metadata, the tag is deleted: Flink gives the savepoint up
 *   job restored   directory without metadata: the tag is deleted; no directory: kept, with a WARN
 * </pre>
 *
 * <p>A path that is not known, or a file system that does not answer, counts as confirmed. A job
 * that does not tag savepoints looks at none (T7). Threads: the coordinator's event loop; the
 * session's closer when the job ends, behind the loop's end.
 */
public final class UnconfirmedSavepoints {

    private static final Logger LOG = LoggerFactory.getLogger(UnconfirmedSavepoints.class);

    /** A name of its own: a build that does not know it carries it along unread. */
    private static final ListStateDescriptor<byte[]> STATE =
            new ListStateDescriptor<>(
                    "unconfirmed_savepoints_state", BytePrimitiveArraySerializer.INSTANCE);

    private static final int ATTEMPTS_AT_THE_END = 3;

    private final ListState<byte[]> state;
    private final SavepointOutcomes outcomes;
    private final BiConsumer<Long, Snapshot> deleteTag;

    /** Whether savepoints, by id and path, have never completed: each is looked at once. */
    private final Map<String, Boolean> neverCompleted = new HashMap<>();

    private final JobMasterMemory memory;

    /** Of this and the earlier sessions within the JobMaster. */
    private final Map<Long, UnconfirmedSavepoint> unconfirmed;

    /**
     * @param memory what outlives this session
     * @param deleteTag deletes the owned tag of a savepoint on a snapshot
     */
    public UnconfirmedSavepoints(
            StateStore stateStore,
            SavepointOutcomes outcomes,
            JobMasterMemory memory,
            BiConsumer<Long, Snapshot> deleteTag)
            throws Exception {
        this.state = stateStore.getListState(STATE);
        this.outcomes = outcomes;
        this.memory = memory;
        this.unconfirmed = memory.unconfirmed();
        this.deleteTag = deleteTag;
    }

    /** In the file systems of the savepoints. */
    public static UnconfirmedSavepoints create(
            StateStore stateStore, JobMasterMemory memory, BiConsumer<Long, Snapshot> deleteTag)
            throws Exception {
        return new UnconfirmedSavepoints(stateStore, new SavepointFiles(), memory, deleteTag);
    }

    /**
     * Finds out what the restored checkpoint did not know yet, and withdraws what has not
     * completed. May be called again when it has failed.
     *
     * @param since the snapshots that the checkpoint's run has committed for savepoints since then;
     *     asked for what another JobMaster has committed
     */
    void restore(long restoredCheckpointId, Supplier<? extends Collection<Snapshot>> since)
            throws IOException {
        if (!memory.isRestoreResolved()) {
            for (Snapshot snapshot : since.get()) {
                withdrawUnlessCompleted(
                        snapshot.commitIdentifier(),
                        CommitProperties.savepointPath(snapshot),
                        snapshot,
                        restoredCheckpointId);
            }
        }
        List<byte[]> elements = new ArrayList<>();
        try {
            state.get().forEach(elements::add);
        } catch (Exception e) {
            throw new IOException("The unconfirmed savepoints cannot be read from the state.", e);
        }
        for (byte[] element : elements) {
            // S6: what another build has carried along unread is ignored.
            if (UnconfirmedSavepoint.writtenIn(element) == restoredCheckpointId) {
                UnconfirmedSavepoint savepoint = UnconfirmedSavepoint.fromBytes(element);
                withdrawUnlessCompleted(
                        savepoint.savepointId(),
                        savepoint.path(),
                        savepoint.snapshot(),
                        restoredCheckpointId);
            }
        }
    }

    private void withdrawUnlessCompleted(
            long savepointId, String path, Snapshot snapshot, long restoredCheckpointId) {
        if (neverCompleted(savepointId, path, restoredCheckpointId)) {
            deleteTag.accept(savepointId, snapshot);
        }
        unconfirmed.remove(savepointId);
    }

    /**
     * Whether a savepoint that a restored checkpoint knows as pending has never completed. Nothing
     * can complete it any more.
     *
     * @param path where it was to be written; null when that is not known
     */
    boolean neverCompleted(long savepointId, @Nullable String path, long restoredCheckpointId) {
        return neverCompleted.computeIfAbsent(
                savepointId + " " + path,
                savepoint -> look(savepointId, path, restoredCheckpointId));
    }

    private boolean look(long savepointId, @Nullable String path, long restoredCheckpointId) {
        if (savepointId == restoredCheckpointId) {
            // Wherever it lies now.
            return false;
        }
        if (path == null) {
            LOG.warn(
                    "It is not known where savepoint {} was written: it is taken to have"
                            + " completed.",
                    savepointId);
            return false;
        }
        SavepointOutcome outcome = outcomes.of(path);
        if (outcome == SavepointOutcome.GONE) {
            LOG.warn(
                    "Savepoint {} is not at {} any more: it is taken to have been moved, and keeps"
                            + " its tag.",
                    savepointId,
                    path);
        }
        if (outcome == SavepointOutcome.UNFINISHED) {
            LOG.info(
                    "Savepoint {} at {}: withdrawn, as it never completed. Its directory has no"
                            + " metadata that can be read.",
                    savepointId,
                    path);
        }
        return outcome == SavepointOutcome.UNFINISHED;
    }

    /** A later checkpoint has completed before it, and its tag is there, or half of it. */
    void tagBegun(long savepointId, Snapshot snapshot) {
        String path = CommitProperties.savepointPath(snapshot);
        if (path == null) {
            LOG.warn(
                    "It is not known where savepoint {} is written: its tag stays, should it not"
                            + " complete and its abort be lost.",
                    savepointId);
            return;
        }
        unconfirmed.put(savepointId, new UnconfirmedSavepoint(savepointId, path, snapshot));
    }

    void aborted(long savepointId) {
        unconfirmed.remove(savepointId);
    }

    /** A checkpoint has completed: forgets the savepoints that have completed as well. */
    void look() {
        unconfirmed
                .values()
                .removeIf(
                        savepoint -> {
                            SavepointOutcome outcome = outcomes.of(savepoint.path());
                            return outcome == SavepointOutcome.COMPLETE
                                    || outcome == SavepointOutcome.UNKNOWN;
                        });
    }

    /** The job ends: Flink gives up what has not completed. */
    void giveUp() {
        for (UnconfirmedSavepoint savepoint : unconfirmed.values()) {
            SavepointOutcome outcome = outcomes.of(savepoint.path());
            if (outcome == SavepointOutcome.UNFINISHED || outcome == SavepointOutcome.GONE) {
                LOG.info(
                        "Savepoint {} at {}: withdrawn, as the job ends before it has completed.",
                        savepoint.savepointId(),
                        savepoint.path());
                atTheEnd(
                        savepoint.savepointId(),
                        () -> deleteTag.accept(savepoint.savepointId(), savepoint.snapshot()));
            }
        }
        unconfirmed.clear();
    }

    /** Deletes a tag for the last time: nobody in this job tries again later. */
    static void atTheEnd(long savepointId, Runnable deletion) {
        for (int attempt = 1; ; attempt++) {
            try {
                deletion.run();
                return;
            } catch (RuntimeException e) {
                if (attempt == ATTEMPTS_AT_THE_END) {
                    LOG.warn(
                            "The tag of savepoint {}, which has not completed, cannot be deleted"
                                    + " while the job ends. It stays until it is deleted, as by"
                                    + " sys.expire_savepoint_tags.",
                            savepointId,
                            e);
                    return;
                }
            }
        }
    }

    void snapshotState(long checkpointId) throws Exception {
        List<byte[]> elements = new ArrayList<>();
        for (UnconfirmedSavepoint savepoint : unconfirmed.values()) {
            elements.add(savepoint.toBytes(checkpointId));
        }
        state.update(elements);
    }
}
