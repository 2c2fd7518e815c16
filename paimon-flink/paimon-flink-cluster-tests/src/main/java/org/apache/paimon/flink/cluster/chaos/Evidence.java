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

package org.apache.paimon.flink.cluster.chaos;

import org.apache.paimon.flink.cluster.ClusterException;
import org.apache.paimon.flink.cluster.TableDirectory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Keeps the logs and what the table's metadata says of a round with a violation. */
final class Evidence {

    private Evidence() {}

    static void keep(Bed bed, RoundResult result, Path directory) {
        Path target = directory.resolve("round-" + result.number());
        try {
            Files.createDirectories(target);
            List<Path> logs;
            try (Stream<Path> all = Files.list(bed.cluster().logs())) {
                logs = all.filter(Files::isRegularFile).collect(Collectors.toList());
            }
            for (Path log : logs) {
                Files.copy(
                        log,
                        target.resolve(log.getFileName()),
                        StandardCopyOption.REPLACE_EXISTING);
            }
            Files.write(
                    target.resolve("round.txt"),
                    String.join("\n", lines(bed, result)).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot keep the evidence in " + target, e);
        }
    }

    private static List<String> lines(Bed bed, RoundResult result) {
        List<String> lines = new ArrayList<>();
        lines.add("scenario " + result.scenario().id() + ", seed of the round " + result.seed());
        result.violations().forEach(violation -> lines.add(violation.toString()));
        result.events().forEach(e -> lines.add(e.millis() + " ms  " + e.kind() + "  " + e.text()));
        TableDirectory table = new TableDirectory(bed.tableDirectory(Round.name(result.number())));
        try {
            table.snapshots().values().forEach(s -> lines.add(s + " " + s.properties()));
            table.tags().forEach((name, s) -> lines.add(name + " on " + s + " " + s.properties()));
        } catch (ClusterException e) {
            lines.add("the table cannot be read: " + e.getMessage());
        }
        return lines;
    }
}
