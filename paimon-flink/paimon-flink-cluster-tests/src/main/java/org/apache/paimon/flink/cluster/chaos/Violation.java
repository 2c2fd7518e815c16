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

/** Something that should not be. */
public final class Violation {

    /** What kind of thing it is. */
    public enum Kind {
        /** The table at a tag is not what the savepoint holds. */
        TAG_CONTENT,
        /** A snapshot carries the id of a savepoint, but not its content. */
        SNAPSHOT_CONTENT,
        /** A completed savepoint whose snapshot is committed, or that nothing disturbed. */
        MISSING_TAG,
        /** No savepoint with metadata has the id of the tag (L2). */
        TAG_WITHOUT_SAVEPOINT,
        /** The head of the table does not hold each record exactly once. */
        HEAD_CONTENT,
        /** The job did not come back, or something else that the round needed did not happen. */
        NO_RECOVERY
    }

    private final Kind kind;
    private final String text;

    public Violation(Kind kind, String text) {
        this.kind = kind;
        this.text = text;
    }

    public Kind kind() {
        return kind;
    }

    public String text() {
        return text;
    }

    @Override
    public String toString() {
        return kind + ": " + text;
    }
}
