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

import java.util.EnumMap;
import java.util.Map;
import java.util.StringJoiner;

/** How often what matters has happened in a run: what a pinned schedule says that it reaches. */
final class Effects {

    /** Something that steps bring about, not a step itself. */
    enum Effect {
        START("start"),
        RESTART("restart"),
        COMMIT("commit"),
        TAG("tag"),
        DELETED_TAG("deleted tag"),
        /** A fault that a step has put in has struck. */
        FAULT("fault"),
        FAILURE("failure"),
        REFUSAL("refusal");

        private final String word;

        Effect(String word) {
            this.word = word;
        }
    }

    private final Map<Effect, Integer> counts = new EnumMap<>(Effect.class);

    void add(Effect effect) {
        counts.merge(effect, 1, Integer::sum);
    }

    /** Such as {@code 1 start, 2 commits}. */
    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(", ");
        counts.forEach(
                (effect, count) -> text.add(count + " " + effect.word + (count == 1 ? "" : "s")));
        return text.toString();
    }
}
