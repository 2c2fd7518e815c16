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

/** One thing that happens, with up to two small numbers that say to whom and how. */
final class Step {

    final StepKind kind;
    final int a;
    final int b;

    Step(StepKind kind, int a, int b) {
        this.kind = kind;
        this.a = a;
        this.b = b;
    }

    @Override
    public String toString() {
        return kind + "(" + a + ", " + b + ")";
    }
}
