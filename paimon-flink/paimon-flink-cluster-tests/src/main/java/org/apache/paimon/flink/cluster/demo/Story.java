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

package org.apache.paimon.flink.cluster.demo;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Tells a list of steps while it runs them: number, elapsed time, title, what happens, how long it
 * took. The first step that throws ends the story. Not thread-safe.
 */
final class Story {

    private static final String INDENT = "              ";

    private final PrintStream out;
    private final LongSupplier millis;
    private final long start;
    private final List<Step> steps = new ArrayList<>();
    private final List<Verdict.StepResult> results = new ArrayList<>();

    Story(PrintStream out, LongSupplier millis) {
        this.out = out;
        this.millis = millis;
        this.start = millis.getAsLong();
    }

    /** What a step does. */
    interface Action {
        void run() throws Exception;
    }

    private static final class Step {
        private final String title;
        private final Action action;

        private Step(String title, Action action) {
            this.title = title;
            this.action = action;
        }
    }

    Story step(String title, Action action) {
        steps.add(new Step(title, action));
        return this;
    }

    /** One line of what happens within the current step. */
    void tell(String format, Object... arguments) {
        String text =
                arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
        for (String line : text.split("\\R")) {
            out.println(INDENT + line);
        }
        out.flush();
    }

    /** Runs all steps, or up to the first that fails, and judges. */
    Verdict run() {
        int number = 0;
        for (Step step : steps) {
            number++;
            long begin = millis.getAsLong();
            out.printf(
                    Locale.ROOT,
                    "[%2d/%d %s] %s%n",
                    number,
                    steps.size(),
                    clock(begin - start),
                    step.title);
            out.flush();
            try {
                step.action.run();
            } catch (Exception e) {
                long took = millis.getAsLong() - begin;
                results.add(new Verdict.StepResult(step.title, took));
                String reason = e.getMessage() == null ? e.toString() : e.getMessage();
                tell("FAILED: %s", reason);
                return Verdict.failed(results, number, steps.size(), reason, elapsed());
            }
            long took = millis.getAsLong() - begin;
            results.add(new Verdict.StepResult(step.title, took));
            tell("done in %.1f s", took / 1000.0);
        }
        return Verdict.ok(results, elapsed());
    }

    private long elapsed() {
        return millis.getAsLong() - start;
    }

    private static String clock(long elapsedMillis) {
        long seconds = elapsedMillis / 1000;
        return String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60);
    }
}
