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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarInputStream;
import java.util.jar.Manifest;

import static org.assertj.core.api.Assertions.assertThat;

/** The built jar, compared with the base and with the reviewed list {@code overlays.txt}. */
class DistributionIT {

    private static final String SERVICES = "META-INF/services/";

    private static JarContent base;
    private static JarContent built;
    private static Overlays overlays;

    @BeforeAll
    static void read() throws IOException {
        base = JarContent.read(BuiltFiles.base());
        built = JarContent.read(BuiltFiles.distribution());
        overlays = Overlays.read(BuiltFiles.overlays());
    }

    @Test
    void theJarDiffersFromTheBaseExactlyByTheReviewedList() {
        assertThat(JarComparison.complaints(base, built, overlays)).isEmpty();
    }

    @Test
    void everyEntryOfOursIsTheOneThatItsModuleBuilt() throws IOException {
        List<String> ours = new ArrayList<>();
        for (Path module : BuiltFiles.modules()) {
            JarContent content = JarContent.read(module);
            for (String name : content.names()) {
                if (name.endsWith("/")
                        || name.equals("META-INF/MANIFEST.MF")
                        || name.startsWith(SERVICES)
                        || name.endsWith("/package-info.class")) {
                    continue;
                }
                ours.add(name);
                assertThat(built.bytes(name)).as(name).isEqualTo(content.bytes(name));
            }
        }
        List<String> listed = new ArrayList<>(overlays.ours());
        listed.remove("META-INF/MANIFEST.MF");
        listed.remove("META-INF/NOTICE");
        listed.removeIf(name -> name.startsWith(SERVICES));
        assertThat(ours).containsExactlyInAnyOrderElementsOf(listed);
    }

    @Test
    void servicesAreThoseOfTheBaseAndOurs() throws IOException {
        List<JarContent> parts = new ArrayList<>();
        parts.add(base);
        for (Path module : BuiltFiles.modules()) {
            parts.add(JarContent.read(module));
        }
        Set<String> services = new TreeSet<>();
        parts.forEach(part -> services.addAll(servicesOf(part)));

        assertThat(servicesOf(built)).isEqualTo(services).isNotEmpty();
        for (String service : services) {
            Set<String> providers = new TreeSet<>();
            for (JarContent part : parts) {
                if (part.has(service)) {
                    providers.addAll(providers(part, service));
                }
            }
            assertThat(providers(built, service)).as(service).isEqualTo(providers);
        }
    }

    @Test
    @DisplayName(
            "issue 13: the file that names the procedures is the base's, byte for byte, then ours")
    void ourProceduresAreAppendedToThoseOfTheBase() {
        String factories = SERVICES + "org.apache.paimon.factories.Factory";

        assertThat(text(built, factories)).startsWith(text(base, factories));
        Set<String> ours = providers(built, factories);
        ours.removeAll(providers(base, factories));
        assertThat(ours)
                .containsExactly(
                        "org.apache.paimon.flink.procedure.ExpireSavepointTagsProcedure",
                        "org.apache.paimon.flink.procedure.RollbackToSavepointProcedure",
                        "org.apache.paimon.flink.procedure.SavepointTagsProcedure");
        assertThat(ours).allMatch(name -> built.has(name.replace('.', '/') + ".class"));
    }

    @Test
    void licenceAndNoticeOfBothAreInside() throws IOException {
        String license = Files.readString(BuiltFiles.root().resolve("LICENSE"));
        String notice = Files.readString(BuiltFiles.root().resolve("NOTICE"));

        assertThat(text(built, "META-INF/LICENSE"))
                .isEqualTo(text(base, "META-INF/LICENSE"))
                .isEqualTo(license);
        assertThat(text(built, "META-INF/NOTICE"))
                .isEqualTo(notice + text(base, "META-INF/NOTICE"))
                .startsWith("Paimon savepoint distribution")
                .contains("The Apache Software Foundation");
    }

    /** {@code JarInputStream} finds a manifest only at the head of the file. */
    @Test
    void theManifestComesFirstAndNamesTheVersion() throws IOException {
        try (JarInputStream jar =
                new JarInputStream(Files.newInputStream(BuiltFiles.distribution()))) {
            Manifest manifest = jar.getManifest();

            assertThat(manifest).isNotNull();
            assertThat(manifest.getMainAttributes().getValue("Implementation-Version"))
                    .isEqualTo(BuiltFiles.text("distribution.version"));
        }
        Manifest same = new Manifest(new ByteArrayInputStream(built.bytes("META-INF/MANIFEST.MF")));
        assertThat(same.getMainAttributes().getValue("Multi-Release"))
                .as("as in the base")
                .isNull();
    }

    private static Set<String> servicesOf(JarContent jar) {
        Set<String> services = new TreeSet<>(jar.names());
        services.removeIf(name -> !name.startsWith(SERVICES) || name.endsWith("/"));
        return services;
    }

    private static Set<String> providers(JarContent jar, String service) {
        Set<String> providers = new TreeSet<>();
        for (String line : text(jar, service).split("\\R")) {
            String provider = line.replaceFirst("#.*", "").trim();
            if (!provider.isEmpty()) {
                providers.add(provider);
            }
        }
        return providers;
    }

    private static String text(JarContent jar, String name) {
        return new String(jar.bytes(name), StandardCharsets.UTF_8);
    }
}
