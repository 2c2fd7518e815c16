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

/**
 * One checkpoint of all writers, from the events to what the committer is handed. The coordinator
 * is kept busy while the events arrive, as by a commit, so that no wait for events is measured.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class CheckpointBenchmark {

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
        table.addSnapshot();
        fleet = new WriterFleet(writers, files, table, new HandOver());
        fleet.start();
    }

    @TearDown(Level.Trial)
    public void stop() throws Exception {
        fleet.close();
    }

    @Setup(Level.Invocation)
    public void prepare() throws Exception {
        events = fleet.arriving(fleet.nextCheckpoint());
        fleet.barrier();
    }

    @TearDown(Level.Invocation)
    public void forget() throws Exception {
        events = null;
        fleet.forget();
    }

    /** From the first event to the last file at the committer. */
    @Benchmark
    public void checkpoint() throws Exception {
        DrivenCoordinator coordinator = fleet.coordinator();
        Runnable release = fleet.hold();
        long cpu = coordinator.cpuNanos();
        long bytes = coordinator.allocatedBytes();
        long ownCpu = DrivenCoordinator.ownCpuNanos();
        long ownBytes = DrivenCoordinator.ownAllocatedBytes();
        long start = System.nanoTime();
        fleet.deliver(events);
        long takingCalls = DrivenCoordinator.ownCpuNanos() - ownCpu;
        long calls = DrivenCoordinator.ownAllocatedBytes() - ownBytes;
        release.run();
        fleet.barrier();
        long takenIn = System.nanoTime();
        long cpuTakenIn = coordinator.cpuNanos();
        fleet.complete();
        long handedOver = System.nanoTime();
        long cpuHandedOver = coordinator.cpuNanos();
        long allocated = coordinator.allocatedBytes() - bytes + calls;

        long all = (long) writers * files;
        Meter.add("intake CPU us per report", (takingCalls + cpuTakenIn - cpu) / 1e3 / writers);
        Meter.add("intake wall us per report", (takenIn - start) / 1e3 / writers);
        Meter.add("total CPU us per report", (takingCalls + cpuHandedOver - cpu) / 1e3 / writers);
        Meter.add("total wall us per report", (handedOver - start) / 1e3 / writers);
        Meter.add("loop CPU ms", (cpuHandedOver - cpu) / 1e6);
        Meter.add("allocated bytes per file", (double) allocated / all);
    }
}
