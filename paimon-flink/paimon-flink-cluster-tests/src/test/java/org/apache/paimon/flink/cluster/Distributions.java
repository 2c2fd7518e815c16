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

import java.nio.file.Path;
import java.nio.file.Paths;

/** What the build hands to the tests that start clusters. */
public final class Distributions {

    private Distributions() {}

    /** Flink with the jar of this build. */
    public static FlinkDistribution built() {
        return new FlinkDistribution(property("cluster.home"), property("cluster.paimon-jar"));
    }

    /** The released jar that this build replaces classes of. */
    public static Path stockJar() {
        return property("cluster.stock-jar");
    }

    private static Path property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new ClusterException(
                    "the system property " + name + " is missing; the build sets it for ITCases");
        }
        return Paths.get(value).normalize();
    }
}
