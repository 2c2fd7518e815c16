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

package org.apache.paimon.flink.cluster;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Waits for a named cause, with a deadline. A probe that throws counts as "not yet": a process that
 * is starting refuses connections. What was seen last, value or exception, is in the message of the
 * exception that ends the wait, so that a failed wait explains itself.
 */
public final class Await {

    private static final long PAUSE_MILLIS = 100;
    private static final long TELL_MILLIS = 5_000;
    private static final int BRIEF = 140;

    private final String what;
    private final Duration limit;
    private Runnable abort = () -> {};
    private String lookAt = "";
    private Consumer<String> progress = line -> {};

    private Await(String what, Duration limit) {
        this.what = what;
        this.limit = limit;
    }

    /** Starts the description of a wait: {@code what} completes the sentence "waited for ...". */
    public static Await until(String what, Duration limit) {
        return new Await(what, limit);
    }

    /** Runs before each probe; throws if waiting has become pointless, e.g. a process is dead. */
    public Await unless(Runnable check) {
        this.abort = check;
        return this;
    }

    /** Where the reader of a failed wait should look. */
    public Await lookAt(Object place) {
        this.lookAt = "; look at " + place;
        return this;
    }

    /** Who hears every few seconds that the wait still goes on, and what it sees. */
    public Await telling(Consumer<String> listener) {
        this.progress = listener;
        return this;
    }

    /** Probes until {@code good} accepts what the probe returned, and returns that. */
    public <T> T holds(Callable<T> probe, Predicate<? super T> good) {
        long start = System.nanoTime();
        long tell = TELL_MILLIS;
        Object seen;
        Throwable cause;
        do {
            abort.run();
            try {
                T value = probe.call();
                if (good.test(value)) {
                    return value;
                }
                seen = value;
                cause = null;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ClusterException("interrupted while waiting for " + what, e);
            } catch (Exception e) {
                seen = e;
                cause = e;
            }
            long elapsed = millisSince(start);
            if (elapsed >= tell) {
                progress.accept(
                        String.format(
                                "still waiting for %s (%d s); seen: %s",
                                what, elapsed / 1000, brief(seen)));
                tell += TELL_MILLIS;
            }
            pause();
        } while (millisSince(start) < limit.toMillis());
        throw new ClusterException(
                String.format(
                        Locale.ROOT,
                        "waited %.1f s in vain for %s; last seen: %s%s",
                        limit.toMillis() / 1000.0,
                        what,
                        seen,
                        lookAt),
                cause);
    }

    /** What was seen, fit for one line of a terminal. */
    private static String brief(Object seen) {
        Object value = seen instanceof Optional ? ((Optional<?>) seen).orElse(null) : seen;
        if (value instanceof ClusterException) {
            value = ((ClusterException) value).getMessage();
        }
        String text = value == null ? "nothing yet" : value.toString().replaceAll("\\s+", " ");
        return text.length() <= BRIEF ? text : text.substring(0, BRIEF) + "...";
    }

    private static long millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1_000_000;
    }

    private void pause() {
        try {
            Thread.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted while waiting for " + what, e);
        }
    }
}
