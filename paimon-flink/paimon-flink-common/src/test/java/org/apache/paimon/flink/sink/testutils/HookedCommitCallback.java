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

import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.table.sink.CommitCallback;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Passes {@link Scenario#afterSnapshot}. */
public final class HookedCommitCallback implements CommitCallback {

    private final Scenario scenario;

    public HookedCommitCallback(String scenarioId) {
        this.scenario = Scenario.of(scenarioId);
    }

    @Override
    public void call(Context context) {
        try {
            scenario.afterSnapshot.pass();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void retry(ManifestCommittable committable) {}

    @Override
    public void close() {}
}
