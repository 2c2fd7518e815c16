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
import org.apache.paimon.tag.testutils.AppendTableFixture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.util.Collections;

/** A real table, checkpoints of a job that writes to it, and restores of them. */
abstract class RestoredCommitsTestBase {

    static final String ME = "job-me";
    static final String OTHER = "job-other";
    static final String RUN = "run-of-the-checkpoint";
    static final String OTHER_RUN = "another-run";

    @TempDir private File directory;

    AppendTableFixture fixture;

    @BeforeEach
    void createTable() throws Exception {
        fixture = AppendTableFixture.create(directory);
    }

    RestoredCommits restored(CommitProgress progress) throws Exception {
        return new RestoredCommits(
                new CommitUserSnapshots(fixture.snapshotManager(), ME),
                new SavepointTags(fixture.tagManager(), fixture.fileIO()),
                fixture.files(),
                progress);
    }

    /** A checkpoint taken now. */
    CommitProgress checkpoint(Snapshot newestOwn) throws Exception {
        return new CommitProgress(
                3,
                RUN,
                2,
                0,
                new CommitUserSnapshots(fixture.snapshotManager(), ME).head(),
                newestOwn == null ? null : OwnSnapshot.of(newestOwn));
    }

    void tag(Snapshot snapshot, String name) throws Exception {
        fixture.tagManager().createTag(snapshot, name, null, Collections.emptyList(), false);
    }
}
