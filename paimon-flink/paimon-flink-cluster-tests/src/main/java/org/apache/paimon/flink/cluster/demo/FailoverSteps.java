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

import org.apache.paimon.flink.cluster.FlinkProcess;
import org.apache.paimon.flink.cluster.RestClient;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import static org.apache.paimon.flink.cluster.demo.DemoContext.LIMIT;
import static org.apache.paimon.flink.cluster.demo.DemoContext.require;

/** Kills a TaskManager: only its own regions restart, and committing goes on (A3). */
final class FailoverSteps {

    private final DemoContext context;

    FailoverSteps(DemoContext context) {
        this.context = context;
    }

    void killTaskManager() {
        RestClient rest = context.rest();
        Map<String, RestClient.Subtask> before = byKey(rest.subtasks(context.job()));
        FlinkProcess victim =
                context.cluster().process(before.values().iterator().next().taskManager());
        long lost =
                before.values().stream()
                        .filter(subtask -> subtask.taskManager().equals(victim.name()))
                        .count();
        context.tell("%s runs %d of %d tasks", victim, lost, before.size());
        require(lost < before.size(), "all tasks are on %s: nothing could survive", victim);
        context.cluster().kill(victim);
        Map<String, RestClient.Subtask> after =
                byKey(
                        context.awaiting("the lost tasks to run again")
                                .holds(
                                        () -> rest.subtasks(context.job()),
                                        now -> recovered(now, victim.name())));
        context.expectNoOtherFailure();
        Set<String> fates = new LinkedHashSet<>();
        for (Map.Entry<String, RestClient.Subtask> entry : after.entrySet()) {
            fates.add(regionalFate(victim.name(), before.get(entry.getKey()), entry.getValue()));
        }
        fates.forEach(fate -> context.tell("%s", fate));
        context.cluster().startTaskManager();
    }

    /**
     * What happened to a task: what ran on the victim must have a new attempt elsewhere, and all
     * else its old one. The tasks of one region (source and writer, and what ends the writer) have
     * the same index and the same fate.
     */
    private static String regionalFate(
            String victim, RestClient.Subtask before, RestClient.Subtask after) {
        boolean restarted = before.attempt() != after.attempt();
        require(
                restarted == before.taskManager().equals(victim),
                "subtask %d of %s ran on %s and %s: what ran on %s must restart and nothing else",
                before.index(),
                before.vertexName(),
                before.taskManager(),
                restarted ? "restarted" : "did not restart",
                victim);
        return String.format(
                "region %d: attempt %d on %s -> attempt %d on %s, %s",
                before.index(),
                before.attempt(),
                before.taskManager(),
                after.attempt(),
                after.taskManager(),
                restarted ? "restarted" : "untouched");
    }

    private static boolean recovered(List<RestClient.Subtask> now, String victim) {
        return now.stream()
                .allMatch(subtask -> subtask.isRunning() && !subtask.taskManager().equals(victim));
    }

    private static Map<String, RestClient.Subtask> byKey(List<RestClient.Subtask> subtasks) {
        return subtasks.stream()
                .collect(
                        Collectors.toMap(
                                RestClient.Subtask::key, s -> s, (a, b) -> a, LinkedHashMap::new));
    }

    void awaitCommits() {
        // A commit of a checkpoint that began before the kill would prove nothing.
        long begun =
                context.rest().checkpoints(context.job()).history().stream()
                        .mapToLong(RestClient.Checkpoint::id)
                        .max()
                        .orElse(0);
        TableDirectory.Snapshot snapshot =
                context.awaiting("two commits of checkpoints after " + begun)
                        .holds(
                                context.table()::latest,
                                s -> s.isPresent() && s.get().commitIdentifier() > begun + 1)
                        .get();
        context.tell("checkpoint %d was the last before the recovery; now %s", begun, snapshot);
        context.cluster().awaitTaskManagers(2, LIMIT);
        context.tell("%s", context.rest().overview());
    }
}
