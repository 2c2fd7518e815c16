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

import java.util.List;

/** One page without anything from elsewhere: a table of scenarios, and a row for each round. */
final class HtmlReport {

    private static final int WIDTH = 900;
    private static final int LANE = 18;
    private static final int LABEL = 90;

    private static final String STYLE =
            "body{font:14px sans-serif;margin:24px;color:#222}"
                    + "table{border-collapse:collapse;margin:12px 0}"
                    + "td,th{border-bottom:1px solid #ddd;padding:4px 10px;text-align:left;"
                    + "vertical-align:top}"
                    + ".OK{color:#18794e}.MISSED{color:#8a6d00}.VIOLATION{color:#c62828;"
                    + "font-weight:bold}svg text{font:11px sans-serif;fill:#555}"
                    + ".small{color:#666;font-size:12px}";

    private HtmlReport() {}

    static String of(long seed, List<RoundResult> results) {
        StringBuilder html = new StringBuilder("<!DOCTYPE html><html lang=\"en\"><head>");
        html.append("<meta charset=\"utf-8\"><title>Chaos</title><style>")
                .append(STYLE)
                .append("</style></head><body><h1>Chaos</h1><p>")
                .append(escape(Report.summary(results)))
                .append(". Seed ")
                .append(seed)
                .append(".</p><table><tr><th>scenario</th><th>what is broken</th><th>rounds</th>")
                .append("<th>hit</th></tr>");
        for (Scenario scenario : Scenario.values()) {
            long rounds = Report.count(results, scenario, false);
            if (rounds > 0) {
                row(
                        html,
                        scenario.id(),
                        scenario.description(),
                        Long.toString(rounds),
                        Long.toString(Report.count(results, scenario, true)));
            }
        }
        html.append("</table><p class=\"small\">Point at a dot to read what it is. Grey: started;")
                .append(" red: failed; dashed: something was broken or came back. A round that")
                .append(" missed its window does not count.</p>");
        html.append("<table><tr><th>round</th><th>verdict</th><th>timeline</th></tr>");
        results.forEach(result -> round(html, result));
        return html.append("</table></body></html>\n").toString();
    }

    private static void row(StringBuilder html, String... cells) {
        html.append("<tr>");
        for (String cell : cells) {
            html.append("<td>").append(escape(cell)).append("</td>");
        }
        html.append("</tr>");
    }

    private static void round(StringBuilder html, RoundResult result) {
        html.append("<tr><td>")
                .append(result.number())
                .append("<br>")
                .append(escape(result.scenario().id()))
                .append("<br><span class=\"small\">seed ")
                .append(result.seed())
                .append("</span></td><td><span class=\"")
                .append(result.verdict())
                .append("\">")
                .append(result.verdict())
                .append("</span><br><span class=\"small\">")
                .append(escape(result.window()))
                .append("<br>")
                .append(result.tagsChecked())
                .append(" tags compared");
        if (result.uncommitted() > 0) {
            html.append("<br>savepoints never committed: ").append(result.uncommitted());
        }
        result.knownLimits()
                .forEach(limit -> html.append("<br>known limit: ").append(escape(limit)));
        html.append("</span>");
        result.violations()
                .forEach(
                        violation ->
                                html.append("<div class=\"VIOLATION\">")
                                        .append(escape(violation.toString()))
                                        .append("</div>"));
        html.append("</td><td>");
        timeline(html, result);
        html.append("</td></tr>");
    }

    private static void timeline(StringBuilder html, RoundResult result) {
        Timeline.Kind[] lanes = Timeline.Kind.values();
        int height = lanes.length * LANE + 20;
        html.append(String.format("<svg width=\"%d\" height=\"%d\">", WIDTH + LABEL + 20, height));
        for (Timeline.Kind lane : lanes) {
            int y = lane.ordinal() * LANE + 10;
            html.append(
                    String.format(
                            "<text x=\"0\" y=\"%d\">%s</text>"
                                    + "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\""
                                    + " stroke=\"#e4e4e4\"/>",
                            y + 4, label(lane), LABEL, LABEL + WIDTH, y, y));
        }
        long whole = Math.max(1, result.millis());
        long step = 5 * (1 + whole / 60_000);
        for (long second = 0; second * 1000 <= whole; second += step) {
            long x = LABEL + second * 1000 * WIDTH / whole;
            html.append(
                    String.format(
                            "<line x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"%d\" stroke=\"#f0f0f0\"/>"
                                    + "<text x=\"%d\" y=\"%d\">%d s</text>",
                            x, x, height - 14, x, height - 2, second));
        }
        for (Timeline.Event event : result.events()) {
            if (event.kind() == Timeline.Kind.BREAK) {
                long x = LABEL + event.millis() * WIDTH / whole;
                html.append(
                        String.format(
                                "<line x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"%d\" stroke=\"#e65100\""
                                        + " stroke-dasharray=\"2 3\"/>",
                                x, x, height - 14));
            }
        }
        for (Timeline.Event event : result.events()) {
            long x = LABEL + event.millis() * WIDTH / whole;
            html.append(
                    String.format(
                            "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"><title>%.1f s: %s"
                                    + "</title></circle>",
                            x,
                            event.kind().ordinal() * LANE + 10,
                            colour(event),
                            event.millis() / 1000.0,
                            escape(event.text())));
        }
        html.append("</svg>");
    }

    private static String label(Timeline.Kind lane) {
        switch (lane) {
            case CHECKPOINT:
                return "checkpoints";
            case SAVEPOINT:
                return "savepoints";
            case BREAK:
                return "faults";
            case COMMIT:
                return "commits";
            case TAG:
                return "tags";
            default:
                return "job";
        }
    }

    private static String colour(Timeline.Event event) {
        if (event.text().endsWith("FAILED")) {
            return "#c62828";
        }
        if (event.text().endsWith("IN_PROGRESS")) {
            return "#c9c9c9";
        }
        switch (event.kind()) {
            case CHECKPOINT:
                return "#5b8def";
            case SAVEPOINT:
                return "#7e3ff2";
            case BREAK:
                return "#e65100";
            case COMMIT:
                return "#18794e";
            case TAG:
                return "#b8860b";
            default:
                return "#444";
        }
    }

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
