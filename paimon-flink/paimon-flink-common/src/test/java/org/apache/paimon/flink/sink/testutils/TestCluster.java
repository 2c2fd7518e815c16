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

import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.jobgraph.JobResourceRequirements;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.runtime.scheduler.ExecutionGraphInfo;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A MiniCluster of two TaskManagers for all tests of a class. */
public final class TestCluster implements BeforeAllCallback, AfterAllCallback {

    public static final int RETAINED_CHECKPOINTS = 3;

    private final Configuration configuration = new Configuration();
    private final MiniClusterConfiguration.Builder builder =
            new MiniClusterConfiguration.Builder()
                    .setNumTaskManagers(2)
                    .setNumSlotsPerTaskManager(8)
                    .withRandomPorts();
    private OpenMiniCluster miniCluster;

    public TestCluster() {
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("64m"));
        configuration.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
        configuration.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, RETAINED_CHECKPOINTS);
    }

    /** Leadership can be taken from a JobMaster and given back: the next one restores the job. */
    public TestCluster withLeadershipControl() {
        builder.setHaServices(MiniCluster.HaServices.WITH_LEADERSHIP_CONTROL);
        return this;
    }

    /** Few records fill what lies between two tasks. */
    public TestCluster withSmallBuffers() {
        configuration.set(TaskManagerOptions.MEMORY_SEGMENT_SIZE, MemorySize.parse("4k"));
        return this;
    }

    /** Jobs are run by the adaptive scheduler, which rescales them as soon as it is told to. */
    public TestCluster adaptive() {
        configuration.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Adaptive);
        configuration.set(
                JobManagerOptions.SCHEDULER_EXECUTING_COOLDOWN_AFTER_RESCALING, Duration.ZERO);
        configuration.set(JobManagerOptions.SCHEDULER_RESCALE_TRIGGER_MAX_DELAY, Duration.ZERO);
        return this;
    }

    /** Each component has RPC services of its own, which have a limit for the size of a message. */
    public TestCluster withRpcFrames() {
        builder.setRpcServiceSharing(RpcServiceSharing.DEDICATED);
        return this;
    }

    /** An RPC that is not answered within this time fails. */
    public TestCluster withAskTimeout(Duration timeout) {
        configuration.set(RpcOptions.ASK_TIMEOUT_DURATION, timeout);
        return this;
    }

    public MiniCluster miniCluster() {
        return miniCluster;
    }

    /** What the web UI shows of a job. */
    ExecutionGraphInfo info(JobID jobId) throws Exception {
        return miniCluster.info(jobId);
    }

    /** Adaptive scheduler: at which parallelism the running job is to go on. */
    void require(JobID jobId, JobResourceRequirements requirements) throws Exception {
        miniCluster.require(jobId, requirements);
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        start();
    }

    public void start() throws Exception {
        builder.setConfiguration(configuration);
        miniCluster = new OpenMiniCluster(builder.build());
        miniCluster.start();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        stop();
    }

    public void stop() throws Exception {
        miniCluster.closeAsync().get(60, TimeUnit.SECONDS);
    }

    private static final class OpenMiniCluster extends MiniCluster {

        private OpenMiniCluster(MiniClusterConfiguration configuration) {
            super(configuration);
        }

        private void require(JobID jobId, JobResourceRequirements requirements) throws Exception {
            getDispatcherGatewayFuture()
                    .thenCompose(
                            dispatcher ->
                                    dispatcher.updateJobResourceRequirements(jobId, requirements))
                    .get(60, TimeUnit.SECONDS);
        }

        private ExecutionGraphInfo info(JobID jobId) throws Exception {
            return getDispatcherGatewayFuture()
                    .thenCompose(
                            dispatcher ->
                                    dispatcher.requestExecutionGraphInfo(
                                            jobId, Duration.ofSeconds(60)))
                    .get(60, TimeUnit.SECONDS);
        }
    }
}
