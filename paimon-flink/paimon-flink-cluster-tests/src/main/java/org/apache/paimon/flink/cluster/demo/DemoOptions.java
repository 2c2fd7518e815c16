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

import org.apache.paimon.flink.cluster.CommandLine;

import java.nio.file.Path;
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

    static DemoOptions parse(String... args) throws CommandLine.UsageException {
        DemoOptions options = new DemoOptions();
        CommandLine words = new CommandLine(args);
        while (words.hasNext()) {
            switch (words.next()) {
                case "--flink":
                    options.flink = words.path();
                    break;
                case "--jar":
                    options.jar = words.path();
                    break;
                case "--dir":
                    options.directory = words.path();
                    break;
                case "--port":
                    options.port = (int) words.number(1, 65535);
                    break;
                case "--end":
                    options.ending = ending(words.value());
                    break;
                case "--keep":
                    options.keep = true;
                    break;
                case "--json":
                    options.json = true;
                    break;
                default:
                    throw words.unknown();
            }
        }
        CommandLine.require("--flink", options.flink);
        CommandLine.require("--jar", options.jar);
        CommandLine.require("--dir", options.directory);
        return options;
    }

    private static Ending ending(String text) throws CommandLine.UsageException {
        for (Ending ending : Ending.values()) {
            if (ending.name().toLowerCase(Locale.ROOT).equals(text)) {
                return ending;
            }
        }
        throw new CommandLine.UsageException(
                "option --end needs cancel, stop or finish, not '" + text + "'");
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
