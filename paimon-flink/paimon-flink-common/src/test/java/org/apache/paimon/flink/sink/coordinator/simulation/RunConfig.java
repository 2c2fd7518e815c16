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

/** What is fixed for a whole run. */
final class RunConfig {

    final Mode mode;
    final int parallelism;

    /** How many bytes an event carries at most. */
    final int maxPartBytes;

    /** {@code commit.force-create-snapshot}. */
    final boolean forceSnapshots;

    /** {@code sink.savepoint.auto-tag}. */
    final boolean autoTag;

    RunConfig(
            Mode mode, int parallelism, int maxPartBytes, boolean forceSnapshots, boolean autoTag) {
        this.mode = mode;
        this.parallelism = parallelism;
        this.maxPartBytes = maxPartBytes;
        this.forceSnapshots = forceSnapshots;
        this.autoTag = autoTag;
    }

    @Override
    public String toString() {
        return String.format(
                "%s, %d writers, parts of %d bytes%s%s",
                mode,
                parallelism,
                maxPartBytes,
                forceSnapshots ? ", a snapshot for each checkpoint" : "",
                autoTag ? "" : ", no tags");
    }
}
