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

/**
 * A part of the {@link ReportSideState}s that a writer attempt found in its restored state. They
 * belong to reports of any writer (S6).
 */
public class RestoredSideStateEvent extends WriterEvent {

    private static final long serialVersionUID = 1L;

    private static final byte[] NOTHING = new byte[0];

    private final byte[][] elements;

    RestoredSideStateEvent(long position, long restoredCheckpointId, byte[][] elements) {
        super(position, restoredCheckpointId, 0, 0, true, NOTHING);
        this.elements = elements;
    }

    /** Not to be changed. */
    byte[][] elements() {
        return elements;
    }
}
