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

import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SqlOutputTest {

    private static final String BLUE = "\u001B[34;1m";
    private static final String PLAIN = "\u001B[0m";

    private static SqlOutput output(String... lines) {
        return new SqlOutput(String.join("\n", lines));
    }

    @Test
    void theFirstRuleOfATableStandsBehindThePromptOrTheEchoOfTheStatement() {
        SqlOutput output =
                output(
                        "Flink SQL> +-------------+-------------+",
                        "|    tag_name | snapshot_id |",
                        "+-------------+-------------+",
                        "| savepoint-4 |           4 |",
                        "| savepoint-9 |           9 |",
                        "+-------------+-------------+",
                        "2 rows in set (0.85 seconds)",
                        "",
                        "Flink SQL> SELECT COUNT(*) AS records FROM T+---------+",
                        "| records |",
                        "+---------+",
                        "|   14500 |",
                        "+---------+",
                        "1 row in set");

        assertThat(output.tables()).hasSize(2);
        assertThat(output.tables().get(0).columns()).containsExactly("tag_name", "snapshot_id");
        assertThat(output.tables().get(0).column("tag_name"))
                .containsExactly("savepoint-4", "savepoint-9");
        assertThat(output.tables().get(0).lines())
                .hasSize(6)
                .startsWith("+-------------+-------------+");
        assertThat(output.tables().get(1).number("records")).isEqualTo(14500);
        assertThat(output.errors()).isEmpty();
    }

    @Test
    void aTableWithoutRowsIsATable() {
        SqlOutput output =
                output("Flink SQL> +----------+", "| tag_name |", "+----------+", "Empty set", "");

        assertThat(output.tables()).hasSize(1);
        assertThat(output.tables().get(0).rows()).isEmpty();
        assertThatThrownBy(() -> output.tables().get(0).value("tag_name"))
                .hasMessageContaining("the result has 0");
    }

    @Test
    void aMissingColumnIsNamedTogetherWithTheColumnsThatAreThere() {
        SqlTable table = output("+---+", "| a |", "+---+", "| 1 |", "+---+").tables().get(0);

        assertThatThrownBy(() -> table.column("b")).hasMessageContainingAll("b", "[a]");
    }

    @Test
    void anErrorIsFoundWithItsReasonAlthoughTheExitCodeIsZero() {
        SqlOutput output =
                output(
                        BLUE + "[INFO] Execute statement succeeded." + PLAIN,
                        "Flink SQL> INSERT INTO T",
                        "\u001B[31;1m[ERROR] Could not execute SQL statement. Reason:",
                        "java.lang.IllegalArgumentException: no such option" + PLAIN,
                        "",
                        "Flink SQL> ");

        assertThat(output.errors())
                .containsExactly(
                        "Could not execute SQL statement. Reason:"
                                + " java.lang.IllegalArgumentException: no such option");
    }

    @Test
    void theJobsThatWereSubmittedAreFound() {
        assertThat(
                        output(
                                        BLUE + "[INFO] SQL update statement has been submitted:",
                                        "Job ID: 498de2ff074fb642f2b7fdead41c28cd",
                                        PLAIN)
                                .jobs())
                .isEqualTo(Arrays.asList("498de2ff074fb642f2b7fdead41c28cd"));
    }
}
