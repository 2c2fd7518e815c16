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

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the SQL client printed while it ran a script. Its exit code says nothing: it is 0 when a
 * statement failed, so errors are looked for in the text.
 */
public final class SqlOutput {

    private static final Pattern JOB = Pattern.compile("Job ID: ([0-9a-f]{32})");
    private static final Pattern COLOUR = Pattern.compile("\u001B\\[[0-9;]*m");
    private static final String ERROR = "[ERROR]";

    private final String text;

    public SqlOutput(String text) {
        this.text = COLOUR.matcher(text).replaceAll("");
    }

    public String text() {
        return text;
    }

    /** Each error with the reason that the client prints below it, in one line. */
    public List<String> errors() {
        List<String> errors = new ArrayList<>();
        String[] lines = text.split("\\R");
        for (int i = 0; i < lines.length; i++) {
            if (!lines[i].contains(ERROR)) {
                continue;
            }
            StringBuilder error =
                    new StringBuilder(
                            lines[i].substring(lines[i].indexOf(ERROR) + ERROR.length()).trim());
            for (int next = i + 1; next < lines.length && !lines[next].trim().isEmpty(); next++) {
                if (lines[next].contains(ERROR) || lines[next].startsWith("Flink SQL>")) {
                    break;
                }
                error.append(' ').append(lines[next].trim());
            }
            errors.add(error.toString());
        }
        return errors;
    }

    /** The results of the queries, in order. */
    public List<SqlTable> tables() {
        return SqlTable.parse(text);
    }

    /** Ids of the jobs that were submitted, in order. */
    public List<String> jobs() {
        List<String> jobs = new ArrayList<>();
        Matcher matcher = JOB.matcher(text);
        while (matcher.find()) {
            jobs.add(matcher.group(1));
        }
        return jobs;
    }
}
