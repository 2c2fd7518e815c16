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

import org.apache.paimon.tag.SavepointTagStatistics;

import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** The metrics of savepoint tags, on both commit paths (T9). */
public final class SavepointTagMetrics {

    public static final String TAGS_CREATED = "numSavepointTagsCreated";
    public static final String TAGS_DELETED = "numSavepointTagsDeleted";
    public static final String TAG_COLLISIONS = "numSavepointTagCollisions";
    public static final String TAG_FAILURES = "numSavepointTagFailures";
    public static final String SNAPSHOTS_GONE = "numSavepointSnapshotsGone";
    public static final String LAST_TAGGED = "lastTaggedCheckpointId";

    private SavepointTagMetrics() {}

    /** Registers them; at most once for a group. */
    public static void register(MetricGroup group, SavepointTagStatistics statistics) {
        group.gauge(TAGS_CREATED, (Gauge<Long>) statistics::created);
        group.gauge(TAGS_DELETED, (Gauge<Long>) statistics::deleted);
        group.gauge(TAG_COLLISIONS, (Gauge<Long>) statistics::collisions);
        group.gauge(TAG_FAILURES, (Gauge<Long>) statistics::failures);
        group.gauge(SNAPSHOTS_GONE, (Gauge<Long>) statistics::snapshotsGone);
        group.gauge(LAST_TAGGED, (Gauge<Long>) statistics::lastTagged);
    }
}
