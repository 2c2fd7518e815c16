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

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/**
 * Heap that the coordinator holds for a pending checkpoint, and the highest while it commits that
 * checkpoint. Counted as live bytes on top of those without a pending checkpoint.
 */
final class HeapProbe {

    /** The larger the checkpoint, the longer a collection takes, and the longer its commit. */
    private static final int FILES_PER_PAUSE_MILLI = 20_000;

    private HeapProbe() {}

    static void run(int writers, int files, Path directory, Results results) throws Exception {
        Heap.Watch[] watch = new Heap.Watch[1];
        HandOver handOver =
                new HandOver(
                        () -> {
                            if (watch[0] != null) {
                                watch[0].look();
                            }
                        });
        MeasuredTable table = MeasuredTable.create(directory, Collections.emptyMap());
        try (WriterFleet fleet = new WriterFleet(writers, files, table, handOver)) {
            fleet.start();
            for (int warmUp = 0; warmUp < 2; warmUp++) {
                fleet.deliverOneByOne(fleet.nextCheckpoint());
                fleet.complete();
                fleet.forget();
            }

            List<byte[]> events = fleet.nextCheckpoint();
            fleet.barrier();
            long before = Heap.live();
            fleet.deliverOneByOne(events);
            fleet.barrier();
            long pending = Heap.live();
            long highest;
            try (Heap.Watch started =
                    new Heap.Watch((long) writers * files / FILES_PER_PAUSE_MILLI)) {
                watch[0] = started;
                fleet.complete();
                highest = started.highest();
            }
            String name = writers + " writers, " + files + " files";
            long bytes = 0;
            for (byte[] event : events) {
                bytes += event.length;
            }
            results.add(name, "event bytes per file", (double) bytes / files);
            results.add(
                    name,
                    "heap held per file",
                    (double) (pending - before) / ((long) writers * files));
            results.add(
                    name,
                    "highest heap per file",
                    (double) (Math.max(highest, pending) - before) / ((long) writers * files));
        }
    }
}
