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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;
import org.apache.paimon.flink.sink.coordinator.report.EncodedReport;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.nio.file.Paths;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameContaining;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/** Which package may use which: the package descriptions say the same in words. */
class DependencyRulesTest {

    private static final String COORDINATOR = "org.apache.paimon.flink.sink.coordinator";
    private static final String REPORT = COORDINATOR + ".report..";
    private static final String COMMIT = COORDINATOR + ".commit..";

    /** The ledger and what it is made of. */
    private static final String LEDGER =
            ".*\\.(CommitLedger|RestoredReports|ReplayCheck|Cuts|Writers|WriterParticipation"
                    + "|AlignedWatermark|CommitBatch)(\\$.*)?";

    private final JavaClasses ours =
            new ClassFileImporter().importPath(Paths.get("target/classes"));

    @Test
    @DisplayName("design: a report on its way knows neither commits nor the life cycle")
    void reportUsesNothingAboveIt() {
        assertThat(ours.contain(EncodedReport.class)).isTrue();
        noClasses()
                .that()
                .resideInAPackage(REPORT)
                .should()
                .dependOnClassesThat(lifeCycle().or(resideInAPackage(COMMIT)))
                .check(ours);
    }

    @Test
    @DisplayName("design: commits do not know the life cycle")
    void commitUsesNothingAboveIt() {
        assertThat(ours.contain(CommitLedger.class)).isTrue();
        noClasses()
                .that()
                .resideInAPackage(COMMIT)
                .should()
                .dependOnClassesThat(lifeCycle())
                .check(ours);
    }

    @Test
    @DisplayName("design: the ledger knows no thread, no file and nothing of Flink's runtime")
    void ledgerIsPure() {
        assertThat(ours.stream().filter(type -> type.getName().matches(LEDGER))).hasSize(12);
        noClasses()
                .that()
                .haveNameMatching(LEDGER)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.flink..",
                        "org.apache.paimon.fs..",
                        "org.apache.paimon.utils..",
                        "org.apache.paimon.tag..",
                        "java.io..",
                        "java.nio..",
                        "java.util.concurrent..")
                .check(ours);
    }

    @Test
    @DisplayName("design: below the coordinator nothing uses the operators of the package above")
    void nothingUsesTheOperators() {
        noClasses()
                .that()
                .resideInAPackage(COORDINATOR + "..")
                .should()
                .dependOnClassesThat(ourOperators())
                .check(ours);
    }

    /** The package of the life cycle, but for the data that must keep the base's name. */
    private static DescribedPredicate<JavaClass> lifeCycle() {
        return resideInAPackage(COORDINATOR)
                .and(not(simpleNameStartingWith("CheckpointCommittables")))
                .and(not(nameContaining("CheckpointCommittablesSerializer$")))
                .as("belong to the coordinator's life cycle");
    }

    /** What lies in the package of the base's sinks and is ours. */
    private DescribedPredicate<JavaClass> ourOperators() {
        return DescribedPredicate.describe(
                "reside in the package of the sinks, and are ours",
                type ->
                        type.getPackageName().equals("org.apache.paimon.flink.sink")
                                && ours.contain(type.getName()));
    }
}
