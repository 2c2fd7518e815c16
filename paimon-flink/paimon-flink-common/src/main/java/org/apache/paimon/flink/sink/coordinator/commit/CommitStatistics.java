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

package org.apache.paimon.flink.sink.coordinator.commit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * What the sessions of one coordinator have committed and restored, one after the other.
 *
 * <p>Threads: the coordinator's event loop writes, any thread reads.
 */
public final class CommitStatistics {

    private static final long NANOS_PER_MILLI = 1_000_000L;

    private final LongSupplier nanoClock;

    private final AtomicLong commits = new AtomicLong();
    private final AtomicLong restores = new AtomicLong();

    private volatile long lastCommitMillis = -1;
    private volatile long lastRestoreMillis = -1;

    /** When the last commit ended; meaningless before the first. */
    private volatile long lastCommitEnd;

    /** When the restore under way began. Event loop only. */
    private long restoreBegan;

    CommitStatistics(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Snapshots committed, also those that a restore has caught up on. */
    public long commits() {
        return commits.get();
    }

    /** How long the last commit took with its tags, in milliseconds; -1 before the first. */
    public long lastCommitMillis() {
        return lastCommitMillis;
    }

    /** Since when nothing was committed, in seconds; -1 before the first commit. */
    public long secondsSinceLastCommit() {
        return lastCommitMillis < 0
                ? -1
                : (nanoClock.getAsLong() - lastCommitEnd) / (1_000 * NANOS_PER_MILLI);
    }

    /** Restores that were completed, up to the last commit that they had to catch up on. */
    public long restores() {
        return restores.get();
    }

    /** How long the last restore took, replays included, in milliseconds; -1 before the first. */
    public long lastRestoreMillis() {
        return lastRestoreMillis;
    }

    public void restoreBegins() {
        restoreBegan = nanoClock.getAsLong();
    }

    public void restored() {
        lastRestoreMillis = (nanoClock.getAsLong() - restoreBegan) / NANOS_PER_MILLI;
        restores.incrementAndGet();
    }

    /** A commit begins; {@link #committed} gets what is returned. */
    long commitBegins() {
        return nanoClock.getAsLong();
    }

    void committed(long began) {
        long now = nanoClock.getAsLong();
        lastCommitEnd = now;
        lastCommitMillis = (now - began) / NANOS_PER_MILLI;
        commits.incrementAndGet();
    }
}
