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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.utils.EventLoop;

import org.apache.flink.util.FlinkException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.util.function.Consumer;

/**
 * The state of a {@link CommitSession}, and the failure that has ended it.
 *
 * <p><b>Threads.</b> The coordinator's event loop. {@link #quiesce} is called by the main thread;
 * {@link #closing} and {@link #closed} may be called by any.
 *
 * <p><b>Promises.</b> A8: the first failure fails the job, once. Later ones are ignored, and so is
 * the first one for the job when the session is over already (A7).
 */
final class SessionLifeCycle {

    private static final Logger LOG = LoggerFactory.getLogger(SessionLifeCycle.class);

    private final EventLoop loop;
    private final String table;
    private final Consumer<Throwable> failJob;

    private SessionState state = SessionState.CREATED;

    /** What the session failed with; null while it has not. */
    @Nullable private volatile Throwable failure;

    /** Set by the main thread when the session is over: the job must not be failed any more. */
    private volatile boolean closing;

    /**
     * @param table where the table lies, for messages
     */
    SessionLifeCycle(EventLoop loop, String table, Consumer<Throwable> failJob) {
        this.loop = loop;
        this.table = table;
        this.failJob = failJob;
    }

    boolean is(SessionState expected) {
        return state == expected;
    }

    void become(SessionState next) {
        loop.assertInside();
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(
                    String.format("A session that is %s cannot become %s.", state, next));
        }
        LOG.debug("{} -> {}", state, next);
        state = next;
    }

    /** From now on a failure concerns nobody. */
    void quiesce() {
        closing = true;
    }

    boolean closing() {
        return closing;
    }

    /** The loop's thread is dead, so this is called by another one. */
    void terminated() {
        state = SessionState.CLOSED;
    }

    /**
     * Fails the job, unless the session has failed before or is over.
     *
     * @param answer told the failure, unless the session has failed before
     */
    void fail(String actionName, Throwable cause, Consumer<FlinkException> answer) {
        if (is(SessionState.FAILED)) {
            LOG.debug("Ignoring the failure of '{}' after an earlier one.", actionName, cause);
            return;
        }
        become(SessionState.FAILED);
        FlinkException failed =
                new FlinkException(
                        String.format(
                                "The coordinator that commits to %s failed at '%s': %s",
                                table, actionName, cause.getMessage()),
                        cause);
        if (closing) {
            LOG.info("Failed while closing; the successor takes over.", failed);
        } else {
            LOG.error("Failing the job; its restart tries again.", failed);
            failJob.accept(failed);
        }
        failure = failed;
        answer.accept(failed);
    }

    /** Why the session does nothing any more. */
    FlinkException closed() {
        Throwable cause = failure;
        return new FlinkException(
                cause == null
                        ? "The coordinator that commits to " + table + " was closed."
                        : cause.getMessage(),
                cause);
    }
}
