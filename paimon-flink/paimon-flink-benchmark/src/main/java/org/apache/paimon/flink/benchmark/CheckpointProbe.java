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

final class CheckpointProbe {
    public static void main(String[] a) throws Exception {
        int writers = Integer.parseInt(a[1]), files = Integer.parseInt(a[2]);
        java.nio.file.Path dir = java.nio.file.Files.createTempDirectory("bench");
        try (Results r = new Results(java.nio.file.Paths.get("/dev/stdout"))) {
            if (a[0].equals("heap")) {
                HeapProbe.run(writers, files, dir, r);
                System.exit(0);
            }
            if (a[0].equals("restore")) {
                restore(writers, files, dir, r);
                System.exit(0);
            }
            MeasuredTable table = MeasuredTable.create(dir, java.util.Collections.emptyMap());
            try (WriterFleet fleet = new WriterFleet(writers, files, table, new HandOver())) {
                fleet.start();
                double[] mi = {1e9, 1e9, 1e9, 1e9, 1e9};
                for (int i = 0; i < 40; i++) {
                    var e = fleet.arriving(fleet.nextCheckpoint());
                    fleet.barrier();
                    System.gc();
                    Runnable rel = fleet.hold();
                    var co = fleet.coordinator();
                    long t0 = System.nanoTime(),
                            c0 = co.cpuNanos(),
                            o0 = DrivenCoordinator.ownCpuNanos(),
                            al0 = co.allocatedBytes(),
                            oa0 = DrivenCoordinator.ownAllocatedBytes();
                    fleet.deliver(e);
                    long od = DrivenCoordinator.ownCpuNanos() - o0;
                    long oa = DrivenCoordinator.ownAllocatedBytes() - oa0;
                    t0 = System.nanoTime();
                    rel.run();
                    fleet.barrier();
                    long t1 = System.nanoTime(),
                            c1 = co.cpuNanos(),
                            o1 = DrivenCoordinator.ownCpuNanos(),
                            al1 = co.allocatedBytes();
                    fleet.complete();
                    long t2 = System.nanoTime(), c2 = co.cpuNanos(), al2 = co.allocatedBytes();
                    fleet.forget();
                    double n = (double) writers * files;
                    double[] v = {
                        (t1 - t0) / 1e6,
                        (c1 - c0) / 1e6 + od / 1e6,
                        (t2 - t0) / 1e6,
                        (c2 - c0) / 1e6 + od / 1e6,
                        (al2 - al0 + oa) / n
                    };
                    for (int k = 0; k < 5; k++) mi[k] = Math.min(mi[k], v[k]);
                }
                System.out.printf(
                        "%s %s min: intake wall %.2f cpu %.2f total wall %.2f cpu %.2f alloc %.0f%n",
                        a[1], a[2], mi[0], mi[1], mi[2], mi[3], mi[4]);
            }
        }
        System.exit(0);
    }

    static void restore(int writers, int files, java.nio.file.Path dir, Results r)
            throws Exception {
        MeasuredTable table = MeasuredTable.create(dir, java.util.Collections.emptyMap());
        try (WriterFleet fleet = new WriterFleet(writers, files, table, new HandOver())) {
            fleet.start();
            fleet.nextCheckpoint();
            for (int i = 0; i < 6; i++) {
                var e = fleet.arriving(fleet.failAndRestore());
                System.gc();
                long t0 = System.nanoTime(), o0 = DrivenCoordinator.ownCpuNanos();
                fleet.deliver(e);
                fleet.awaitHandOver();
                long t1 = System.nanoTime();
                System.out.printf(
                        "restore wall %.2f own %.2f%n",
                        (t1 - t0) / 1e6, (DrivenCoordinator.ownCpuNanos() - o0) / 1e6);
                fleet.barrier();
            }
        }
    }
}
