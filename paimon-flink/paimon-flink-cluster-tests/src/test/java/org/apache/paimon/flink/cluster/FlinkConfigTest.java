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

package org.apache.paimon.flink.cluster;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class FlinkConfigTest {

    @TempDir private Path directory;

    @Test
    void theLastValueOfAKeyWinsAndQuotesAreDoubled() throws Exception {
        FlinkConfig config =
                new FlinkConfig()
                        .set("rest.port", 8081)
                        .set("pipeline.name", "it's: a #job")
                        .set("rest.port", 9091);

        config.writeTo(directory.resolve("conf"));

        assertThat(Files.readAllLines(directory.resolve("conf/config.yaml")))
                .containsExactly("rest.port: '9091'", "pipeline.name: 'it''s: a #job'");
    }
}
