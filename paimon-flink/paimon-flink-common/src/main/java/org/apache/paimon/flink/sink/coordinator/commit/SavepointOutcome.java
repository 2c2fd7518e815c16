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

/** L2: what the place of a savepoint says of it. */
public enum SavepointOutcome {

    /** Its metadata is there and can be read. */
    COMPLETE,

    /** Its directory is there, without metadata that can be read. */
    UNFINISHED,

    /** Its directory is not there: it was moved, claimed or deleted. */
    GONE,

    /** The file system did not answer. */
    UNKNOWN
}
