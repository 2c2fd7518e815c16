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

package org.apache.paimon.flink.sink.coordinator.simulation;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Turns the log off: thousands of schedules would fill the disk with the faults they put in. */
final class Quiet implements BeforeAllCallback, AfterAllCallback {

    private static final String LOGGER = "org.apache.paimon";

    @Override
    public void beforeAll(ExtensionContext context) {
        Configurator.setLevel(LOGGER, Level.OFF);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Configurator.setLevel(LOGGER, Level.INFO);
    }
}
