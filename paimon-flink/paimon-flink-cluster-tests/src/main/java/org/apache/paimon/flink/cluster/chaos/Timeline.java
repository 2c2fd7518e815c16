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

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** What happened in a round, by the clock of the harness. Thread-safe. */
public final class Timeline {

    /** What kind of thing happened; the report has a lane for each. */
    public enum Kind {
        CHECKPOINT,
        SAVEPOINT,
        BREAK,
        COMMIT,
        TAG,
        JOB
    }

    private final LongSupplier clockMillis;
    private final long start;
    private final List<Event> events = new ArrayList<>();

    public Timeline(LongSupplier clockMillis) {
        this.clockMillis = clockMillis;
        this.start = clockMillis.getAsLong();
    }

    public synchronized void add(Kind kind, String text) {
        events.add(new Event(clockMillis.getAsLong() - start, kind, text));
    }

    public synchronized List<Event> events() {
        return new ArrayList<>(events);
    }

    public long millis() {
        return clockMillis.getAsLong() - start;
    }

    /** One thing that happened. */
    public static final class Event {
        private final long millis;
        private final Kind kind;
        private final String text;

        Event(long millis, Kind kind, String text) {
            this.millis = millis;
            this.kind = kind;
            this.text = text;
        }

        /** Since the start of the round. */
        public long millis() {
            return millis;
        }

        public Kind kind() {
            return kind;
        }

        public String text() {
            return text;
        }
    }
}
