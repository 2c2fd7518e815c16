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

import java.util.BitSet;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which records a table holds: those of each Kafka partition by their number, which is their
 * offset.
 */
public final class Content {

    private static final int NAMED = 3;

    private final Map<Integer, BitSet> once = new TreeMap<>();
    private final Map<Integer, BitSet> repeated = new TreeMap<>();
    private long rows;

    public Content add(int partition, long number) {
        int index = Math.toIntExact(number);
        BitSet seen = once.computeIfAbsent(partition, key -> new BitSet());
        if (seen.get(index)) {
            repeated.computeIfAbsent(partition, key -> new BitSet()).set(index);
        }
        seen.set(index);
        rows++;
        return this;
    }

    public long rows() {
        return rows;
    }

    /** Whether some record is there more than once. */
    public boolean hasRepetitions() {
        return !repeated.isEmpty();
    }

    /**
     * What is wrong if this should hold exactly the records before these offsets, each once; empty
     * if it does. A partition that is not named should have no record.
     */
    public Optional<String> differenceTo(Map<Integer, Long> offsets) {
        TreeMap<Integer, Long> all = new TreeMap<>();
        once.keySet().forEach(partition -> all.put(partition, 0L));
        all.putAll(offsets);
        StringBuilder text = new StringBuilder();
        all.forEach(
                (partition, end) -> {
                    BitSet expected = new BitSet();
                    expected.set(0, Math.toIntExact(end));
                    BitSet seen = once.getOrDefault(partition, new BitSet());
                    describe(text, partition, "lacks", minus(expected, seen));
                    describe(text, partition, "has too much:", minus(seen, expected));
                    describe(
                            text,
                            partition,
                            "repeats",
                            repeated.getOrDefault(partition, new BitSet()));
                });
        return text.length() == 0 ? Optional.empty() : Optional.of(text.toString());
    }

    private static BitSet minus(BitSet from, BitSet what) {
        BitSet left = (BitSet) from.clone();
        left.andNot(what);
        return left;
    }

    private static void describe(StringBuilder text, int partition, String verb, BitSet records) {
        if (records.isEmpty()) {
            return;
        }
        text.append(text.length() == 0 ? "" : "; ")
                .append("partition ")
                .append(partition)
                .append(' ')
                .append(verb)
                .append(' ')
                .append(records.cardinality())
                .append(" records (");
        records.stream().limit(NAMED).forEach(number -> text.append(number).append(", "));
        text.append("... ").append(records.length() - 1).append(')');
    }
}
