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
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.operation.TagDeletion;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.tag.TableFiles;
import org.apache.paimon.utils.SnapshotManager;
import org.apache.paimon.utils.TagManager;

import java.util.BitSet;
import java.util.List;

/** The table of a run: what the real committer classes work on, and what the oracle looks at. */
interface SimulatedTable extends AutoCloseable {

    /** What writes snapshots, below everything of ours. */
    Committer<Committable, ManifestCommittable> committer(Committer.Context context)
            throws Exception;

    SnapshotManager snapshotManager() throws Exception;

    TagManager tagManager() throws Exception;

    TagDeletion tagDeletion();

    /** What the table's data files tell. */
    TableFiles files();

    /** When the table was created. */
    long creationMillis();

    /** The committable of a new file. */
    CommitMessage newFile(int number) throws Exception;

    CheckpointCommittablesSerializer serializer();

    /** Another process expires all snapshots but the newest ones. */
    void expireAllBut(int retained) throws Exception;

    /** Another job commits something that is of no interest, so many times. */
    void commitByAnother(int times) throws Exception;

    /**
     * Another job rewrites all files into one.
     *
     * @return false when there is nothing to rewrite
     */
    boolean compact() throws Exception;

    /** The operator rolls the table back: what is newer is removed, and so are its tags. */
    void rollbackTo(TagView tag) throws Exception;

    void rollbackTo(long snapshotId) throws Exception;

    /** Whether this kind of table can be rolled back by a new snapshot. */
    boolean rollsBackAsLatest();

    /** The operator rolls the table back by a new snapshot with the content of an older one. */
    void rollbackToAsLatest(TagView tag) throws Exception;

    void rollbackToAsLatest(long snapshotId) throws Exception;

    /** The owner of the table deletes a tag. */
    void deleteTag(TagView tag) throws Exception;

    /** Snapshots that appeared since the last call, oldest first. */
    List<SnapshotView> newSnapshots() throws Exception;

    /** Whether tags may have changed since the last {@link #tags}. */
    boolean tagsChanged();

    List<TagView> tags() throws Exception;

    /** Files that do not exist any more. */
    BitSet deletedFiles();

    boolean snapshotExists(long id) throws Exception;

    @Override
    void close();

    /** A snapshot and the files that it added. */
    final class SnapshotView {

        final long id;
        final String user;
        final long identifier;
        final int[] files;

        /** The snapshot whose content it brings back; 0 for none. */
        final long target;

        SnapshotView(long id, String user, long identifier, int[] files) {
            this(id, user, identifier, files, 0);
        }

        SnapshotView(long id, String user, long identifier, int[] files, long target) {
            this.id = id;
            this.user = user;
            this.identifier = identifier;
            this.files = files;
            this.target = target;
        }
    }

    /** A tag and the snapshot in it. */
    final class TagView {

        final String name;
        final long snapshotId;
        final String user;
        final long identifier;

        TagView(String name, long snapshotId, String user, long identifier) {
            this.name = name;
            this.snapshotId = snapshotId;
            this.user = user;
            this.identifier = identifier;
        }

        @Override
        public String toString() {
            return name
                    + " on snapshot "
                    + snapshotId
                    + " (identifier "
                    + identifier
                    + " of "
                    + user
                    + ")";
        }
    }
}
