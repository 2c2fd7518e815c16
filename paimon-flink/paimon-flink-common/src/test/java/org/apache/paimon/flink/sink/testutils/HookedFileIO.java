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

import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.fs.local.LocalFileIO;

import java.io.IOException;

/** The local file system, with the hooks of a {@link Scenario} around snapshot and tag files. */
public final class HookedFileIO extends LocalFileIO {

    private static final long serialVersionUID = 1L;

    private final String scenarioId;

    HookedFileIO(String scenarioId) {
        this.scenarioId = scenarioId;
    }

    @Override
    public boolean tryToWriteAtomic(Path path, String content) throws IOException {
        if (!isSnapshot(path)) {
            return super.tryToWriteAtomic(path, content);
        }
        Scenario scenario = Scenario.of(scenarioId);
        scenario.beforeSnapshot.pass();
        return super.tryToWriteAtomic(path, content);
    }

    @Override
    public PositionOutputStream newOutputStream(Path path, boolean overwrite) throws IOException {
        if (path.getName().startsWith("tag-")) {
            Scenario.of(scenarioId).beforeTag.pass();
        }
        return super.newOutputStream(path, overwrite);
    }

    private static boolean isSnapshot(Path path) {
        return path.getName().startsWith("snapshot-");
    }
}
