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
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A result that the SQL client printed in its tableau style: names and rows of text. */
public final class SqlTable {

    private static final Pattern RULE = Pattern.compile("\\+(-+\\+)+\\s*$");

    private final List<String> columns;
    private final List<List<String>> rows;
    private final List<String> lines;

    SqlTable(List<String> columns, List<List<String>> rows, List<String> lines) {
        this.columns = columns;
        this.rows = rows;
        this.lines = lines;
    }

    public List<String> columns() {
        return columns;
    }

    public List<List<String>> rows() {
        return rows;
    }

    /** As the client printed it. */
    public List<String> lines() {
        return lines;
    }

    /** All values of one column. */
    public List<String> column(String name) {
        int index = columns.indexOf(name);
        if (index < 0) {
            throw new ClusterException("no column " + name + " in the result; it has " + columns);
        }
        return rows.stream().map(row -> row.get(index)).collect(Collectors.toList());
    }

    /** The value of a column in the only row. */
    public String value(String name) {
        List<String> values = column(name);
        if (values.size() != 1) {
            throw new ClusterException("one row was expected, the result has " + values.size());
        }
        return values.get(0);
    }

    public long number(String name) {
        return Long.parseLong(value(name));
    }

    /**
     * Finds all tables in the client's output. A table is framed by rules ({@code +---+}): one
     * above and one below the names, and one after the rows, unless there are none. The client puts
     * the first rule behind its prompt or the echo of the statement, on the same line.
     */
    static List<SqlTable> parse(String output) {
        List<SqlTable> tables = new ArrayList<>();
        List<String> frame = new ArrayList<>();
        List<List<String>> cells = new ArrayList<>();
        int rules = 0;
        for (String line : output.split("\\R")) {
            Matcher rule = RULE.matcher(line);
            if (rule.find() && (rules == 0 || rule.start() == 0)) {
                frame.add(rule.group().trim());
                rules++;
            } else if (rules > 0 && line.startsWith("|") && line.endsWith("|")) {
                frame.add(line);
                cells.add(cells(line));
            } else {
                if (rules == 2) {
                    tables.add(table(cells, frame));
                }
                rules = 0;
            }
            if (rules == 3) {
                tables.add(table(cells, frame));
                rules = 0;
            }
            if (rules == 0) {
                frame = new ArrayList<>();
                cells = new ArrayList<>();
            }
        }
        return tables;
    }

    private static SqlTable table(List<List<String>> cells, List<String> frame) {
        return new SqlTable(
                cells.get(0),
                Collections.unmodifiableList(new ArrayList<>(cells.subList(1, cells.size()))),
                frame);
    }

    private static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        for (String cell : line.substring(1, line.length() - 1).split("\\|", -1)) {
            cells.add(cell.trim());
        }
        return cells;
    }
}
