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

package org.apache.paimon.flink.sink.testutils;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A place that a job passes, where the test may let it fail, wait or hang. What was planned is used
 * up in order, one plan per passage; without a plan nothing happens.
 */
public final class Hook {

    private final String name;
    private final Deque<Plan> plans = new ArrayDeque<>();
    private final Deque<Gate> gates = new ArrayDeque<>();
    private final AtomicInteger passages = new AtomicInteger();

    Hook(String name) {
        this.name = name;
    }

    @FunctionalInterface
    private interface Plan {

        void run() throws IOException;
    }

    /** How often a job came by. */
    public int passages() {
        return passages.get();
    }

    /** The next passages fail. */
    public void failNext(int times) {
        for (int i = 0; i < times; i++) {
            plan(
                    () -> {
                        throw new IOException("planned failure at " + name);
                    });
        }
    }

    /** The next passage takes this long, unless the thread is interrupted. */
    public void slowNext(Duration duration) {
        Gate never = new Gate(false);
        plan(() -> never.pass(duration));
    }

    /** The next passage waits until the gate is opened; an interrupt makes it fail. */
    public Gate holdNext() {
        return gate(false);
    }

    /** The next passage waits until the gate is opened, and ignores interrupts. */
    public Gate hangNext() {
        return gate(true);
    }

    private Gate gate(boolean ignoreInterrupts) {
        Gate gate = new Gate(ignoreInterrupts);
        synchronized (plans) {
            gates.add(gate);
        }
        plan(() -> gate.pass(null));
        return gate;
    }

    private void plan(Plan plan) {
        synchronized (plans) {
            plans.add(plan);
        }
    }

    /** Forgets the plans that were not used up, and opens all gates. */
    public void clear() {
        synchronized (plans) {
            plans.clear();
            gates.forEach(Gate::open);
            gates.clear();
        }
    }

    void pass() throws IOException {
        passages.incrementAndGet();
        Plan plan;
        synchronized (plans) {
            plan = plans.poll();
        }
        if (plan != null) {
            plan.run();
        }
    }

    /** Stands between the job and what comes next. */
    public static final class Gate {

        private final boolean ignoreInterrupts;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);

        private Gate(boolean ignoreInterrupts) {
            this.ignoreInterrupts = ignoreInterrupts;
        }

        public void awaitReached() throws InterruptedException {
            if (!reached.await(60, TimeUnit.SECONDS)) {
                throw new AssertionError("Nobody has reached the gate within 60 s.");
            }
        }

        public boolean reached() {
            return reached.getCount() == 0;
        }

        public void open() {
            opened.countDown();
        }

        private void pass(Duration atMost) throws IOException {
            reached.countDown();
            boolean interrupted = false;
            try {
                while (true) {
                    try {
                        if (atMost == null) {
                            opened.await();
                        } else {
                            opened.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
                        }
                        return;
                    } catch (InterruptedException e) {
                        if (!ignoreInterrupts) {
                            Thread.currentThread().interrupt();
                            throw new InterruptedIOException("interrupted at a gate");
                        }
                        interrupted = true;
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
