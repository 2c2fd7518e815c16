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

package org.apache.paimon.flink.sink.coordinator.simulation;

import java.util.ArrayList;
import java.util.List;

/** A JobManager process: it can die, and what lies in its memory with it. */
final class SimulatedProcess {

    final int number;
    final List<SimulatedLoop> loops = new ArrayList<>();
    private boolean alive = true;

    /** The loop whose action runs right now. */
    private SimulatedLoop running;

    SimulatedProcess(int number) {
        this.number = number;
    }

    boolean alive() {
        return alive;
    }

    /** From within: nothing of it runs any further. */
    void markDead() {
        alive = false;
    }

    void die() {
        alive = false;
        running = null;
        loops.forEach(SimulatedLoop::kill);
    }

    SimulatedLoop running() {
        return running;
    }

    void running(SimulatedLoop loop) {
        running = loop;
    }
}
