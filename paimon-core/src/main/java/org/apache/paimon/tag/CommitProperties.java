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
import org.apache.paimon.manifest.ManifestCommittable;

import javax.annotation.Nullable;

import java.util.Map;

/** L1: the snapshot properties that say which job committed, and for which savepoint. */
public final class CommitProperties {

    /** Id of the Flink job. Application mode uses the same one for every submission. */
    public static final String JOB_ID = "flink.job-id";

    /** Id of the run: the time in which one committer works for a job in one JobMaster. */
    public static final String RUN_ID = "flink.run-id";

    /** Id of the savepoint whose complete cut the snapshot holds; absent on other snapshots. */
    public static final String CHECKPOINT_ID = "flink.checkpoint-id";

    /** Where the savepoint of {@link #CHECKPOINT_ID} lies; absent when that is no path. */
    public static final String SAVEPOINT_PATH = "flink.savepoint.path";

    private CommitProperties() {}

    /** Says who commits. */
    public static void stamp(ManifestCommittable committable, String jobId, String runId) {
        committable.addProperty(JOB_ID, jobId);
        committable.addProperty(RUN_ID, runId);
    }

    /**
     * Says that the commit holds exactly what the savepoint of its identifier holds.
     *
     * @param path where the savepoint is written; null when that is not known or no path
     */
    public static void stampSavepoint(ManifestCommittable committable, @Nullable String path) {
        committable.addProperty(CHECKPOINT_ID, String.valueOf(committable.identifier()));
        if (path != null) {
            committable.addProperty(SAVEPOINT_PATH, path);
        }
    }

    @Nullable
    public static String jobId(Snapshot snapshot) {
        return property(snapshot, JOB_ID);
    }

    @Nullable
    public static String runId(Snapshot snapshot) {
        return property(snapshot, RUN_ID);
    }

    @Nullable
    public static String savepointPath(Snapshot snapshot) {
        return property(snapshot, SAVEPOINT_PATH);
    }

    /**
     * A5: whether the snapshot may be tagged for the savepoint of its identifier. One that names no
     * run comes from a build that commits only complete cuts as snapshots of their own.
     */
    public static boolean holdsCompleteCut(Snapshot snapshot) {
        return runId(snapshot) == null
                || String.valueOf(snapshot.commitIdentifier())
                        .equals(property(snapshot, CHECKPOINT_ID));
    }

    @Nullable
    private static String property(Snapshot snapshot, String key) {
        Map<String, String> properties = snapshot.properties();
        return properties == null ? null : properties.get(key);
    }
}
