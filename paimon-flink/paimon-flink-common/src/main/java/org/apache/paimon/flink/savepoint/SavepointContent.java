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

package org.apache.paimon.flink.savepoint;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What the metadata of a savepoint or retained checkpoint says. Immutable. */
final class SavepointContent {

    private final SavepointPath path;
    private final long checkpointId;
    private final List<SavepointSink> sinks;

    SavepointContent(SavepointPath path, long checkpointId, List<SavepointSink> sinks) {
        this.path = path;
        this.checkpointId = checkpointId;
        this.sinks = Collections.unmodifiableList(new ArrayList<>(sinks));
    }

    SavepointPath path() {
        return path;
    }

    long checkpointId() {
        return checkpointId;
    }

    /** The sinks whose commit user can be read, each commit user once. */
    List<SavepointSink> sinks() {
        return sinks;
    }

    @Override
    public String toString() {
        return "savepoint " + checkpointId + " at " + path;
    }
}
