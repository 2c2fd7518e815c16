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

import org.apache.paimon.Snapshot;

import javax.annotation.Nullable;

import java.util.Collections;
import java.util.List;

/** The snapshot that belongs to a savepoint, and why. Immutable. */
final class FoundSnapshot {

    private final Snapshot snapshot;
    @Nullable private final String tag;
    private final String reason;
    private final List<String> passedOver;

    /**
     * @param tag a tag on it; null when there is none
     * @param passedOver other candidates, in words
     */
    FoundSnapshot(Snapshot snapshot, @Nullable String tag, String reason, List<String> passedOver) {
        this.snapshot = snapshot;
        this.tag = tag;
        this.reason = reason;
        this.passedOver = Collections.unmodifiableList(passedOver);
    }

    Snapshot snapshot() {
        return snapshot;
    }

    @Nullable
    String tag() {
        return tag;
    }

    String reason() {
        return reason;
    }

    List<String> passedOver() {
        return passedOver;
    }
}
