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

import org.apache.flink.runtime.operators.coordination.CoordinationResponse;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/** When a writer hears that its replay was taken in. */
class ReplayAnswersTest {

    /** Actions that wait behind the events in the event loop. */
    private final Deque<Runnable> queued = new ArrayDeque<>();

    private boolean over;

    private final ReplayAnswers answers = new ReplayAnswers(action -> !over && queued.add(action));

    @Test
    @DisplayName("W4: a writer is answered behind the events that came before its request")
    void answersBehindTheEvents() throws Exception {
        CompletableFuture<CoordinationResponse> answer = request(0);
        assertThat(answer).isNotDone();

        runNext();
        assertAnswered(answer);
    }

    @Test
    @DisplayName("W4: each writer waits for its own events only")
    void answersEachWriter() throws Exception {
        CompletableFuture<CoordinationResponse> first = request(0);
        CompletableFuture<CoordinationResponse> second = request(1);

        runNext();
        assertAnswered(first);
        assertThat(second).isNotDone();
        runNext();
        assertAnswered(second);
    }

    @Test
    @DisplayName("W4: a repeated request takes the place of the earlier one in the queue")
    void repeatedRequest() throws Exception {
        CompletableFuture<CoordinationResponse> timedOut = request(3);
        CompletableFuture<CoordinationResponse> repeated = request(3);
        assertAnswered(timedOut);
        assertThat(repeated).isNotDone();
        assertThat(queued).hasSize(1);

        runNext();
        assertAnswered(repeated);
    }

    @Test
    @DisplayName("W4: a writer that was answered is queued again by its next request")
    void nextRequest() throws Exception {
        request(0);
        runNext();
        CompletableFuture<CoordinationResponse> next = request(0);
        assertThat(next).isNotDone();

        runNext();
        assertAnswered(next);
    }

    @Test
    @DisplayName("W4: a request after the end of the session is answered at once")
    void requestAfterTheEnd() throws Exception {
        over = true;

        assertAnswered(request(0));
        assertAnswered(request(0));
    }

    @Test
    @DisplayName("W4: the end of the session answers all writers that wait, each once")
    void endOfTheSession() throws Exception {
        CompletableFuture<CoordinationResponse> first = request(0);
        CompletableFuture<CoordinationResponse> second = request(1);
        answers.closed();
        assertAnswered(first);
        assertAnswered(second);

        runNext();
        runNext();
        assertAnswered(first);
        assertAnswered(second);
    }

    private CompletableFuture<CoordinationResponse> request(int subtask) {
        return answers.request(new ReplayReceivedRequest(subtask));
    }

    private void runNext() {
        queued.remove().run();
    }

    private static void assertAnswered(CompletableFuture<CoordinationResponse> answer)
            throws Exception {
        assertThat(answer).isCompleted();
        Object response = CoordinationResponseUtils.unwrap(answer.get());
        assertThat(response).isInstanceOf(ReplayReceivedResponse.class);
    }
}
