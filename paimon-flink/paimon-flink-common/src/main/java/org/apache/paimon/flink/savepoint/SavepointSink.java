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

import org.apache.paimon.tag.CommitProgress;

import javax.annotation.Nullable;

/** What a savepoint says of one sink in its job. Immutable. */
final class SavepointSink {

    private final String operator;
    private final String commitUser;
    @Nullable private final CommitProgress progress;

    /**
     * @param operator name or id of the operator that has the state
     * @param progress what the savepoint knows of the commits before it; null when it was written
     *     by a build that does not say so
     */
    SavepointSink(String operator, String commitUser, @Nullable CommitProgress progress) {
        this.operator = operator;
        this.commitUser = commitUser;
        this.progress = progress;
    }

    String commitUser() {
        return commitUser;
    }

    @Nullable
    CommitProgress progress() {
        return progress;
    }

    @Override
    public String toString() {
        return commitUser + " ('" + operator + "')";
    }
}
