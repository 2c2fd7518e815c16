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

/**
 * A7: at most one event loop of this process commits for a commit user into a table.
 *
 * <p>A coordinator takes the lease on its own loop before its first look at the table. While the
 * loop of a predecessor still lives, of the same JobMaster or of an earlier one, it waits, however
 * long that takes, and says so. There is nothing to give back: a dead loop holds nothing.
 */
final class CommitUserLease {

    private static final Logger LOG = LoggerFactory.getLogger(CommitUserLease.class);

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);

    private static final Map<String, EventLoop> HOLDERS = new ConcurrentHashMap<>();

    private CommitUserLease() {}

    /**
     * @param table where the table lies
     * @throws InterruptedException when the waiting loop is itself closed
     */
    static void acquire(String table, String commitUser, EventLoop loop)
            throws InterruptedException {
        String key = table + '#' + commitUser;
        while (true) {
            EventLoop holder =
                    HOLDERS.compute(
                            key,
                            (ignored, current) ->
                                    current == null || current.terminated() ? loop : current);
            if (holder == loop) {
                HOLDERS.values().removeIf(other -> other != loop && other.terminated());
                return;
            }
            LOG.info(
                    "Waiting for {} to end, which commits as {} to {}.", holder, commitUser, table);
            holder.awaitTermination(
                    REPORT_INTERVAL,
                    waited ->
                            LOG.warn(
                                    "Still waiting for {} to end, after {} s: it commits as {} to"
                                            + " {}, and there must never be two. Nothing is"
                                            + " committed meanwhile. Thread dumps show what it"
                                            + " waits for.",
                                    holder,
                                    waited.getSeconds(),
                                    commitUser,
                                    table));
        }
    }
}
