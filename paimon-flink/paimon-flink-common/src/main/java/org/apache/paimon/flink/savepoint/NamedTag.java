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
import org.apache.paimon.tag.SavepointTagger;
import org.apache.paimon.tag.Tag;

import javax.annotation.Nullable;

import java.time.LocalDateTime;

/** A tag and its name. Immutable. */
final class NamedTag {

    private final String name;
    private final Tag tag;
    @Nullable private final LocalDateTime created;

    NamedTag(String name, Tag tag, @Nullable LocalDateTime created) {
        this.name = name;
        this.tag = tag;
        this.created = created;
    }

    String name() {
        return name;
    }

    Tag tag() {
        return tag;
    }

    /** In the local time zone; null when that cannot be told. */
    @Nullable
    LocalDateTime created() {
        return created;
    }

    /** The snapshot that it is on. */
    Snapshot snapshot() {
        return tag.trimToSnapshot();
    }

    /** Whether it has one of the two names that a savepoint's tag may have (T5). */
    boolean isSavepointTag() {
        String firstName = SavepointTagger.TAG_PREFIX + tag.commitIdentifier();
        return name.equals(firstName) || name.equals(firstName + "-" + tag.id());
    }
}
