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

import java.io.IOException;
import java.util.Collection;
import java.util.Optional;

/**
 * A4: whether a commit of some files is in the table, where its snapshot may have expired.
 *
 * <p>Threads: the committer's.
 */
final class CommittedFiles {

    private final CommitUserSnapshots snapshots;
    private final SavepointTags tags;
    private final TableFiles files;

    CommittedFiles(CommitUserSnapshots snapshots, SavepointTags tags, TableFiles files) {
        this.snapshots = snapshots;
        this.tags = tags;
        this.files = files;
    }

    /**
     * Whether one of the files is in the table or in a tag, or does not exist any more.
     *
     * @param tagsAbove tags on snapshots up to this one are older than the commit
     */
    boolean areOrWereInTable(Collection<CommitMessage> written, long tagsAbove) throws IOException {
        Optional<Snapshot> oldest = snapshots.oldest();
        if (oldest.isPresent() && files.anyIn(oldest.get(), written)) {
            return true;
        }
        // A rollback brings back what a compaction had removed before.
        Optional<Snapshot> newest = snapshots.read(snapshots.head().id());
        boolean another =
                newest.isPresent()
                        && !(oldest.isPresent() && oldest.get().id() == newest.get().id());
        if (another && files.anyIn(newest.get(), written)) {
            return true;
        }
        for (Tag tagged : tags.above(tagsAbove)) {
            if (files.anyIn(tagged, written)) {
                return true;
            }
        }
        return files.missing(written).isPresent();
    }

    /**
     * Id of the newest snapshot that can have brought the files into the table, as far as tags
     * show.
     *
     * @param tagsAbove tags on snapshots up to this one are older than the commit
     */
    long newestPossible(long identifier, Collection<CommitMessage> written, long tagsAbove)
            throws IOException {
        long newest = Long.MAX_VALUE;
        for (Tag tagged : tags.above(tagsAbove)) {
            if (tagged.id() <= newest && files.anyIn(tagged, written)) {
                boolean itself = snapshots.isOwn(tagged) && tagged.commitIdentifier() == identifier;
                newest = itself ? tagged.id() : tagged.id() - 1;
            }
        }
        return newest;
    }
}
