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

import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * The main class of a cluster in application mode: runs the statements of a file, of which the last
 * submits the job.
 */
public final class SqlApplication {

    private SqlApplication() {}

    /**
     * @param arguments the file; its statements end with a semicolon at the end of a line
     */
    public static void main(String[] arguments) throws IOException {
        String script =
                new String(Files.readAllBytes(Paths.get(arguments[0])), StandardCharsets.UTF_8);
        TableEnvironment tables =
                TableEnvironment.create(
                        EnvironmentSettings.newInstance().inStreamingMode().build());
        for (String statement : script.split(";\\R")) {
            if (!statement.trim().isEmpty()) {
                tables.executeSql(statement);
            }
        }
    }
}
