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

package org.apache.paimon.flink.sink.coordinator.report;

import java.util.ArrayList;
import java.util.List;

/** What a writer's state says of its reports, as the writer writes it. */
public final class SideStates {

    private SideStates() {}

    public static List<ReportSideState> of(long writtenIn, EncodedReport... reports) {
        List<ReportSideState> sideStates = new ArrayList<>();
        for (EncodedReport report : reports) {
            sideStates.add(ReportSideState.of(report.asPersisted(), writtenIn));
        }
        return sideStates;
    }
}
