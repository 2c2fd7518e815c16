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

package org.apache.paimon.utils;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.nio.file.Paths;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/** What this module may be built on: nothing but the JDK and a logging facade. */
class DependencyRulesTest {

    private final JavaClasses ours =
            new ClassFileImporter().importPath(Paths.get("target/classes"));

    @Test
    @DisplayName("design: nothing below paimon-flink imports Flink, nor does common know storage")
    void usesNeitherFlinkNorStorage() {
        assertThat(ours.contain(EventLoop.class)).isTrue();
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.flink..", "org.apache.hadoop..")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.paimon.fs..", "org.apache.paimon.tag..")
                .check(ours);
    }
}
