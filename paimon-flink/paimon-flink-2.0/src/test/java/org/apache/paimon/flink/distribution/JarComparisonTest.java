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

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The rules of {@link JarComparison}, each broken once. */
class JarComparisonTest {

    private final JarContent base =
            new JarContent()
                    .add("p/", new byte[0])
                    .add("p/A.class", classFile(55, 1))
                    .add("p/A$Inner.class", classFile(55, 2))
                    .add("p/B.class", classFile(52, 3));

    private final Overlays overlays =
            overlays("replaced p/A.class", "removed p/A$Inner.class", "added p/q/New.class");

    @Test
    void aJarThatDiffersExactlyByTheListIsAccepted() {
        assertThat(complaints(built())).isEmpty();
    }

    @Test
    void anEntryThatIsThereTwiceIsNamed() {
        JarContent built = built().add("p/B.class", classFile(52, 3));

        assertThat(complaints(built)).containsExactly("p/B.class is in the jar more than once");
    }

    @Test
    void aReplacedClassThatIsStillTheBasesIsNamed() {
        JarContent built = built().add("p/A.class", classFile(55, 1));

        assertThat(complaints(built))
                .contains("p/A.class is listed as replaced, but is the base's");
    }

    @Test
    void anEntryOfTheBaseThatChangedIsNamed() {
        JarContent built = built().add("p/B.class", classFile(52, 4));

        assertThat(complaints(built))
                .contains("p/B.class differs from the base, and is not listed as replaced");
    }

    @Test
    void anEntryOfTheBaseThatIsMissingIsNamed() {
        JarContent built =
                new JarContent()
                        .add("p/", new byte[0])
                        .add("p/A.class", classFile(55, 9))
                        .add("p/q/New.class", classFile(55, 9));

        assertThat(complaints(built))
                .containsExactly("p/B.class of the base is missing, and not listed as removed");
    }

    @Test
    void anEntryThatNobodyListedIsNamed() {
        JarContent built =
                built().add("p/q/NewTest.class", classFile(55, 5)).add("r/", new byte[0]);

        assertThat(complaints(built))
                .containsExactly(
                        "p/q/NewTest.class is not in the base, and not listed as added",
                        "r/ is not in the base, and not listed as added");
    }

    @Test
    void anAddedOrRemovedEntryThatIsNotSoIsNamed() {
        Overlays wrong =
                overlays(
                        "replaced p/A.class",
                        "added p/q/New.class",
                        "added p/B.class",
                        "added p/Absent.class",
                        "removed p/A$Inner.class",
                        "removed p/q/Nothing.class");

        assertThat(JarComparison.complaints(base, built(), wrong))
                .containsExactly(
                        "p/Absent.class is listed as added, but the jar does not have it",
                        "p/B.class is listed as added, but the base has it",
                        "p/q/Nothing.class is listed as removed, but the base does not have it",
                        "p/B.class has class file version 52, needed is 55");
    }

    @Test
    void aStaleInnerClassOfAReplacedClassIsNamed() {
        Overlays forgetful = overlays("replaced p/A.class", "added p/q/New.class");
        JarContent built = built().add("p/A$Inner.class", classFile(55, 2));

        assertThat(JarComparison.complaints(base, built, forgetful))
                .containsExactly(
                        "p/A$Inner.class is an inner class of the listed p/A.class,"
                                + " and listed neither as replaced nor as removed");
    }

    @Test
    void aClassOfOursThatIsNotJava11IsNamed() {
        JarContent built =
                new JarContent()
                        .add("p/", new byte[0])
                        .add("p/A.class", classFile(61, 9))
                        .add("p/B.class", classFile(52, 3))
                        .add("p/q/New.class", classFile(55, 9));

        assertThat(complaints(built))
                .containsExactly("p/A.class has class file version 61, needed is 55");
    }

    @Test
    void aListThatCannotBeReadIsRefused() {
        assertThatThrownBy(() -> overlays("changed p/A.class"))
                .hasMessage("unknown verb 'changed', known are replaced, added and removed");
        assertThatThrownBy(() -> overlays("added p/A.class", "removed p/A.class"))
                .hasMessage("the list names p/A.class twice");
        assertThatThrownBy(() -> overlays("p/A.class"))
                .hasMessage("a line of the list is '<verb> <entry>', found 'p/A.class'");
    }

    private List<String> complaints(JarContent built) {
        return JarComparison.complaints(base, built, overlays);
    }

    private static JarContent built() {
        return new JarContent()
                .add("p/", new byte[0])
                .add("p/A.class", classFile(55, 9))
                .add("p/B.class", classFile(52, 3))
                .add("p/q/", new byte[0])
                .add("p/q/New.class", classFile(55, 9));
    }

    private static Overlays overlays(String... lines) {
        return Overlays.parse(Arrays.asList(lines));
    }

    /** The head of a class file, and one byte that tells bodies apart. */
    private static byte[] classFile(int version, int body) {
        return new byte[] {
            (byte) 0xca, (byte) 0xfe, (byte) 0xba, (byte) 0xbe, 0, 0, 0, (byte) version, (byte) body
        };
    }
}
