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

package org.apache.paimon.tag.testutils;

import org.apache.paimon.table.sink.TagCallback;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/**
 * A tag callback that records its notifications, in a journal shared by all the instances of one
 * {@link Factory}. An instance that is used after its close or closed twice says so in the journal.
 */
public final class RecordingTagCallback implements TagCallback {

    private final Factory factory;
    private final int number;
    private boolean closed;

    private RecordingTagCallback(Factory factory, int number) {
        this.factory = factory;
        this.number = number;
    }

    @Override
    public void notifyCreation(String tagName) {
        record("created", tagName);
    }

    @Override
    public void notifyCreation(String tagName, long snapshotId) {
        record("created", tagName + "@" + snapshotId);
    }

    @Override
    public void notifyDeletion(String tagName) {
        record("deleted", tagName);
    }

    @Override
    public void close() {
        if (closed) {
            factory.journal.add("#" + number + " closed twice");
        }
        closed = true;
    }

    private void record(String what, String tagName) {
        factory.journal.add(
                what + " " + tagName + " #" + number + (closed ? " although closed" : ""));
        if (factory.failuresLeft > 0) {
            factory.failuresLeft--;
            throw new CallbackFailure("callback #" + number + " fails on " + what + " " + tagName);
        }
    }

    /** What a failing callback throws. */
    public static final class CallbackFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private CallbackFailure(String message) {
            super(message);
        }
    }

    /** Makes callbacks, one per call, numbered from 1. */
    public static final class Factory implements Supplier<List<TagCallback>> {

        private final List<String> journal = Collections.synchronizedList(new ArrayList<>());
        private final List<RecordingTagCallback> made = new ArrayList<>();
        private int failuresLeft;

        @Override
        public List<TagCallback> get() {
            RecordingTagCallback callback = new RecordingTagCallback(this, made.size() + 1);
            made.add(callback);
            return Collections.singletonList(callback);
        }

        /** Lets the next notifications fail, after they were written to the journal. */
        public void failNext(int notifications) {
            failuresLeft = notifications;
        }

        /** For instance {@code created savepoint-1@3 #1}. */
        public List<String> journal() {
            return new ArrayList<>(journal);
        }

        public void forget() {
            journal.clear();
        }

        /** How many instances were created and not closed. */
        public long open() {
            return made.stream().filter(callback -> !callback.closed).count();
        }
    }
}
