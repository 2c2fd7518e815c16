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

package org.apache.paimon.tag;

import org.apache.paimon.table.sink.TagCallback;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import static org.apache.paimon.tag.SavepointTagException.rootMessage;

/**
 * T6: notifies the callbacks of a table of one tag's creation or deletion, with fresh instances
 * each time: whoever notifies them closes them.
 *
 * <p>Threads: the committer's.
 */
final class TagCallbackNotifier {

    private final Supplier<List<TagCallback>> callbacks;

    /**
     * @param callbacks new ones for each notification; they are closed here
     */
    TagCallbackNotifier(Supplier<List<TagCallback>> callbacks) {
        this.callbacks = callbacks;
    }

    /**
     * @throws SavepointTagException when a callback failed, after the others were notified
     */
    void created(String tag, long snapshotId) {
        notify("creation", tag, callback -> callback.notifyCreation(tag, snapshotId));
    }

    /**
     * @throws SavepointTagException when a callback failed, after the others were notified
     */
    void deleted(String tag) {
        notify("deletion", tag, callback -> callback.notifyDeletion(tag));
    }

    /** Notifies all of them, whatever one of them does, and closes them. */
    @SuppressWarnings("try") // close() may be interrupted, which is passed on
    private void notify(String what, String name, Consumer<TagCallback> notification) {
        SavepointTagException failure = null;
        for (TagCallback callback : freshCallbacks(what, name)) {
            try (TagCallback closing = callback) {
                notification.accept(closing);
            } catch (Exception e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                if (failure == null) {
                    failure =
                            new SavepointTagException(
                                    String.format(
                                            "Tag callback %s failed on the %s of tag %s: %s",
                                            callback.getClass().getName(),
                                            what,
                                            name,
                                            rootMessage(e)),
                                    e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private List<TagCallback> freshCallbacks(String what, String name) {
        try {
            return callbacks.get();
        } catch (RuntimeException e) {
            throw new SavepointTagException(
                    String.format(
                            "No tag callbacks for the %s of tag %s: %s",
                            what, name, rootMessage(e)),
                    e);
        }
    }
}
