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

package org.apache.paimon.flink.benchmark;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.nio.file.Paths;
import java.util.Collections;
import java.util.concurrent.TimeUnit;

/** A restore: all writers replay one report, in ascending order, until all is handed over. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class RestoreBenchmark {

    @Param("1000")
    public int writers;

    @Param("1")
    public int files;

    @Param("")
    public String directory;

    private WriterFleet fleet;
    private OperatorEvent[][] events;

    @Setup(Level.Trial)
    public void start() throws Exception {
        MeasuredTable table = MeasuredTable.create(Paths.get(directory), Collections.emptyMap());
        fleet = new WriterFleet(writers, files, table, new HandOver());
        fleet.start();
        fleet.nextCheckpoint();
    }

    @TearDown(Level.Trial)
    public void stop() throws Exception {
        fleet.close();
    }

    @Setup(Level.Invocation)
    public void prepare() throws Exception {
        events = fleet.arriving(fleet.failAndRestore());
    }

    @TearDown(Level.Invocation)
    public void forget() {
        events = null;
    }

    @Benchmark
    public void restore() throws Exception {
        // The coordinator's thread is a new one each time, so all threads are looked at.
        OtherThreadsClock others = OtherThreadsClock.start();
        long ownCpu = DrivenCoordinator.ownCpuNanos();
        long start = System.nanoTime();
        fleet.deliver(events);
        // Without the wait, in which this thread spins.
        long calls = DrivenCoordinator.ownCpuNanos() - ownCpu;
        fleet.awaitHandOver();
        Meter.add("restore CPU ms", (calls + others.nanos()) / 1e6);
        Meter.add("restore wall ms", (System.nanoTime() - start) / 1e6);
    }
}
