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
import java.util.Arrays;
import java.util.Iterator;

/** The words of a command line, option by option. Used from one thread. */
public final class CommandLine {

    private final Iterator<String> words;
    private String option;

    /** What the user typed cannot be understood; the message says what and what would be right. */
    public static final class UsageException extends Exception {
        private static final long serialVersionUID = 1L;

        public UsageException(String message) {
            super(message);
        }
    }

    public CommandLine(String... words) {
        this.words = Arrays.asList(words).iterator();
    }

    public boolean hasNext() {
        return words.hasNext();
    }

    /** The next option; {@link #value()} and the like belong to it from now on. */
    public String next() {
        option = words.next();
        return option;
    }

    public String value() throws UsageException {
        if (!words.hasNext()) {
            throw new UsageException("option " + option + " needs a value");
        }
        return words.next();
    }

    public Path path() throws UsageException {
        return Paths.get(value()).toAbsolutePath().normalize();
    }

    /** A whole number, both bounds included. */
    public long number(long min, long max) throws UsageException {
        String text = value();
        try {
            long number = Long.parseLong(text);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new UsageException(
                "option "
                        + option
                        + " needs a number from "
                        + min
                        + " to "
                        + max
                        + ", not '"
                        + text
                        + "'");
    }

    /** To be thrown for an option that nobody knows. */
    public UsageException unknown() {
        return new UsageException("unknown option '" + option + "'");
    }

    public static void require(String option, Object value) throws UsageException {
        if (value == null) {
            throw new UsageException("option " + option + " is missing");
        }
    }
}
