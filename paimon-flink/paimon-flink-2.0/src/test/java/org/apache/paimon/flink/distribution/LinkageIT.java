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

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Links the built jar: every class of the base that refers to one of ours, and every class of ours
 * against the base and Flink. The class path of this test is the built jar, Flink and the test
 * libraries; the parts from which the jar was made are not on it.
 */
class LinkageIT {

    /** Whom our classes may refer to; test libraries on the class path must not help them. */
    private static final List<String> ALLOWED_OWNERS =
            List.of("java/", "org/apache/paimon/", "org/apache/flink/", "org/slf4j/");

    private static JarContent built;
    private static Overlays overlays;
    private static Linker linker;

    @BeforeAll
    static void read() throws IOException {
        built = JarContent.read(BuiltFiles.distribution());
        overlays = Overlays.read(BuiltFiles.overlays());
        linker = new Linker(LinkageIT.class.getClassLoader());
    }

    @Test
    void everyClassOfTheBaseThatRefersToOneOfOursStillLinks() {
        Set<String> gone = classNames(overlays.gone());
        List<String> complaints = new ArrayList<>();
        Set<String> referring = new TreeSet<>();
        for (String entry : built.names()) {
            if (!isClass(entry) || overlays.ours().contains(entry) || !mentions(entry, gone)) {
                continue;
            }
            Set<Reference> references =
                    References.of(built.bytes(entry)).stream()
                            .filter(reference -> gone.contains(reference.owner))
                            .collect(Collectors.toCollection(LinkedHashSet::new));
            if (!references.isEmpty()) {
                referring.add(entry);
                complaints.addAll(linker.complaints(className(entry), references));
            }
        }

        assertThat(complaints).isEmpty();
        assertThat(referring.isEmpty())
                .as("classes of the base that refer to ours: %s", referring)
                .isEqualTo(gone.isEmpty());
    }

    @Test
    void everyClassOfOursLinksAgainstTheBaseAndFlink() {
        List<String> complaints = new ArrayList<>();
        for (String name : classNames(overlays.ours())) {
            Set<Reference> references = References.of(built.bytes(name + ".class"));
            complaints.addAll(linker.complaints(name.replace('/', '.'), references));
            for (Reference reference : references) {
                boolean array = reference.owner.startsWith("[");
                if (!array && ALLOWED_OWNERS.stream().noneMatch(reference.owner::startsWith)) {
                    complaints.add(
                            name + " -> " + reference + ": is none of JDK, Paimon, Flink, slf4j");
                }
            }
        }

        assertThat(complaints).isEmpty();
    }

    /** Dependencies point down only: flink -> core -> common. */
    @Test
    void commonAndCoreDoNotKnowFlink() throws IOException {
        List<String> complaints = new ArrayList<>();
        for (Path module : BuiltFiles.modules()) {
            if (module.getFileName().toString().startsWith("paimon-flink")) {
                continue;
            }
            JarContent content = JarContent.read(module);
            for (String entry : content.names()) {
                if (!isClass(entry)) {
                    continue;
                }
                for (Reference reference : References.of(content.bytes(entry))) {
                    if (reference.owner.startsWith("org/apache/flink/")
                            || reference.owner.startsWith("org/apache/paimon/flink/")) {
                        complaints.add(className(entry) + " -> " + reference);
                    }
                }
            }
        }

        assertThat(complaints).isEmpty();
    }

    /** Otherwise this test would link something else than what it says. */
    @Test
    void theClassesAreThoseOfTheBuiltJar() throws Exception {
        for (String name : classNames(overlays.ours())) {
            assertThat(source(linker.load(name.replace('/', '.'))))
                    .isEqualTo(BuiltFiles.distribution());
        }
        assertThat(source(linker.load("org.apache.paimon.flink.sink.FlinkSinkBuilder")))
                .isEqualTo(BuiltFiles.distribution());
    }

    private static boolean mentions(String entry, Set<String> names) {
        String text = new String(built.bytes(entry), StandardCharsets.ISO_8859_1);
        return names.stream().anyMatch(text::contains);
    }

    /** A class that the class loader of the jar can see; not one inside a bundled jar's folder. */
    private static boolean isClass(String entry) {
        return entry.endsWith(".class")
                && !entry.startsWith("META-INF/")
                && !entry.startsWith("paimon-codegen/")
                && !entry.endsWith("module-info.class");
    }

    private static Set<String> classNames(Set<String> entries) {
        Set<String> names = new TreeSet<>();
        for (String entry : entries) {
            if (isClass(entry) && !entry.endsWith("package-info.class")) {
                names.add(entry.substring(0, entry.length() - ".class".length()));
            }
        }
        return names;
    }

    private static String className(String entry) {
        return entry.substring(0, entry.length() - ".class".length()).replace('/', '.');
    }

    private static Path source(Class<?> type) throws URISyntaxException {
        return Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
