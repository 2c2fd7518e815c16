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

/** What {@code GET /overview} says about resources. */
public final class Overview {
    private final int taskManagers;
    private final int slots;
    private final int freeSlots;

    Overview(int taskManagers, int slots, int freeSlots) {
        this.taskManagers = taskManagers;
        this.slots = slots;
        this.freeSlots = freeSlots;
    }

    public int taskManagers() {
        return taskManagers;
    }

    public int slots() {
        return slots;
    }

    public int freeSlots() {
        return freeSlots;
    }

    @Override
    public String toString() {
        return String.format(
                "%d TaskManagers, %d slots, %d of them free", taskManagers, slots, freeSlots);
    }
}
