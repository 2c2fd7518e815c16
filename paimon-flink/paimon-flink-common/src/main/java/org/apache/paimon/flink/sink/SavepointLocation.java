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

package org.apache.paimon.flink.sink;

import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;

import javax.annotation.Nullable;

/** L1: where a savepoint is written, as an operator learns it when it takes part in it. */
final class SavepointLocation {

    private SavepointLocation() {}

    /** The path of the savepoint; null when this is none, or its location is no path. */
    @Nullable
    static String pathOf(CheckpointOptions options) {
        CheckpointStorageLocationReference location = options.getTargetLocation();
        if (!options.getCheckpointType().isSavepoint() || location.isDefaultReference()) {
            return null;
        }
        try {
            return AbstractFsCheckpointStorageAccess.decodePathFromReference(location).toString();
        } catch (IllegalArgumentException e) {
            // Another checkpoint storage, whose references mean nothing to anybody else.
            return null;
        }
    }
}
