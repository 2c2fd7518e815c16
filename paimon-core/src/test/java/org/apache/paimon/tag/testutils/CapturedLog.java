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

package org.apache.paimon.tag.testutils;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** What one class logs while this is open. */
public final class CapturedLog implements AutoCloseable {

    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Logger logger;
    private final Level previousLevel;
    private final List<String> messages = Collections.synchronizedList(new ArrayList<>());
    private final AbstractAppender appender;

    private CapturedLog(String source) {
        logger = (Logger) LogManager.getLogger(source);
        previousLevel = logger.getLevel();
        appender =
                // Log4j remembers appenders by name, also those that were removed.
                new AbstractAppender(
                        "captured-" + COUNT.incrementAndGet(),
                        null,
                        null,
                        true,
                        Property.EMPTY_ARRAY) {
                    @Override
                    public void append(LogEvent event) {
                        messages.add(
                                event.getLevel() + " " + event.getMessage().getFormattedMessage());
                    }
                };
        appender.start();
        Configurator.setLevel(logger.getName(), Level.INFO);
        logger.addAppender(appender);
    }

    public static CapturedLog of(Class<?> source) {
        return new CapturedLog(source.getName());
    }

    /** What all classes of the package of this one log. */
    public static CapturedLog ofPackageOf(Class<?> source) {
        return new CapturedLog(source.getPackage().getName());
    }

    /** For instance {@code WARN something happened}. */
    public List<String> messages() {
        synchronized (messages) {
            return new ArrayList<>(messages);
        }
    }

    @Override
    public void close() {
        logger.removeAppender(appender);
        Configurator.setLevel(logger.getName(), previousLevel);
        appender.stop();
    }
}
