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

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a Flink process needs on disk: the {@code lib/} folder that the build of this module lays
 * down, the Paimon jar to test, and for the SQL client the folder with {@code flink-python},
 * without which it cannot parse its command line.
 */
public final class FlinkDistribution {

    private static final List<String> OPENED =
            Collections.unmodifiableList(
                    Arrays.asList(
                            "java.lang",
                            "java.lang.reflect",
                            "java.net",
                            "java.io",
                            "java.nio",
                            "sun.nio.ch",
                            "java.text",
                            "java.time",
                            "java.util",
                            "java.util.concurrent",
                            "java.util.concurrent.atomic",
                            "java.util.concurrent.locks"));

    /** The module beside this one whose builds lay down the class path of each service. */
    private static final String SERVICES = "paimon-flink-cluster-services";

    private final ProcessStarter starter;
    private final Path home;
    private final Path lib;
    private final Path sqlClientLib;
    private final Path paimonJar;

    /**
     * @param home the folder with {@code lib/} and {@code sql-client/}, {@code target/cluster} of
     *     this module's build
     */
    public FlinkDistribution(Path home, Path paimonJar) {
        this(home, paimonJar, ProcessStarter.LOCAL);
    }

    private FlinkDistribution(Path home, Path paimonJar, ProcessStarter starter) {
        this.starter = starter;
        this.home = home.toAbsolutePath();
        this.lib = existing(home.resolve("lib"), "the Flink jars");
        this.sqlClientLib = existing(home.resolve("sql-client"), "the SQL client's own jars");
        this.paimonJar = existing(paimonJar, "the Paimon jar").toAbsolutePath();
    }

    public Path paimonJar() {
        return paimonJar;
    }

    /** The same Flink with another Paimon jar. */
    public FlinkDistribution withPaimonJar(Path other) {
        return new FlinkDistribution(home, other, starter);
    }

    /** The same, with every process elsewhere. */
    public FlinkDistribution in(ProcessStarter other) {
        return new FlinkDistribution(home, paimonJar, other);
    }

    ProcessStarter starter() {
        return starter;
    }

    /** The class path of a service: {@code kafka}, {@code hdfs} or {@code s3proxy}. */
    public String serviceClassPath(String service) {
        // home is target/cluster of this module.
        Path modules = home.getParent().getParent().getParent();
        Path jars =
                existing(
                        modules.resolve(SERVICES).resolve(service).resolve("target").resolve("lib"),
                        "the jars of " + service);
        return classPath(jars + File.separator + "*", ownCode());
    }

    /** The folder with one folder for each plugin of Flink, for {@code FLINK_PLUGINS_DIR}. */
    public Path plugins() {
        return existing(home.resolve("plugins"), "Flink's plugins");
    }

    /** The folder with the jar of Flink's reporter for Prometheus. */
    public Path metricReporters() {
        return existing(home.resolve("metrics"), "Flink's metric reporters");
    }

    /** The class path of a JobManager, a TaskManager, ZooKeeper or the command line client. */
    public String clusterClassPath() {
        return classPath(lib.toAbsolutePath() + File.separator + "*", paimonJar, ownCode());
    }

    /** The class path of the SQL client. */
    public String sqlClientClassPath() {
        return clusterClassPath()
                + File.pathSeparator
                + sqlClientLib.toAbsolutePath()
                + File.separator
                + "*";
    }

    /** The {@code java} of the JVM that runs this. */
    public static Path java() {
        return Paths.get(System.getProperty("java.home"), "bin", "java");
    }

    /** What Flink needs to reach into under Java 17. */
    public static List<String> opens() {
        List<String> options = new ArrayList<>();
        for (String name : OPENED) {
            options.add("--add-opens");
            options.add("java.base/" + name + "=ALL-UNNAMED");
        }
        return options;
    }

    /** Halves the start of a JVM; what a test cluster loses in peak speed does not matter. */
    public static List<String> quickStart() {
        return Arrays.asList("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    }

    private static String classPath(Object... entries) {
        List<String> texts = new ArrayList<>();
        for (Object entry : entries) {
            texts.add(entry.toString());
        }
        return String.join(File.pathSeparator, texts);
    }

    /** Where {@link ParentGuard} lives: the guarded processes load it from there. */
    private static Path ownCode() {
        try {
            return Paths.get(
                    ParentGuard.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new ClusterException("cannot tell where " + ParentGuard.class + " lies", e);
        }
    }

    private static Path existing(Path path, String what) {
        boolean there;
        if (Files.isDirectory(path)) {
            try (Stream<Path> entries = Files.list(path)) {
                there = entries.findAny().isPresent();
            } catch (IOException e) {
                throw new ClusterException("cannot list " + path, e);
            }
        } else {
            there = Files.isRegularFile(path);
        }
        if (!there) {
            throw new ClusterException(
                    what + " should be at " + path + " and are not there; build this module first");
        }
        return path;
    }
}
