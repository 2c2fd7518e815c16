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

package org.apache.paimon.flink.savepoint;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.nio.file.Paths;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/** The procedures look at what jobs leave behind; no job uses them. */
class DependencyRulesTest {

    private final JavaClasses ours =
            new ClassFileImporter().importPath(Paths.get("target/classes"));

    @Test
    @DisplayName("design: no sink uses the procedures or what is below them")
    void noSinkUsesProcedures() {
        assertThat(ours.contain(SnapshotFinder.class)).isTrue();
        noClasses()
                .that()
                .resideInAPackage("org.apache.paimon.flink.sink..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.paimon.flink.savepoint..",
                        "org.apache.paimon.flink.procedure..")
                .check(ours);
    }

    @Test
    @DisplayName("design: what finds the snapshot and plans the rollback reads no file")
    void findingIsPure() {
        noClasses()
                .that()
                .haveNameMatching(
                        ".*\\.savepoint\\.(SnapshotFinder|SinkCourse|RollbackPlan|FoundSnapshot)")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.flink..",
                        "org.apache.paimon.fs..",
                        "org.apache.paimon.table..",
                        "org.apache.paimon.utils..",
                        "java.io..")
                .check(ours);
    }
}
