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

package org.apache.paimon.flink.benchmark;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** What a worker process has measured, one line per value: case, metric, value. */
final class Results implements Closeable {

    private final PrintWriter out;

    Results(Path file) throws IOException {
        this.out = new PrintWriter(Files.newBufferedWriter(file));
    }

    void add(String caseName, String metric, double value) {
        out.printf(Locale.ROOT, "%s\t%s\t%s%n", caseName, metric, value);
        out.flush();
    }

    @Override
    public void close() {
        out.close();
    }
}
