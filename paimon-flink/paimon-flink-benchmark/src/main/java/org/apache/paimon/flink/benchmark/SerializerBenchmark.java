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

import org.apache.paimon.flink.sink.CommittableSerializer;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittables;
import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializer;
import org.apache.paimon.table.sink.CommitMessageSerializer;

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
import org.openjdk.jmh.infra.BenchmarkParams;

import java.nio.file.Paths;
import java.util.Collections;
import java.util.concurrent.TimeUnit;

/**
 * A report to bytes and back. A fixed number of calls per iteration, not a fixed time: on a busy
 * machine the compiler would get too few of them.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SerializerBenchmark {

    @Param("1")
    public int files;

    @Param("")
    public String directory;

    private CheckpointCommittablesSerializer serializer;
    private CheckpointCommittables report;
    private byte[] bytes;
    private long calls;
    private long cpu;

    @Setup(Level.Trial)
    public void prepare() throws Exception {
        serializer =
                new CheckpointCommittablesSerializer(
                        new CommittableSerializer(new CommitMessageSerializer()));
        report =
                new CheckpointCommittables(
                        7,
                        MeasuredTable.create(Paths.get(directory), Collections.emptyMap())
                                .files(files, 7),
                        1_767_225_600_000L,
                        false);
        bytes = serializer.serialize(report);
        Meter.add("bytes", bytes.length);
    }

    @Setup(Level.Iteration)
    public void begin() {
        calls = 0;
        cpu = DrivenCoordinator.ownCpuNanos();
    }

    /** JMH's own time holds that of waiting for a core. */
    @TearDown(Level.Iteration)
    public void end(BenchmarkParams benchmark) {
        String method = benchmark.getBenchmark();
        Meter.add(
                method.substring(method.lastIndexOf('.') + 1) + " CPU us",
                (DrivenCoordinator.ownCpuNanos() - cpu) / 1e3 / calls);
    }

    @Benchmark
    public byte[] serialize() throws Exception {
        calls++;
        return serializer.serialize(report);
    }

    @Benchmark
    public CheckpointCommittables deserialize() throws Exception {
        calls++;
        return serializer.deserialize(serializer.getVersion(), bytes);
    }
}
