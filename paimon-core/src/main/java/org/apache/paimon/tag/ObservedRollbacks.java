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

package org.apache.paimon.tag;

import org.apache.paimon.Snapshot;
import org.apache.paimon.table.sink.CommitMessage;

import javax.annotation.Nullable;

import java.util.Collection;
import java.util.Optional;

/**
 * A4, R2: the snapshots of {@code rollback_to_as_latest} above the anchor of a restored checkpoint,
 * and which commits they have kept.
 *
 * <p>Such a snapshot does not always say how far it went back, so files decide. Threads: the
 * committer's.
 */
final class ObservedRollbacks {

    private final TableFiles files;
    private final String commitUser;

    /** Null when there is none. */
    @Nullable private Snapshot last;

    private int count;

    /** Highest identifier of the run before the last of them. */
    private long committedBefore = Long.MIN_VALUE;

    /**
     * @param commitUser whose commits are looked for, for messages
     */
    ObservedRollbacks(TableFiles files, String commitUser) {
        this.files = files;
        this.commitUser = commitUser;
    }

    /**
     * @param committedUpTo highest identifier of the run between this rollback and the one before
     */
    void observe(Snapshot rollback, long committedUpTo) {
        last = rollback;
        count++;
        committedBefore = Math.max(committedBefore, committedUpTo);
    }

    void forget() {
        last = null;
        count = 0;
        committedBefore = Long.MIN_VALUE;
    }

    boolean any() {
        return last != null;
    }

    Optional<Snapshot> last() {
        return Optional.ofNullable(last);
    }

    /** Whether all of them are older than a snapshot; also when there is none. */
    boolean allBefore(Snapshot snapshot) {
        return last == null || snapshot.id() > last.id();
    }

    /**
     * Whether a commit of these files is in the table. There must be a rollback.
     *
     * @param expired whether snapshots directly above the anchor have expired
     * @throws UndecidedCommitException when that cannot be decided
     */
    boolean kept(long identifier, Collection<CommitMessage> written, boolean expired) {
        if (files.anyIn(last, written)) {
            return true;
        }
        boolean mayBeCommitted = expired || identifier <= committedBefore;
        if (!mayBeCommitted) {
            return false;
        }
        // After another rollback the file that this one removes may have been compacted before.
        if (count == 1 && !expired && files.anyRemovedBy(last, written)) {
            return false;
        }
        throw new UndecidedCommitException(
                String.format(
                        "The table was rolled back by snapshot %d (rollback_to_as_latest), and its"
                                + " files do not show whether the commit with identifier %d of"
                                + " commit user %s was undone by that: they were compacted"
                                + " before. Roll the table back with rollback_to to the tag of the"
                                + " savepoint that the job is restored from, or restore an older"
                                + " savepoint.",
                        last.id(), identifier, commitUser));
    }

    /**
     * The last rollback, when it went behind a snapshot; else empty. The files of the snapshot may
     * have been compacted meanwhile.
     */
    Optional<Snapshot> behind(Snapshot snapshot) {
        return last().filter(
                        target ->
                                files.anyRemovedBy(target, snapshot)
                                        || target.totalRecordCount() < snapshot.totalRecordCount());
    }
}
