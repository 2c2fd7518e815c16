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

import org.apache.flink.api.common.JobID;
import org.apache.flink.metrics.groups.OperatorCoordinatorMetricGroup;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.metrics.groups.InternalOperatorCoordinatorMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.CoordinatorStoreImpl;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A coordinator of either jar, called as the JobManager calls it, from one thread. Knows the thread
 * on which the coordinator works, and so its CPU time and what it allocates.
 */
final class DrivenCoordinator implements AutoCloseable {

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final long TIMEOUT_MINUTES = 10;

    private final OperatorCoordinator coordinator;
    private final CompletableFuture<Throwable> jobFailure = new CompletableFuture<>();
    private volatile long loopThread;

    DrivenCoordinator(OperatorCoordinator.Provider provider, int parallelism) throws Exception {
        this.coordinator = provider.create(new JobManager(provider.getOperatorId(), parallelism));
    }

    void start() throws Exception {
        coordinator.start();
    }

    /** Called before {@link #start}. */
    void restore(long checkpointId, byte[] state) throws Exception {
        coordinator.resetToCheckpoint(checkpointId, state);
    }

    void event(int subtask, OperatorEvent event) throws Exception {
        coordinator.handleEventFromOperator(subtask, 0, event);
    }

    void ready(int subtask) {
        coordinator.executionAttemptReady(subtask, 0, null);
    }

    /** Triggers a checkpoint and waits: everything called before has been worked off then. */
    byte[] checkpoint(long checkpointId) throws Exception {
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        CompletableFuture<byte[]> answer =
                state.whenComplete((bytes, e) -> loopThread = Thread.currentThread().getId());
        coordinator.checkpointCoordinator(checkpointId, state);
        Spin.until(
                () -> answer.isDone() || jobFailure.isDone(),
                TimeUnit.MINUTES.toMillis(TIMEOUT_MINUTES));
        throwFailure();
        return answer.get(0, TimeUnit.MILLISECONDS);
    }

    /**
     * Makes the coordinator's thread busy until what is returned is run: what is called meanwhile
     * queues up, so that the time it takes afterwards holds no waiting for more.
     */
    Runnable hold(long checkpointId) throws Exception {
        CompletableFuture<byte[]> state = new CompletableFuture<>();
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        state.whenComplete(
                (bytes, e) -> {
                    reached.countDown();
                    awaitRelease(released);
                });
        coordinator.checkpointCoordinator(checkpointId, state);
        if (!reached.await(TIMEOUT_MINUTES, TimeUnit.MINUTES)) {
            throw new IllegalStateException("The coordinator's thread was not reached.");
        }
        return released::countDown;
    }

    private static void awaitRelease(CountDownLatch released) {
        try {
            released.await(TIMEOUT_MINUTES, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void complete(long checkpointId) throws Exception {
        coordinator.notifyCheckpointComplete(checkpointId);
    }

    /**
     * @throws IllegalStateException when the coordinator has failed its job
     */
    void throwFailure() {
        Throwable failure = jobFailure.getNow(null);
        if (failure != null) {
            throw new IllegalStateException("The coordinator failed its job.", failure);
        }
    }

    /** CPU time of the coordinator's thread so far. */
    long cpuNanos() {
        return THREADS.getThreadCpuTime(loopThread);
    }

    /** What the coordinator's thread has allocated so far. */
    long allocatedBytes() {
        return THREADS.getThreadAllocatedBytes(loopThread);
    }

    static long ownCpuNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** CPU time of this process: of all its threads, also of those that have ended. */
    static long allCpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    static long ownAllocatedBytes() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    @Override
    public void close() throws Exception {
        coordinator.close();
    }

    /** What a coordinator sees of the JobManager. */
    private final class JobManager implements OperatorCoordinator.Context {

        private final JobID jobId = new JobID();
        private final OperatorCoordinatorMetricGroup metrics =
                new InternalOperatorCoordinatorMetricGroup(
                        UnregisteredMetricGroups.createUnregisteredJobManagerOperatorMetricGroup());
        private final CoordinatorStore store = new CoordinatorStoreImpl();
        private final OperatorID operatorId;
        private final int parallelism;

        private JobManager(OperatorID operatorId, int parallelism) {
            this.operatorId = operatorId;
            this.parallelism = parallelism;
        }

        @Override
        public JobID getJobID() {
            return jobId;
        }

        @Override
        public OperatorID getOperatorId() {
            return operatorId;
        }

        @Override
        public OperatorCoordinatorMetricGroup metricGroup() {
            return metrics;
        }

        @Override
        public void failJob(Throwable cause) {
            jobFailure.complete(cause);
        }

        @Override
        public int currentParallelism() {
            return parallelism;
        }

        @Override
        public ClassLoader getUserCodeClassloader() {
            return DrivenCoordinator.class.getClassLoader();
        }

        @Override
        public CoordinatorStore getCoordinatorStore() {
            return store;
        }

        @Override
        public boolean isConcurrentExecutionAttemptsSupported() {
            return false;
        }

        @Override
        public CheckpointCoordinator getCheckpointCoordinator() {
            return null;
        }
    }
}
