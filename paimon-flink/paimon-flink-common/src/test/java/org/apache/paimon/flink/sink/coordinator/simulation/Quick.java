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

public final class Quick {
    public static void main(String[] args) {
        Mode mode = Mode.valueOf(args[0]);
        long from = Long.parseLong(args[1]);
        int n = Integer.parseInt(args[2]);
        long t = System.nanoTime();
        int bad = 0;
        long steps = 0;
        int known = 0;
        for (long seed = from; seed < from + n; seed++) {
            Schedule.Outcome o = Schedule.explore(mode, seed);
            steps += o.schedule.steps.size();
            known += o.knownLimits;
            if (o.violation != null) {
                System.out.println("seed " + seed + " " + o.schedule.config + ": " + o.violation);
                Schedule.Outcome small = Shrinker.shrink(o);
                System.out.println(PinnedTest.print(seed, small));
                if (!(o.violation instanceof Violation) || args.length > 4) {
                    small.violation.printStackTrace(System.out);
                }
                if (++bad >= Integer.parseInt(args[3])) {
                    break;
                }
            }
        }
        double s =
                (java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime())
                        / 1e9;
        System.out.printf(
                "cpu: %d schedules, %d steps, %.1f s, %.0f/s, bad %d, known %d%n",
                n, steps, s, n / s, bad, known);
        System.exit(0);
    }
}
