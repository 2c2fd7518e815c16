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

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares a built jar with its base: the difference must be exactly the reviewed list. Each
 * complaint is one sentence that names the entry; no complaint means that the list is true.
 */
final class JarComparison {

    /** Class file version of Java 11. */
    static final int CLASS_FILE_VERSION = 55;

    private final JarContent base;
    private final JarContent built;
    private final Overlays overlays;
    private final List<String> complaints = new ArrayList<>();

    private JarComparison(JarContent base, JarContent built, Overlays overlays) {
        this.base = base;
        this.built = built;
        this.overlays = overlays;
    }

    static List<String> complaints(JarContent base, JarContent built, Overlays overlays) {
        JarComparison comparison = new JarComparison(base, built, overlays);
        comparison.checkOnce();
        comparison.checkList();
        comparison.checkBase();
        comparison.checkRest();
        comparison.checkInnerClasses();
        comparison.checkClassVersions();
        return comparison.complaints;
    }

    private void checkOnce() {
        for (String name : built.duplicates()) {
            complaints.add(name + " is in the jar more than once");
        }
    }

    private void checkList() {
        for (String name : overlays.replaced()) {
            if (!base.has(name)) {
                complaints.add(name + " is listed as replaced, but the base does not have it");
            } else if (!built.has(name)) {
                complaints.add(name + " is listed as replaced, but the jar does not have it");
            } else if (built.sameBytes(base, name)) {
                complaints.add(name + " is listed as replaced, but is the base's");
            }
        }
        for (String name : overlays.added()) {
            if (base.has(name)) {
                complaints.add(name + " is listed as added, but the base has it");
            }
            if (!built.has(name)) {
                complaints.add(name + " is listed as added, but the jar does not have it");
            }
        }
        for (String name : overlays.removed()) {
            if (!base.has(name)) {
                complaints.add(name + " is listed as removed, but the base does not have it");
            }
            if (built.has(name)) {
                complaints.add(name + " is listed as removed, but the jar has it");
            }
        }
    }

    private void checkBase() {
        Set<String> gone = overlays.gone();
        for (String name : base.names()) {
            if (gone.contains(name)) {
                continue;
            }
            if (!built.has(name)) {
                complaints.add(name + " of the base is missing, and not listed as removed");
            } else if (!built.sameBytes(base, name)) {
                complaints.add(name + " differs from the base, and is not listed as replaced");
            }
        }
    }

    private void checkRest() {
        Set<String> allowed = new TreeSet<>(overlays.ours());
        for (String name : overlays.added()) {
            for (int i = name.indexOf('/'); i >= 0; i = name.indexOf('/', i + 1)) {
                allowed.add(name.substring(0, i + 1));
            }
        }
        for (String name : built.names()) {
            if (!base.has(name) && !allowed.contains(name)) {
                complaints.add(name + " is not in the base, and not listed as added");
            }
        }
    }

    /** A stale inner class next to a class of ours would link against what is no longer there. */
    private void checkInnerClasses() {
        Set<String> gone = overlays.gone();
        for (String outer : gone) {
            if (!outer.endsWith(".class")) {
                continue;
            }
            String prefix = outer.substring(0, outer.length() - ".class".length()) + "$";
            for (String name : base.names()) {
                if (name.startsWith(prefix) && !gone.contains(name)) {
                    complaints.add(
                            name
                                    + " is an inner class of the listed "
                                    + outer
                                    + ", and listed neither as replaced nor as removed");
                }
            }
        }
    }

    private void checkClassVersions() {
        for (String name : overlays.ours()) {
            if (!name.endsWith(".class") || !built.has(name)) {
                continue;
            }
            byte[] bytes = built.bytes(name);
            int version = (bytes[6] & 0xff) << 8 | bytes[7] & 0xff;
            if (version != CLASS_FILE_VERSION) {
                complaints.add(
                        name
                                + " has class file version "
                                + version
                                + ", needed is "
                                + CLASS_FILE_VERSION);
            }
        }
    }
}
