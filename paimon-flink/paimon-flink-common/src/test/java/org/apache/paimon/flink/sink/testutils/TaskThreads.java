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

import org.awaitility.core.ConditionEvaluationListener;
import org.awaitility.core.EvaluatedCondition;
import org.awaitility.core.TimeoutEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs where the tasks of the jobs in this process stand when something that a test waits for does
 * not come, since they go on or end with the test.
 */
final class TaskThreads implements ConditionEvaluationListener<Object> {

    private static final Logger LOG = LoggerFactory.getLogger(TaskThreads.class);

    private final String symptom;

    TaskThreads(String symptom) {
        this.symptom = symptom;
    }

    @Override
    public void conditionEvaluated(EvaluatedCondition<Object> condition) {}

    @Override
    public void onTimeout(TimeoutEvent event) {
        StringBuilder dump = new StringBuilder();
        Thread.getAllStackTraces()
                .forEach(
                        (thread, frames) -> {
                            if (ofTask(thread.getName())) {
                                dump.append("\n\"").append(thread.getName()).append("\" ");
                                dump.append(thread.getState());
                                for (StackTraceElement frame : frames) {
                                    dump.append("\n    at ").append(frame);
                                }
                            }
                        });
        LOG.error("After {} ms {}:{}", event.getElapsedTimeInMS(), symptom, dump);
    }

    /** Flink names the thread of a task after the task: {@code Source: lanes (1/2)#0}. */
    private static boolean ofTask(String name) {
        return name.matches(".*\\(\\d+/\\d+\\)#\\d+.*") || name.startsWith("paimon-");
    }
}
