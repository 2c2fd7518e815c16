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

import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Puts commits, tags and checkpoints on the timeline as they appear, on a thread of its own. */
final class Watcher implements AutoCloseable {

    private static final long PAUSE_MILLIS = 300;

    private final Timeline timeline;
    private final TableDirectory table;
    private final RestClient rest;
    private final Supplier<String> job;
    private final Set<String> seen = new HashSet<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread = new Thread(this::watch, "watcher");

    /**
     * @param job the job of now, null while there is none
     */
    Watcher(Timeline timeline, TableDirectory table, RestClient rest, Supplier<String> job) {
        this.timeline = timeline;
        this.table = table;
        this.rest = rest;
        this.job = job;
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        try {
            do {
                look();
            } while (!stopped.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            table.latest().ifPresent(s -> add(Timeline.Kind.COMMIT, s.toString()));
            table.tags().forEach((name, s) -> add(Timeline.Kind.TAG, name + " on " + s));
            String now = job.get();
            if (now != null) {
                for (RestClient.Checkpoint checkpoint : rest.checkpoints(now).history()) {
                    add(
                            checkpoint.isSavepoint()
                                    ? Timeline.Kind.SAVEPOINT
                                    : Timeline.Kind.CHECKPOINT,
                            checkpoint.toString());
                }
            }
        } catch (ClusterException e) {
            // What is broken on purpose does not answer; the next look may see more.
        }
    }

    private void add(Timeline.Kind kind, String text) {
        if (seen.add(text)) {
            timeline.add(kind, text);
        }
    }

    @Override
    public void close() {
        stopped.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
