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

package org.apache.paimon.utils;

import javax.annotation.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The actions of an {@link EventLoop} that wait for their turn, in order.
 *
 * <p>Threads: not thread-safe, it is used under the loop's lock.
 */
final class ActionQueue {

    /** How many of the actions that a closing loop drops are named in the log. */
    private static final int MAX_NAMED_ACTIONS = 5;

    private final Deque<QueuedAction> queue = new ArrayDeque<>();

    void add(String name, EventLoop.Action action) {
        queue.add(new QueuedAction(name, action));
    }

    /** The next action; null when there is none. */
    @Nullable
    QueuedAction poll() {
        return queue.poll();
    }

    int size() {
        return queue.size();
    }

    /**
     * Drops all actions.
     *
     * @return the number of actions dropped and the names of the first few, which can be thousands
     */
    String drop() {
        int count = queue.size();
        List<String> first = new ArrayList<>(MAX_NAMED_ACTIONS);
        while (!queue.isEmpty() && first.size() < MAX_NAMED_ACTIONS) {
            first.add("'" + queue.remove().name + "'");
        }
        queue.clear();
        return count == 0
                ? "no action"
                : String.format(
                        "%d actions (%s%s)",
                        count, String.join(", ", first), count > first.size() ? ", ..." : "");
    }

    /** An action and its name. */
    static final class QueuedAction {

        final String name;
        final EventLoop.Action action;

        private QueuedAction(String name, EventLoop.Action action) {
            this.name = name;
            this.action = action;
        }
    }
}
