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
        boolean smoke = extent == Extent.SMOKE;
        boolean full = extent == Extent.FULL;
        List<Case> cases = new ArrayList<>();
        int[] writers = full ? new int[] {1_000, 10_000} : new int[] {smoke ? 20 : 1_000};
        int[] files = full ? new int[] {1, 10, 100} : new int[] {1, 10};
        for (int w : writers) {
            for (int f : files) {
                cases.add(
                        new Case("heap", heap(w, f), 6 + w * f / 20_000)
                                .with("writers", w)
                                .with("files", f)
                                .once());
            }
        }
        for (int w : writers) {
            for (int f : files) {
                cases.add(checkpoint(smoke, w, f));
            }
        }
        if (!smoke) {
            cases.add(checkpoint(false, 3_000, 1));
            cases.add(checkpoint(false, 30_000, 1));
        }
        for (int w : smoke ? new int[] {20} : new int[] {1_000, 3_000, 10_000, 30_000}) {
            cases.add(
                    new Case("restore", 2_000, 10 + w / 2_000)
                            .with("writers", w)
                            .with("files", 1)
                            .with("calls", 1)
                            .with("warmUps", smoke ? 0 : 3)
                            .with("iterations", smoke ? 1 : 3)
                            .once());
        }
        for (int f : smoke ? new int[] {1} : new int[] {0, 1, 10, 1_000}) {
            cases.add(
                    new Case("serializer", 1_000, smoke ? 4 : 8)
                            .with("files", f)
                            .with("calls", smoke ? 1 : 40_000 / (f + 1))
                            .with("warmUps", smoke ? 0 : 25)
                            .with("iterations", smoke ? 1 : 15));
        }
        // What follows compares this distribution with itself.
        cases.add(
                new Case("writer", 1_000, 15)
                        .with("savepoints", smoke ? 1 : 3_000)
                        .ofThisJarAlone());
        int turns = smoke ? 1 : full ? 4 : 2;
        int seconds = smoke ? 1 : 5;
        cases.add(
                new Case("job", 2_000, (turns + 1) * JobProbe.JOBS * (seconds + 1))
                        .with("warmUps", smoke ? 0 : 1)
                        .with("turns", turns)
                        .with("seconds", seconds)
                        .once()
                        .ofThisJarAlone());
        for (int s : full ? new int[] {10, 1_000, 10_000} : new int[] {10, smoke ? 20 : 1_000}) {
            cases.add(new Case("tag", 1_000, 10 + s / 500).with("snapshots", s).once());
        }
        cases.add(
                new Case("recovery", 2_000, 10 + 4 * turns)
                        .with("turns", turns)
                        .once()
                        .ofThisJarAlone());
        cases.add(
                new Case("frame", smoke ? 2_000 : 7_000, smoke ? 10 : 150)
                        .with("files", smoke ? 200 : 50_000)
                        .with("savepoints", smoke ? 2 : full ? 20 : 3)
                        .once());
        return cases;
    }

    /** As many checkpoints as it takes until the code that decodes a report is compiled. */
    private static Case checkpoint(boolean smoke, int writers, int files) {
        int all = writers * files;
        int iterations = smoke ? 1 : Math.max(3, Math.min(40, 250_000 / all));
        int warmUps = smoke ? 0 : Math.max(2, Math.min(150, 600_000 / all));
        Case checkpoint =
                new Case("checkpoint", heap(writers, files), 6 + all / 30_000)
                        .with("writers", writers)
                        .with("files", files)
                        .with("calls", 1)
                        .with("warmUps", warmUps)
                        .with("iterations", iterations);
        return all < 100_000 ? checkpoint : checkpoint.once();
    }

    private static int heap(int writers, int files) {
        return Math.min(7_000, 1_000 + writers * files / 150);
    }

    /** What one worker process does, once per round with each jar. */
    static final class Case {

        final String measure;
        final int heapMegabytes;

        /** About how long it takes, once with one jar, on an idle machine. */
        final int seconds;

        final List<String> arguments = new ArrayList<>();

        /** 2, or 1 if only this distribution is measured. */
        int jars = 2;

        private boolean once;

        private Case(String measure, int heapMegabytes, int seconds) {
            this.measure = measure;
            this.heapMegabytes = heapMegabytes;
            this.seconds = seconds;
        }

        private Case with(String name, int value) {
            arguments.add(name + "=" + value);
            return this;
        }

        /** It counts, or takes turns in itself: further rounds would say the same. */
        private Case once() {
            once = true;
            return this;
        }

        private Case ofThisJarAlone() {
            jars = 1;
            return this;
        }

        int rounds(int wanted) {
            return once ? 1 : wanted;
        }

        @Override
        public String toString() {
            return measure + " " + String.join(" ", arguments);
        }
    }
}
