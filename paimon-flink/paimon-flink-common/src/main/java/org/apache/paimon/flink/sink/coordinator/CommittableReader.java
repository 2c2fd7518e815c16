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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Decodes committables where they lie in a report.
 *
 * <p>The base's serializer wants each one in an array of its own, and makes another copy of the
 * message in it. A committable is the checkpoint id (long), the message, and the version of the
 * message (int). What is decoded keeps nothing of the report's array. Threads: one at a time.
 */
final class CommittableReader {

    private static final int FIXED_LENGTH = Long.BYTES + Integer.BYTES;

    private final CommitMessageSerializer messages = new CommitMessageSerializer();
    private final ListOfOne input = new ListOfOne();

    /** Whether a committable is of the one version of messages that this can read. */
    boolean canRead(byte[] report, int offset, int length) {
        return length >= FIXED_LENGTH
                && ByteBuffer.wrap(report).getInt(offset + length - Integer.BYTES)
                        == CommitMessageSerializer.CURRENT_VERSION;
    }

    Committable read(byte[] report, int offset, int length) throws IOException {
        input.begin(report, offset + Long.BYTES, length - FIXED_LENGTH);
        return new Committable(
                ByteBuffer.wrap(report).getLong(offset),
                messages.deserializeList(CommitMessageSerializer.CURRENT_VERSION, input).get(0));
    }

    /** The bytes of one message, as the list that the base can read in place. */
    private static final class ListOfOne extends DataInputDeserializer {

        private static final long serialVersionUID = 1L;

        private boolean sizeWasRead;

        private void begin(byte[] bytes, int offset, int length) {
            setBuffer(bytes, offset, length);
            sizeWasRead = false;
        }

        @Override
        public int readInt() throws IOException {
            if (!sizeWasRead) {
                sizeWasRead = true;
                return 1;
            }
            return super.readInt();
        }
    }
}
