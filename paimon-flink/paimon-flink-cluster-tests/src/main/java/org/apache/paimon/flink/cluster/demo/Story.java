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
 * took. The first step that throws ends the story. One thread tells it; another may {@link
 * #interrupt()} it, after which nothing is told any more.
 */
final class Story {

    private static final String INDENT = "              ";

    private final PrintStream out;
    private final LongSupplier millis;
    private final long start;
    private final List<Step> steps = new ArrayList<>();
    private final List<Verdict.StepResult> results = new ArrayList<>();

    private String current = "before the first step";
    private boolean interrupted;

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

    /** What happens within the current step, line by line. */
    void tell(String format, Object... arguments) {
        String text =
                arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
        for (String line : text.split("\\R")) {
            print(INDENT + line);
        }
    }

    private synchronized void print(String line) {
        if (!interrupted) {
            out.println(line);
            out.flush();
        }
    }

    /** Runs all steps, or up to the first that fails, and judges. */
    Verdict run() {
        for (Step step : steps) {
            begin(step);
            long begin = millis.getAsLong();
            String failure = null;
            try {
                step.action.run();
            } catch (Exception e) {
                failure = e.getMessage() == null ? e.toString() : e.getMessage();
            }
            long took = millis.getAsLong() - begin;
            end(new Verdict.StepResult(step.title, took));
            if (failure != null) {
                tell("FAILED: %s", failure);
                return Verdict.failed(results, results.size(), steps.size(), failure, elapsed());
            }
            tell("done in %.1f s", took / 1000.0);
        }
        return Verdict.ok(results, elapsed());
    }

    /** Silences the story where it is, and judges. */
    synchronized Verdict interrupt() {
        interrupted = true;
        return Verdict.interrupted(
                results, results.size() + 1, steps.size(), current, millis.getAsLong() - start);
    }

    synchronized boolean isInterrupted() {
        return interrupted;
    }

    private synchronized void begin(Step step) {
        current = step.title;
        print(
                String.format(
                        Locale.ROOT,
                        "[%2d/%d %s] %s",
                        results.size() + 1,
                        steps.size(),
                        clock(elapsed()),
                        step.title));
    }

    private synchronized void end(Verdict.StepResult result) {
        results.add(result);
    }

    private long elapsed() {
        return millis.getAsLong() - start;
    }

    private static String clock(long elapsedMillis) {
        long seconds = elapsedMillis / 1000;
        return String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60);
    }
}
