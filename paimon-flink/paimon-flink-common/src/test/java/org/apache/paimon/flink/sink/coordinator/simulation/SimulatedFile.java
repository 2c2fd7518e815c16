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
import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A data file of the simulation: its number is all there is. */
final class SimulatedFile implements CommitMessage {

    private static final long serialVersionUID = 1L;

    /** Writes real reports with committables of four bytes in them, and reads those back. */
    static final CheckpointCommittablesSerializer SERIALIZER = new ShortCommittables();

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
    }

    private static final class ShortCommittables extends CheckpointCommittablesSerializer {

        private static final CommittableSerializer COMMITTABLES =
                new CommittableSerializer(new Codec());

        private ShortCommittables() {
            super(COMMITTABLES);
        }

        /** The real one checks that the committables are those of real files. */
        @Override
        public CheckpointCommittables deserialize(int version, byte[] serialized)
                throws IOException {
            ByteBuffer in = ByteBuffer.wrap(serialized);
            long checkpointId = in.getLong();
            long watermark = in.getLong();
            boolean idle = in.get() != 0;
            boolean savepoint = version >= 3 && in.get() != 0;
            in.getInt();
            List<Committable> committables = new ArrayList<>();
            for (int count = in.getInt(); count > 0; count--) {
                int next = in.getInt() + in.position();
                long id = in.getLong();
                committables.add(new Committable(id, new SimulatedFile(in.getInt())));
                in.position(next);
            }
            return new CheckpointCommittables(
                    checkpointId, committables, watermark, idle, savepoint);
        }
    }
}
