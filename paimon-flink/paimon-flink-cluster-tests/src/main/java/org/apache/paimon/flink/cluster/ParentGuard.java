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

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/**
 * Runs another main class and halts the JVM when the parent process is gone.
 *
 * <p>The parent holds the writing end of this process' standard input and never writes to it. The
 * operating system closes that end when the parent dies, whatever it died of (a SIGKILL leaves no
 * time for shutdown hooks), and the read below returns. So no process outlives the harness.
 */
public final class ParentGuard {

    /** Exit code of a process that ended because its parent had gone. */
    public static final int PARENT_GONE = 97;

    private ParentGuard() {}

    public static void main(String[] args) throws Throwable {
        if (args.length == 0) {
            throw new IllegalArgumentException("the name of the main class to run is missing");
        }
        InputStream parent = System.in;
        Thread guard = new Thread(() -> haltAtEndOf(parent), "parent-guard");
        guard.setDaemon(true);
        guard.start();
        try {
            Class.forName(args[0])
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void haltAtEndOf(InputStream parent) {
        try {
            while (parent.read() >= 0) {
                // Nobody writes here; a stray byte means nothing.
            }
        } catch (IOException e) {
            // A broken pipe says the same as its end.
        }
        Runtime.getRuntime().halt(PARENT_GONE);
    }
}
