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

package org.apache.paimon.flink.sink.coordinator.report;

import org.apache.paimon.flink.sink.Committable;
import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.table.sink.CommitMessageSerializer;

import java.io.IOException;

/**
 * Decodes the committables of one report where they lie.
 *
 * <p>The base's {@link CommittableSerializer} wants each one in an array of its own, and makes
 * another copy of the message in it: that was a third of all that the coordinator allocated. Here
 * the message is read from the report itself. What is decoded keeps nothing of the report's array.
 *
 * <p>It reads the layout that {@link CommittableLayout} describes and checks, so it serves that
 * version of the committables only. Not thread-safe; one is made per report.
 */
public final class CommittableReader {

    /** As on the machines this runs on; where it is another, less is fetched, or more often. */
    private static final int CACHE_LINE_BYTES = 64;

    /** Nobody reads it; without it, the loop that fetches would be optimised away. */
    private static int lastFetched;

    private final CommitMessageSerializer messages;
    private final byte[] report;
    private final CommittableLayout layout;
    private final OneMessage input = new OneMessage();

    public CommittableReader(byte[] report, CommitMessageSerializer messages) {
        this.messages = messages;
        this.report = report;
        this.layout = new CommittableLayout(report);
    }

    /**
     * @throws IOException S2: when the bytes there cannot be those of a committable
     */
    public Committable read(int offset, int length) throws IOException {
        fetch(offset, length);
        layout.check(offset, length);
        int end = offset + length - Integer.BYTES;
        int from = offset + Long.BYTES;
        input.begin(report, from, end - from);
        return new Committable(
                layout.checkpointId(),
                messages.deserializeList(CommitMessageSerializer.CURRENT_VERSION, input).get(0));
    }

    /**
     * Reads one byte of each cache line. A report was written by another thread and waited in
     * memory since. The check jumps about in it and would wait for one line after the other; from
     * here they come side by side, which takes a fifth off a report of one file.
     */
    private void fetch(int offset, int length) {
        int fetched = 0;
        // Downwards: beyond the end of the largest arrays there is no next number.
        for (int left = length; left > 0; left -= CACHE_LINE_BYTES) {
            fetched += report[offset + length - left];
        }
        lastFetched = fetched;
    }

    /** The bytes of a message, as the list of one that the base's serializer can read in place. */
    private static final class OneMessage extends DataInputDeserializer {

        private static final long serialVersionUID = 1L;

        private boolean counted;

        private void begin(byte[] bytes, int offset, int length) {
            setBuffer(bytes, offset, length);
            counted = false;
        }

        @Override
        public int readInt() throws IOException {
            if (!counted) {
                counted = true;
                return 1;
            }
            return super.readInt();
        }
    }
}
