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

package org.apache.paimon.flink.cluster.chaos;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** What a savepoint's own files say: its id, and the offset of each Kafka partition. */
public final class SavepointFacts {

    private final long id;
    private final String location;
    private final Map<Integer, Long> offsets;

    public SavepointFacts(long id, String location, Map<Integer, Long> offsets) {
        this.id = id;
        this.location = location;
        this.offsets = Collections.unmodifiableMap(new TreeMap<>(offsets));
    }

    public long id() {
        return id;
    }

    public String location() {
        return location;
    }

    /** The next record to read, by partition. */
    public Map<Integer, Long> offsets() {
        return offsets;
    }

    public boolean hasData() {
        return offsets.values().stream().anyMatch(offset -> offset > 0);
    }

    @Override
    public String toString() {
        return "savepoint " + id + " " + offsets;
    }
}
