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

import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A data file of the simulation: its number is all there is. */
final class SimulatedFile implements CommitMessage {

    private static final long serialVersionUID = 1L;

    /** The real serializer of reports, with committables of eight bytes in it. */
    static final CheckpointCommittablesSerializer SERIALIZER =
            new CheckpointCommittablesSerializer(new CommittableSerializer(new Codec()));

    final int number;

    SimulatedFile(int number) {
        this.number = number;
    }

    @Override
    public BinaryRow partition() {
        return BinaryRow.EMPTY_ROW;
    }

    @Override
    public int bucket() {
        return 0;
    }

    @Override
    public Integer totalBuckets() {
        return -1;
    }

    private static final class Codec extends CommitMessageSerializer {

        @Override
        public byte[] serialize(CommitMessage message) {
            return ByteBuffer.allocate(Integer.BYTES)
                    .putInt(((SimulatedFile) message).number)
                    .array();
        }

        @Override
        public CommitMessage deserialize(int version, byte[] bytes) throws IOException {
            if (bytes.length != Integer.BYTES) {
                throw new IOException("A simulated file has 4 bytes, not " + bytes.length + ".");
            }
            return new SimulatedFile(ByteBuffer.wrap(bytes).getInt());
        }
    }
}
