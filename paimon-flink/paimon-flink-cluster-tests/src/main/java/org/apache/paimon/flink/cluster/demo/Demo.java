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

import org.apache.paimon.flink.cluster.CommandLine;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;

/**
 * Runs the whole promise once on a real cluster and counts.
 *
 * <p>How it counts: the source has as many splits as subtasks, and numbers the records of each with
 * a stride (split 1 of 4 emits 1, 5, 9, ...). What a checkpoint holds is therefore a prefix of each
 * split's numbers, without gaps and without doubles. After the rollback to the first savepoint and
 * the restore from it the source goes on from there: a record that the table lacks although the
 * savepoint had passed it would be a gap at the end, and one that the table holds although the
 * savepoint had not would be there twice.
 *
 * <p>One thread tells the story. On Ctrl-C or SIGTERM a shutdown hook stops the cluster and says
 * so.
 */
public final class Demo {

    private static final int USAGE = 2;

    private static final long RECORDS_PER_SECOND = 1_000;

    private final DemoOptions options;
    private final PrintStream out;
    private final Story story;
    private final DemoContext context;

    /** Whether the verdict is out. */
    private volatile boolean told;

    Demo(DemoOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
        this.story = new Story(out, () -> System.nanoTime() / 1_000_000);
        this.context = new DemoContext(options, story);
    }

    public static void main(String[] args) {
        DemoOptions options;
        try {
            options = DemoOptions.parse(args);
        } catch (CommandLine.UsageException e) {
            System.err.println("tools/demo: " + e.getMessage() + "; see tools/demo --help");
            System.exit(USAGE);
            return;
        }
        // With --json, standard output holds the verdict alone.
        PrintStream out = options.json() ? System.err : System.out;
        System.exit(new Demo(options, out).run().exitCode());
    }

    Verdict run() {
        out.printf("Paimon jar  %s%n", options.jar());
        out.printf("directory   %s%n", options.directory());
        out.printf("logs        %s%n%n", context.logs());
        Thread hook = new Thread(this::interrupted, "stop-demo");
        Runtime.getRuntime().addShutdownHook(hook);
        Verdict verdict = steps().run();
        if (story.isInterrupted()) {
            // The hook has the last word, and this JVM is on its way down.
            return verdict;
        }
        out.println();
        if (options.keep() && context.isStarted()) {
            tell(verdict);
            told = true;
            keep();
            return verdict;
        }
        stopCluster();
        Runtime.getRuntime().removeShutdownHook(hook);
        tell(verdict);
        return verdict;
    }

    /** Runs in the shutdown hook: on Ctrl-C, on SIGTERM, and when a kept cluster is to end. */
    private void interrupted() {
        Verdict verdict = story.interrupt();
        out.println();
        stopCluster();
        if (!told) {
            tell(verdict);
        }
    }

    private void stopCluster() {
        context.close();
        out.println("All processes are stopped. Logs: " + context.logs());
        out.flush();
    }

    private void tell(Verdict verdict) {
        out.println(verdict.line());
        out.flush();
        if (options.json()) {
            System.out.println(verdict.json(context.logs()));
            System.out.flush();
        }
    }

    private void keep() {
        out.println("The cluster stays up until Ctrl-C; its Web UI: " + context.rest().address());
        out.flush();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ------------------------------------------------------------------------------------------

    private Story steps() {
        SavepointSteps savepoints = new SavepointSteps(context);
        CoordinatorMetrics metrics = new CoordinatorMetrics(context);
        FailoverSteps failover = new FailoverSteps(context);
        RollbackSteps rollback = new RollbackSteps(context, savepoints, metrics);
        EndingSteps end = new EndingSteps(context, savepoints, rollback);
        story.step("Start a Flink cluster: one JobManager, two TaskManagers", context::startCluster)
                .step("Submit a streaming job that writes with coordinator commit", this::submit)
                .step("Wait until data flows and is committed", this::awaitCommits)
                .step(
                        "Take a savepoint by REST; the next checkpoint tags it",
                        savepoints::takeByRest)
                .step(
                        "Take another one by 'flink savepoint'; it is tagged as well",
                        savepoints::takeByCommandLine)
                .step("List the savepoint tags and read the table at each", savepoints::listAndRead)
                .step(
                        "Read the coordinator's metrics as Prometheus does",
                        () -> metrics.tellRunning(2, savepoints.second().checkpointId()))
                .step(
                        "Kill one TaskManager with SIGKILL; only its regions restart",
                        failover::killTaskManager)
                .step("See that committing goes on", failover::awaitCommits)
                .step("Cancel the job", rollback::cancelJob)
                .step(
                        "Ask what a rollback to the first savepoint would do, given its path",
                        rollback::dryRun)
                .step("Roll the table back to the first savepoint", rollback::rollBack)
                .step(
                        "Restore the job from the first savepoint",
                        () -> rollback.restore(options.ending()));
        switch (options.ending()) {
            case STOP:
                story.step("Stop it by 'flink stop'; that savepoint is tagged, too", end::stop);
                break;
            case FINISH:
                story.step("Let it run to the end of its data", end::finish);
                break;
            default:
                story.step("Let it run on, and cancel it", end::cancel);
        }
        return story.step("Count: every record exactly once", () -> end.count(options.ending()));
    }

    private void submit() {
        context.submit("", RECORDS_PER_SECOND);
        context.tell(
                "job %s: source, %d writers and a coordinator; records 0 to %d, %d a second",
                context.job(),
                DemoContext.PARALLELISM,
                DemoContext.RECORDS - 1,
                RECORDS_PER_SECOND);
    }

    private void awaitCommits() {
        context.rest().awaitJobState(context.job(), "RUNNING", DemoContext.LIMIT);
        TableDirectory.Snapshot snapshot =
                context.awaiting("the first two commits")
                        .holds(context.table()::latest, s -> s.isPresent() && s.get().id() >= 2)
                        .get();
        context.tell("%s", snapshot);
    }
}
