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

package org.apache.paimon.flink.benchmark;

import org.apache.paimon.manifest.ManifestCommittable;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Where the coordinator's thread hands over what is to be committed, and the measuring thread waits
 * for it.
 */
final class HandOver {

    private final Runnable onArrival;

    private volatile long files;

    HandOver() {
        this(() -> {});
    }

    /**
     * @param onArrival runs on the coordinator's thread while it holds what it hands over
     */
    HandOver(Runnable onArrival) {
        this.onArrival = onArrival;
    }

    void arrived(List<ManifestCommittable> committables) {
        if (committables.isEmpty()) {
            return;
        }
        onArrival.run();
        long count = 0;
        for (ManifestCommittable committable : committables) {
            count += committable.fileCommittables().size();
        }
        synchronized (this) {
            files += count;
            notifyAll();
        }
    }

    /** Waits until so many files have arrived since the last call, and starts to count again. */
    void await(long expectedFiles, long timeoutMillis) {
        Spin.until(() -> files >= expectedFiles, timeoutMillis);
        long arrived = arrivedWithin(expectedFiles, 0);
        if (arrived != expectedFiles) {
            throw new IllegalStateException(
                    String.format(
                            "%d files were handed over within %d ms, %d were reported.",
                            arrived, timeoutMillis, expectedFiles));
        }
    }

    /** The same, but with fewer files when the time is up. */
    synchronized long arrivedWithin(long expectedFiles, long timeoutMillis) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        long left = timeoutMillis;
        while (files < expectedFiles && left > 0) {
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for a commit.", e);
            }
            left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
        long arrived = files;
        files = 0;
        return arrived;
    }
}
