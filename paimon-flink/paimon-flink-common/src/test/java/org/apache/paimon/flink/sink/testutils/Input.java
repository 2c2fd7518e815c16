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

package org.apache.paimon.flink.sink.testutils;

/** Where the records of a job come from, and how many tasks they pass through. */
public enum Input {

    /** A FLIP-27 source in one task with the writer and the end of the sink. */
    CHAINED,

    /** A FLIP-27 source in a task of its own; source and writer of an index are one region. */
    UNCHAINED,

    /** A FLIP-27 source in a task of its own; each source writes to all writers: one region. */
    REBALANCED,

    /** A legacy source: chained with the writer, but not with the end of the sink. */
    LEGACY
}
