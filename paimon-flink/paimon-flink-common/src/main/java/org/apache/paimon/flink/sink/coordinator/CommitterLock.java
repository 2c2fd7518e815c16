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

import org.apache.paimon.utils.EventLoop;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * A7: at most one event loop of this process commits for a commit user into a table.
 *
 * <p>A coordinator acquires the lock on its own loop before its first look at the table. While the
 * loop of a predecessor that is closing still runs, of the same JobMaster or of an earlier one, it
 * waits, however long that takes, and says so. A holder that is not closing belongs to another
 * running job: then it fails. Closing is noticed a moment after a job has ended, so that much time
 * is left to the holder.
 */
final class CommitterLock {

    private static final Logger LOG = LoggerFactory.getLogger(CommitterLock.class);

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);

    private static final Map<String, Holder> HOLDERS = new ConcurrentHashMap<>();

    private CommitterLock() {}

    /**
     * @param table where the table lies
     * @param closing whether the loop's coordinator is being closed
     * @throws InterruptedException when the waiting loop is itself closed
     * @throws IllegalStateException when another running job commits as the same commit user
     */
    static void acquire(String table, String commitUser, EventLoop loop, BooleanSupplier closing)
            throws InterruptedException {
        String key = table + '#' + commitUser;
        Holder newcomer = new Holder(loop, closing);
        while (true) {
            Holder holder =
                    HOLDERS.compute(
                            key,
                            (ignored, current) ->
                                    current == null || current.loop.terminated()
                                            ? newcomer
                                            : current);
            if (holder == newcomer) {
                return;
            }
            LOG.info(
                    "Waiting for {} to end, which commits as {} to {}.",
                    holder.loop,
                    commitUser,
                    table);
            holder.loop.awaitTermination(
                    REPORT_INTERVAL, waited -> holder.stillRuns(waited, table, commitUser));
        }
    }

    /** Gives the lock back once the loop has ended: a dead loop must not be kept in memory. */
    static void release(EventLoop loop) {
        HOLDERS.values().removeIf(holder -> holder.loop == loop);
    }

    /** Who has the lock. */
    private static final class Holder {

        private final EventLoop loop;
        private final BooleanSupplier closing;

        private Holder(EventLoop loop, BooleanSupplier closing) {
            this.loop = loop;
            this.closing = closing;
        }

        private void stillRuns(Duration waited, String table, String commitUser) {
            if (!closing.getAsBoolean()) {
                throw new IllegalStateException(
                        String.format(
                                "%s of another running job commits as %s to %s: two jobs were"
                                        + " started from one savepoint. Stop one of them, or give"
                                        + " one another sink.operator-uid.suffix, which starts it"
                                        + " with a commit user of its own.",
                                loop, commitUser, table));
            }
            LOG.warn(
                    "Still waiting for {} to end, after {} s: it commits as {} to {}, and there"
                            + " must never be two. Nothing is committed meanwhile. Thread dumps"
                            + " show what it waits for.",
                    loop,
                    waited.getSeconds(),
                    commitUser,
                    table);
        }
    }
}
