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

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** The files under test; the POM of this module hands their paths to failsafe. */
final class BuiltFiles {

    private BuiltFiles() {}

    static Path distribution() {
        return path("distribution.jar");
    }

    static Path base() {
        return path("distribution.base");
    }

    static Path overlays() {
        return path("distribution.overlays");
    }

    /** The top of the source tree. */
    static Path root() {
        return path("distribution.root");
    }

    /** The jars of our own modules that went into the distribution. */
    static List<Path> modules() {
        List<Path> modules = new ArrayList<>();
        for (String module : text("distribution.modules").split(",")) {
            modules.add(Paths.get(module.trim()));
        }
        return modules;
    }

    static Path path(String property) {
        return Paths.get(text(property));
    }

    static String text(String property) {
        String value = System.getProperty(property);
        if (value == null || value.isEmpty() || value.contains("${")) {
            throw new IllegalStateException(
                    "the system property "
                            + property
                            + " is '"
                            + value
                            + "'; run this test with: mvn verify -pl paimon-flink/paimon-flink-2.0"
                            + " -am");
        }
        return value;
    }
}
