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

package org.apache.paimon.flink.cluster.demo;

import java.util.ArrayList;
import java.util.List;

/** Rows of text as lines whose columns begin below each other. */
final class TextColumns {

    private static final String GAP = "  ";

    private TextColumns() {}

    /** Each row has as many cells as the first; the last one is as long as it is. */
    static List<String> align(List<List<String>> rows) {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size() - 1; column++) {
                String cell = row.get(column);
                line.append(cell);
                for (int i = cell.length(); i < width(rows, column); i++) {
                    line.append(' ');
                }
                line.append(GAP);
            }
            line.append(row.get(row.size() - 1));
            lines.add(line.toString().replaceAll(" +$", ""));
        }
        return lines;
    }

    private static int width(List<List<String>> rows, int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }
}
