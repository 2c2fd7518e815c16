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

package org.apache.paimon.flink.cluster.demo;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;

/** The command line of the demo. {@code tools/demo} adds the first two options itself. */
final class DemoOptions {

    private Path flink;
    private Path jar;
    private Path directory;
    private int port = 8081;
    private Ending ending = Ending.FINISH;
    private boolean keep;
    private boolean json;

    /** How the restored job comes to its end. */
    enum Ending {
        /** Cancelled while data flows; counted is what was committed by then. */
        CANCEL,
        /** {@code flink stop}: its savepoint must be tagged, and is what is counted. */
        STOP,
        /** The source comes to its end, and every number must be there. */
        FINISH
    }

    private DemoOptions() {}

    /** What the user typed cannot be understood; the message says what and what would be right. */
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        UsageException(String message) {
            super(message);
        }
    }

    static DemoOptions parse(String... args) throws UsageException {
        DemoOptions options = new DemoOptions();
        Iterator<String> words = Arrays.asList(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--flink":
                    options.flink = path(option, words);
                    break;
                case "--jar":
                    options.jar = path(option, words);
                    break;
                case "--dir":
                    options.directory = path(option, words);
                    break;
                case "--port":
                    options.port = port(value(option, words));
                    break;
                case "--end":
                    options.ending = ending(value(option, words));
                    break;
                case "--keep":
                    options.keep = true;
                    break;
                case "--json":
                    options.json = true;
                    break;
                default:
                    throw new UsageException("unknown option '" + option + "'");
            }
        }
        require("--flink", options.flink);
        require("--jar", options.jar);
        require("--dir", options.directory);
        return options;
    }

    private static void require(String option, Path value) throws UsageException {
        if (value == null) {
            throw new UsageException("option " + option + " is missing");
        }
    }

    private static Path path(String option, Iterator<String> words) throws UsageException {
        return Paths.get(value(option, words)).toAbsolutePath().normalize();
    }

    private static String value(String option, Iterator<String> words) throws UsageException {
        if (!words.hasNext()) {
            throw new UsageException("option " + option + " needs a value");
        }
        return words.next();
    }

    private static int port(String text) throws UsageException {
        try {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new UsageException(
                "option --port needs a number from 1 to 65535, not '" + text + "'");
    }

    private static Ending ending(String text) throws UsageException {
        for (Ending ending : Ending.values()) {
            if (ending.name().toLowerCase(Locale.ROOT).equals(text)) {
                return ending;
            }
        }
        throw new UsageException("option --end needs cancel, stop or finish, not '" + text + "'");
    }

    /** The folder with the jars of a Flink cluster. */
    Path flink() {
        return flink;
    }

    /** The Paimon jar for the cluster's class path. */
    Path jar() {
        return jar;
    }

    /** Where the cluster, its logs and the table live. */
    Path directory() {
        return directory;
    }

    /** Preferred port of the Web UI. */
    int port() {
        return port;
    }

    Ending ending() {
        return ending;
    }

    boolean keep() {
        return keep;
    }

    boolean json() {
        return json;
    }
}
