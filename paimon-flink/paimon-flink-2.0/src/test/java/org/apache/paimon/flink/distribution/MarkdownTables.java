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

package org.apache.paimon.flink.distribution;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables of a page, each known by the heading above it and by its first column. */
final class MarkdownTables {

    private static final Pattern HEADING = Pattern.compile("^#+ (.+)$");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    private final List<String> headings = new ArrayList<>();
    private final List<Table> tables = new ArrayList<>();

    private MarkdownTables() {}

    static MarkdownTables of(String page) {
        MarkdownTables read = new MarkdownTables();
        Table table = null;
        for (String line : page.split("\n")) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                read.headings.add(heading.group(1));
            }
            if (!line.startsWith("|")) {
                table = null;
            } else if (table == null) {
                table = new Table(read.lastHeading(), cells(line).get(0));
                read.tables.add(table);
            } else if (!line.startsWith("|---") && !line.startsWith("| ---")) {
                table.rows.add(cells(line));
            }
        }
        return read;
    }

    List<String> headings() {
        return headings;
    }

    /**
     * The rows of the only table like this, without marks of code.
     *
     * @param firstColumn its heading
     */
    List<List<String>> rows(String heading, String firstColumn) {
        List<List<String>> found = null;
        for (Table table : tables) {
            if (table.heading.equals(heading) && table.firstColumn.equals(firstColumn)) {
                if (found != null) {
                    throw new AssertionError("two such tables: " + heading + ", " + firstColumn);
                }
                found = new ArrayList<>();
                for (List<String> row : table.rows) {
                    List<String> plain = new ArrayList<>();
                    row.forEach(cell -> plain.add(cell.replace("`", "")));
                    found.add(plain);
                }
            }
        }
        if (found == null) {
            throw new AssertionError("no such table: " + heading + ", " + firstColumn);
        }
        return found;
    }

    /** What is marked as code in the first cells of all tables with this first column. */
    List<String> codeInFirstCells(String firstColumn) {
        List<String> all = new ArrayList<>();
        for (Table table : tables) {
            if (table.firstColumn.equals(firstColumn)) {
                for (List<String> row : table.rows) {
                    Matcher code = CODE.matcher(row.get(0));
                    while (code.find()) {
                        all.add(code.group(1));
                    }
                }
            }
        }
        return all;
    }

    private String lastHeading() {
        return headings.isEmpty() ? "" : headings.get(headings.size() - 1);
    }

    private static List<String> cells(String line) {
        String inner = line.trim().replaceAll("^\\||\\|$", "");
        List<String> cells = new ArrayList<>();
        Arrays.asList(inner.split("\\|", -1)).forEach(cell -> cells.add(cell.trim()));
        return cells;
    }

    private static final class Table {

        private final String heading;
        private final String firstColumn;
        private final List<List<String>> rows = new ArrayList<>();

        private Table(String heading, String firstColumn) {
            this.heading = heading;
            this.firstColumn = firstColumn;
        }
    }
}
