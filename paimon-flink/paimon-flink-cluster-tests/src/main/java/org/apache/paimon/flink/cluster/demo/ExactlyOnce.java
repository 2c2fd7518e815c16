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

package org.apache.paimon.flink.cluster.demo;

import org.apache.paimon.flink.cluster.ClusterException;

import java.util.BitSet;

/**
 * Judges counted ids. Split {@code i} of {@code n} has emitted {@code i, i + n, i + 2n, ...}: if
 * its ids start with {@code i}, are all different, and are as many as fit between the first and the
 * last, then each of them is there exactly once.
 */
final class ExactlyOnce {

    private final int splits;
    private final BitSet seen = new BitSet();
    private long records;

    ExactlyOnce(int splits) {
        this.splits = splits;
    }

    /** Takes in what was counted for one split; throws if it is not exactly once. */
    void split(int index, long count, long distinct, long first, long last) {
        if (index < 0 || index >= splits || seen.get(index)) {
            throw new ClusterException(
                    "ids of split " + index + " were not expected, or were counted twice");
        }
        seen.set(index);
        if (first != index) {
            throw new ClusterException(
                    String.format(
                            "LOST: the first id of split %d should be %d and is %d",
                            index, index, first));
        }
        long expected = (last - first) / splits + 1;
        if (distinct < expected) {
            throw new ClusterException(
                    String.format(
                            "LOST: split %d has emitted %d records up to id %d, but %d are there",
                            index, expected, last, distinct));
        }
        if (count > distinct || distinct > expected) {
            throw new ClusterException(
                    String.format(
                            "DOUBLED: split %d has emitted %d records up to id %d, but %d are"
                                    + " there",
                            index, expected, last, count));
        }
        records += count;
    }

    /** How many records all splits have together; throws if a split is missing. */
    long records() {
        if (seen.cardinality() != splits) {
            throw new ClusterException(
                    String.format(
                            "LOST: %d splits have emitted, records of %d are there: %s",
                            splits, seen.cardinality(), seen));
        }
        return records;
    }
}
