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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which worker processes are run: measure, arguments, heap. */
final class Plan {

    /** How much is measured. */
    enum Extent {
        /** Enough to see that everything works; the values mean nothing. */
        SMOKE,
        QUICK,
        FULL
    }

    private Plan() {}

    static List<Case> of(Extent extent) {
        List<Case> cases = new ArrayList<>();
        int[] writers =
                extent == Extent.FULL
                        ? new int[] {1_000, 10_000}
                        : new int[] {extent == Extent.QUICK ? 1_000 : 20};
        int[] files = extent == Extent.FULL ? new int[] {1, 10, 100} : new int[] {1, 10};
        for (int w : writers) {
            for (int f : files) {
                cases.add(new Case("heap", heap(w, f), "writers=" + w, "files=" + f));
            }
        }
        for (int w : writers) {
            for (int f : files) {
                cases.add(checkpoint(extent, w, f));
            }
        }
        if (extent != Extent.SMOKE) {
            cases.add(checkpoint(extent, 3_000, 1));
            cases.add(checkpoint(extent, 30_000, 1));
        }
        int[] restored =
                extent == Extent.SMOKE
                        ? new int[] {20}
                        : extent == Extent.QUICK
                                ? new int[] {1_000, 10_000, 30_000}
                                : new int[] {1_000, 3_000, 10_000, 30_000};
        for (int w : restored) {
            cases.add(
                    new Case(
                            "restore",
                            2_000,
                            "writers=" + w,
                            "files=1",
                            "warmUps=" + (extent == Extent.SMOKE ? 0 : 3),
                            "iterations=" + (extent == Extent.SMOKE ? 1 : 3)));
        }
        int[] reports = extent == Extent.SMOKE ? new int[] {1} : new int[] {0, 1, 10, 1_000};
        for (int f : reports) {
            cases.add(
                    new Case(
                            "serializer",
                            1_000,
                            "files=" + f,
                            "warmUps=" + (extent == Extent.SMOKE ? 0 : 6),
                            "iterations=" + (extent == Extent.SMOKE ? 1 : 10)));
        }
        int[] snapshots =
                extent == Extent.FULL
                        ? new int[] {10, 1_000, 10_000}
                        : extent == Extent.QUICK ? new int[] {10, 1_000} : new int[] {10};
        for (int s : snapshots) {
            cases.add(new Case("tag", 1_000, "snapshots=" + s));
        }
        if (extent == Extent.SMOKE) {
            cases.add(new Case("frame", 2_000, "files=200", "savepoints=2"));
            return cases;
        }
        boolean full = extent == Extent.FULL;
        cases.add(new Case("frame", 7_000, "files=50000", "savepoints=" + (full ? 20 : 3)));
        cases.add(new Case("job", 2_000, "turns=" + (full ? 6 : 2), "seconds=" + (full ? 10 : 6)));
        cases.add(new Case("recovery", 2_000, "turns=" + (full ? 5 : 2)));
        return cases;
    }

    private static Case checkpoint(Extent extent, int writers, int files) {
        long all = (long) writers * files;
        int iterations = extent == Extent.SMOKE ? 1 : all > 200_000 ? 4 : all > 20_000 ? 15 : 40;
        return new Case(
                "checkpoint",
                heap(writers, files),
                "writers=" + writers,
                "files=" + files,
                "warmUps=" + (extent == Extent.SMOKE ? 0 : iterations),
                "iterations=" + iterations);
    }

    private static int heap(int writers, int files) {
        return (int) Math.min(7_000, 1_000 + (long) writers * files / 150);
    }

    /** One worker process. */
    static final class Case {

        final String measure;
        final int heapMegabytes;
        final List<String> arguments;

        Case(String measure, int heapMegabytes, String... arguments) {
            this.measure = measure;
            this.heapMegabytes = heapMegabytes;
            this.arguments = Arrays.asList(arguments);
        }

        @Override
        public String toString() {
            return measure + " " + String.join(" ", arguments);
        }
    }
}
