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

import java.util.HashMap;
import java.util.Map;

/** The two ways from the writers to the table. */
public enum CommitPath {
    COORDINATOR,
    OPERATOR;

    /** Options of an unaware-bucket append table that is committed this way, with auto-tag. */
    public Map<String, String> options() {
        Map<String, String> options = new HashMap<>();
        options.put("bucket", "-1");
        options.put("write-only", "true");
        options.put("file.format", "avro");
        // A failure that a test has planned is not for the base's own retries.
        options.put("commit.max-retries", "0");
        options.put("sink.coordinator-commit.enabled", String.valueOf(this == COORDINATOR));
        options.put("sink.savepoint.auto-tag", "true");
        return options;
    }
}
