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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Options of a Flink process in the order they were set; the last value of a key wins. */
public final class FlinkConfig {

    private final Map<String, String> options = new LinkedHashMap<>();

    public FlinkConfig set(String key, Object value) {
        options.put(key, String.valueOf(value));
        return this;
    }

    public FlinkConfig setAll(Map<String, String> others) {
        options.putAll(others);
        return this;
    }

    public Map<String, String> options() {
        return Collections.unmodifiableMap(options);
    }

    /** The options as Flink's {@code config.yaml}, each value quoted, so that it stays a string. */
    public String yaml() {
        StringBuilder text = new StringBuilder();
        options.forEach(
                (key, value) ->
                        text.append(key)
                                .append(": '")
                                .append(value.replace("'", "''"))
                                .append("'\n"));
        return text.toString();
    }

    /** Writes {@code config.yaml} into a directory for {@code --configDir}. */
    public void writeTo(Path directory) {
        try {
            Files.createDirectories(directory);
            Files.write(directory.resolve("config.yaml"), yaml().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write config.yaml into " + directory, e);
        }
    }
}
