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

/** Which worker processes are run: measure, cases, heap. */
final class Plan {

    /** How much is measured. */
    enum Extent {
        /** Enough to see that everything works; the values mean nothing. */
        SMOKE,
        QUICK,
        FULL
    }

    private Plan() {}

    /** What takes longest comes last. */
    static List<Task> of(Extent extent) {
        boolean smoke = extent == Extent.SMOKE;
        boolean full = extent == Extent.FULL;
        int[] writers = full ? new int[] {1_000, 10_000} : new int[] {smoke ? 20 : 1_000};
        int[] files = full ? new int[] {1, 10, 100} : new int[] {1, 10};
        List<Task> tasks = new ArrayList<>();

        // The first size warms up for all: small ones alone have too few reports to do so.
        Task checkpoint = new Task("checkpoint");
        if (smoke) {
            checkpoint.add(checkpoint(20, 1, 0, 1)).add(checkpoint(20, 10, 0, 1));
        } else {
            checkpoint.add(checkpoint(10_000, 10, 20, 20));
            checkpoint.add(checkpoint(30_000, 1, 10, 20));
            checkpoint.add(checkpoint(10_000, 1, 20, 30));
            checkpoint.add(checkpoint(3_000, 1, 60, 60));
            checkpoint.add(checkpoint(1_000, 1, 300, 300));
            checkpoint.add(checkpoint(1_000, 10, 50, 100));
            checkpoint.add(checkpoint(1_000, 100, 10, 20));
            checkpoint.needs(megabytes(10_000, 10));
        }
        if (full) {
            checkpoint.add(checkpoint(10_000, 100, 3, 5));
            checkpoint.needs(megabytes(10_000, 100));
        }
        tasks.add(checkpoint);

        Task restore = new Task("restore").needs(2_000).once();
        for (int w : smoke ? new int[] {20} : new int[] {1_000, 3_000, 10_000, 30_000}) {
            restore.add(
                    new Case(2 + w / 2_000)
                            .with("writers", w)
                            .with("files", 1)
                            .with("calls", 1)
                            .with("warmUps", smoke ? 0 : w <= 3_000 ? 6 : 2)
                            .with("iterations", smoke ? 1 : w <= 3_000 ? 6 : 3));
        }
        tasks.add(restore);

        Task serializer = new Task("serializer");
        for (int f : smoke ? new int[] {1} : new int[] {10, 1_000, 1, 0}) {
            serializer.add(
                    new Case(smoke ? 1 : 14)
                            .with("files", f)
                            .with("calls", smoke ? 1 : 40_000 / (f + 1))
                            .with("warmUps", smoke ? 0 : 50)
                            .with("iterations", smoke ? 1 : 30));
        }
        tasks.add(serializer);

        Task tag = new Task("tag").once();
        for (int s : full ? new int[] {10, 1_000, 10_000} : new int[] {10, smoke ? 20 : 1_000}) {
            tag.add(new Case(3 + s / 500).with("snapshots", s));
        }
        tasks.add(tag);

        // What follows compares this distribution with itself.
        tasks.add(
                new Task("writer")
                        .ofThisJarAlone()
                        .add(new Case(10).with("savepoints", smoke ? 1 : 3_000)));
        int turns = smoke ? 1 : full ? 20 : 2;
        int seconds = smoke ? 1 : 5;
        tasks.add(
                new Task("recovery")
                        .needs(2_000)
                        .once()
                        .ofThisJarAlone()
                        .add(new Case(4 + 4 * turns).with("turns", turns)));
        tasks.add(
                new Task("job")
                        .needs(2_000)
                        .once()
                        .ofThisJarAlone()
                        .add(
                                new Case((turns + 1) * JobProbe.JOBS * (seconds + 1))
                                        .with("warmUps", smoke ? 0 : 1)
                                        .with("turns", turns)
                                        .with("seconds", seconds)));
        // A process for each: what another case leaves behind would be freed at some time.
        for (int w : writers) {
            for (int f : files) {
                tasks.add(
                        new Task("heap")
                                .needs(megabytes(w, f))
                                .once()
                                .add(
                                        new Case(2 + w * f / 25_000)
                                                .with("writers", w)
                                                .with("files", f)));
            }
        }
        tasks.add(
                new Task("frame")
                        .needs(smoke ? 2_000 : 7_000)
                        .once()
                        .add(
                                new Case(smoke ? 10 : 120)
                                        .with("files", smoke ? 200 : 50_000)
                                        .with("savepoints", smoke ? 2 : full ? 20 : 3)));
        return tasks;
    }

    private static Case checkpoint(int writers, int files, int warmUps, int iterations) {
        int reports = writers * (warmUps + iterations);
        return new Case(2 + reports / 40_000 + reports * files / 300_000)
                .with("writers", writers)
                .with("files", files)
                .with("calls", 1)
                .with("warmUps", warmUps)
                .with("iterations", iterations);
    }

    private static int megabytes(int writers, int files) {
        return Math.min(7_000, 1_000 + writers * files / 150);
    }

    /** What one worker process measures, once per round with each jar. */
    static final class Task {

        /** About how long a process takes to begin to measure, on an idle machine. */
        private static final int START_SECONDS = 5;

        final String measure;
        final List<Case> cases = new ArrayList<>();

        int heapMegabytes = 1_000;

        /** 2, or 1 if only this distribution is measured. */
        int jars = 2;

        private boolean once;

        private Task(String measure) {
            this.measure = measure;
        }

        private Task add(Case added) {
            cases.add(added);
            return this;
        }

        private Task needs(int megabytes) {
            heapMegabytes = Math.max(heapMegabytes, megabytes);
            return this;
        }

        /** It counts, or takes turns in itself: further rounds would say the same. */
        private Task once() {
            once = true;
            return this;
        }

        private Task ofThisJarAlone() {
            jars = 1;
            return this;
        }

        int rounds(int wanted) {
            return once ? 1 : wanted;
        }

        /** About how long one worker process takes on an idle machine. */
        int seconds() {
            return START_SECONDS + cases.stream().mapToInt(planned -> planned.seconds).sum();
        }
    }

    /** One size at which something is measured. */
    static final class Case {

        final List<String> arguments = new ArrayList<>();
        private final int seconds;

        private Case(int seconds) {
            this.seconds = seconds;
        }

        private Case with(String name, int value) {
            arguments.add(name + "=" + value);
            return this;
        }
    }
}
