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

import org.junit.jupiter.api.Test;

import java.nio.file.Paths;

import static org.assertj.core.api.Assertions.assertThat;

class DemoSqlTest {

    private static final String SAVEPOINT = "file:/savepoints/savepoint-1-2";

    private final DemoSql sql = new DemoSql(Paths.get("/warehouse"));

    @Test
    void theRollbackIsGivenThePathOfTheSavepointAndAsksTheJobManager() {
        assertThat(DemoSql.rollbackCall(SAVEPOINT, "127.0.0.1:8081", ", dry_run => true"))
                .isEqualTo(
                        "CALL sys.rollback_to_savepoint(\n"
                                + "    `table` => 'default.T',\n"
                                + "    `savepoint` => 'file:/savepoints/savepoint-1-2',\n"
                                + "    job_manager => '127.0.0.1:8081', dry_run => true);\n");
        assertThat(sql.rollback(SAVEPOINT, "127.0.0.1:8081", ""))
                .contains("USE CATALOG paimon;\nCALL sys.rollback_to_savepoint(")
                .doesNotContain("dry_run");
    }

    @Test
    void theJobCommitsInTheCoordinatorAndTagsItsSavepoints() {
        assertThat(sql.insert(DemoSql.restoreFrom(SAVEPOINT), 4, 100, 10))
                .contains(
                        "'sink.coordinator-commit.enabled' = 'true'",
                        "'sink.savepoint.auto-tag' = 'true'",
                        "'number-of-rows' = '100'",
                        "'splits' = '4'",
                        "SET 'execution.state-recovery.path' = '" + SAVEPOINT + "';\n")
                .endsWith(";\n");
    }
}
