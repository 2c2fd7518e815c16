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

package org.apache.paimon.flink.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * What was measured, beside what it is compared with and what it must reach: one {@link Row} per
 * measure and size; as text, as Markdown (a table per measure) or as JSON.
 */
final class Table {

    /** What two equal measurements of CPU time may differ by, measured: see docs/performance.md. */
    private static final double NOISE = 0.05;

    /** What differs by more from turn to turn can tell no better from worse: it is reported. */
    private static final double MOST_NOISE = 0.1;

    /** Most file system calls that one tag may cost, whatever the table. */
    private static final double MOST_CALLS = 16;

    private static final double INTERVAL_MILLIS = 10_000;

    private static final String OTHER_JAR = "other jar";

    private final Values values;
    private final List<String> failures;
    private final List<Row> rows = new ArrayList<>();

    Table(Values values, List<String> failures) {
        this.values = values;
        this.failures = failures;

        compare(
                "heap held per pending checkpoint",
                "bytes per file",
                "heap",
                "heap held per file",
                Target.atMost(0.45));
        compare(
                "highest heap while committing it",
                "bytes per file",
                "heap",
                "highest heap per file",
                Target.atMost(1.1));
        compare(
                "allocation, event to manifest committable",
                "bytes per file",
                "checkpoint",
                "allocated bytes per file",
                Target.atMost(0.6));
        compare(
                "taking in the reports",
                "CPU us per report",
                "checkpoint",
                "intake CPU us per report",
                Target.atMost(0.1));
        compare(
                "taking in and handing over",
                "CPU us per report",
                "checkpoint",
                "total CPU us per report",
                Target.notMore(NOISE));
        restore();
        eventLoop();
        compare(
                "serializer: size of a report",
                "bytes",
                "serializer",
                "bytes",
                Target.larger(1, "one byte more"));
        serializer();
        frame();
        writer();
        job();
        tag();
        recovery();
    }

    // ------------------------------------------------------------------------
    //  Rows
    // ------------------------------------------------------------------------

    /** A row for each case in which this was measured. */
    private void compare(String title, String unit, String measure, String metric, Target target) {
        for (String at : values.cases(measure)) {
            compare(title, unit, measure, at, metric, target);
        }
    }

    private void compare(
            String title, String unit, String measure, String at, String metric, Target target) {
        double[] pair = values.find(measure, at, metric);
        if (pair != null) {
            rows.add(new Row(title, at, unit, pair[0], OTHER_JAR, pair[1], target));
        }
    }

    private void restore() {
        String title = "restore, writers replay in ascending order";
        String metric = "restore CPU ms";
        for (String at : values.cases("restore")) {
            compare(
                    title,
                    "CPU ms",
                    "restore",
                    at,
                    metric,
                    Values.writers(at) == 30_000 ? Target.atMost(0.1) : Target.NONE);
        }
        for (String at : values.cases("restore")) {
            int writers = Values.writers(at);
            double[] few = values.find("restore", at, metric);
            double[] many =
                    values.find("restore", at.replace(writers + "", 10 * writers + ""), metric);
            if (many != null) {
                rows.add(
                        new Row(
                                "restore, 10 times as many writers",
                                10 * writers + " instead of " + writers + " writers",
                                "times the CPU time",
                                Row.ratio(many[0], few[0]),
                                OTHER_JAR,
                                Row.ratio(many[1], few[1]),
                                Target.within(12, "<= 12")));
            }
        }
    }

    private void eventLoop() {
        String title = "event loop busy, of a 10 s interval";
        double[] largest = {0, 0};
        for (String at : values.cases("checkpoint")) {
            double[] millis = values.find("checkpoint", at, "loop CPU ms");
            if (millis == null) {
                continue;
            }
            rows.add(
                    new Row(
                            title,
                            at,
                            "%",
                            100 * millis[0] / INTERVAL_MILLIS,
                            OTHER_JAR,
                            100 * millis[1] / INTERVAL_MILLIS,
                            Target.NONE));
            for (int jar = 0; jar < 2; jar++) {
                if (Values.oneFileEach(at) && millis[jar] < INTERVAL_MILLIS / 10) {
                    largest[jar] = Math.max(largest[jar], Values.writers(at));
                }
            }
        }
        if (largest[0] > 0) {
            rows.add(
                    new Row(
                            title,
                            "most measured below 10 %, 1 file each",
                            "writers",
                            largest[0],
                            OTHER_JAR,
                            largest[1],
                            Target.NONE));
        }
    }

    /** The target is for the whole way of a report; who of both ends pays what is reported. */
    private void serializer() {
        for (String at : values.cases("serializer")) {
            double[] write = values.find("serializer", at, "serialize CPU us");
            double[] read = values.find("serializer", at, "deserialize CPU us");
            if (write != null && read != null) {
                rows.add(
                        new Row(
                                "serializer: write and read a report",
                                at,
                                "CPU us",
                                write[0] + read[0],
                                OTHER_JAR,
                                write[1] + read[1],
                                Target.atMost(1.05)));
            }
        }
        compare(
                "serializer: write a report",
                "CPU us",
                "serializer",
                "serialize CPU us",
                Target.NONE);
        compare(
                "serializer: read a report",
                "CPU us",
                "serializer",
                "deserialize CPU us",
                Target.NONE);
    }

    private void frame() {
        compare(
                "above the RPC frame: what arrives",
                "share of the files",
                "frame",
                "share that arrived",
                Target.exactly(1, "all"));
        compare("above the RPC frame: time", "s", "frame", "seconds", Target.NONE);
        compare("above the RPC frame: highest heap", "MB", "frame", "highest heap MB", Target.NONE);
    }

    private void writer() {
        String title = "writer's synchronous part, auto-tag on vs off";
        for (String at : values.cases("writer")) {
            double[] on = values.find("writer", at, "auto-tag on, CPU us");
            double[] off = values.find("writer", at, "auto-tag off, CPU us");
            if (on != null && off != null) {
                rows.add(new Row(title, at, "CPU us", on[0], "off", off[0], Target.notMore(NOISE)));
            }
        }
        turns(title, "ms", JobProbe.ON_COORDINATOR, "off", JobProbe.OFF_COORDINATOR, JobProbe.SYNC);
    }

    private void job() {
        for (String metric : Arrays.asList(JobProbe.RECORDS, JobProbe.CPU, JobProbe.CHECKPOINT)) {
            String tagging = "whole job, auto-tag on vs off";
            turns(
                    tagging,
                    metric,
                    JobProbe.ON_COORDINATOR,
                    "off",
                    JobProbe.OFF_COORDINATOR,
                    metric);
            turns(tagging, metric, JobProbe.ON_OPERATOR, "off", JobProbe.OFF_OPERATOR, metric);
        }
        for (String metric : Arrays.asList(JobProbe.RECORDS, JobProbe.CPU, JobProbe.CHECKPOINT)) {
            String path = "whole job, coordinator vs operator path";
            String operator = "operator path";
            turns(path, metric, JobProbe.OFF_COORDINATOR, operator, JobProbe.OFF_OPERATOR, metric);
            turns(path, metric, JobProbe.ON_COORDINATOR, operator, JobProbe.ON_OPERATOR, metric);
        }
    }

    /** Two jobs that have taken turns: the ratio is the median of those of all turns. */
    private void turns(
            String title, String unit, String job, String against, String other, String metric) {
        Turns compared = new Turns(job, other, metric);
        if (compared.ratios.isEmpty()) {
            return;
        }
        Turns equal = new Turns(JobProbe.CONTROL, JobProbe.OFF_COORDINATOR, metric);
        double noise = Math.max(NOISE, equal.noise());
        rows.add(
                new Row(
                        title,
                        job,
                        unit,
                        Numbers.median(compared.of),
                        against,
                        Numbers.median(compared.with),
                        Numbers.median(compared.ratios),
                        noise > MOST_NOISE
                                ? Target.reported(noise)
                                : metric.equals(JobProbe.RECORDS)
                                        ? Target.notLess(noise)
                                        : Target.notMore(noise)));
    }

    private void tag() {
        Map<String, Double> smallest = new LinkedHashMap<>();
        for (String at : values.cases("tag")) {
            values.metrics("tag", at)
                    .forEach(
                            (metric, pair) -> {
                                if (metric.endsWith(": calls")) {
                                    smallest.merge(metric, pair[0], Math::min);
                                }
                            });
        }
        smallest.forEach(
                (metric, calls) -> {
                    String situation = metric.substring(0, metric.indexOf(':'));
                    for (String at : values.cases("tag")) {
                        double[] pair = values.find("tag", at, metric);
                        rows.add(
                                new Row(
                                        "cost of a tag, savepoint snapshot " + situation,
                                        at,
                                        "file system calls",
                                        pair[0],
                                        OTHER_JAR,
                                        pair[1],
                                        situation.equals(TagProbe.NEWEST)
                                                ? Target.within(
                                                        Math.min(calls, MOST_CALLS),
                                                        "constant, <= "
                                                                + Numbers.format(MOST_CALLS))
                                                : Target.onceMore(MOST_CALLS)));
                    }
                });
    }

    private void recovery() {
        for (String metric : Arrays.asList("tasks restarted", "ms until the next commit")) {
            double[] coordinator = values.find("recovery", "coordinator path", metric);
            double[] operator = values.find("recovery", "operator path", metric);
            if (coordinator != null && operator != null) {
                rows.add(
                        new Row(
                                "recovery after one writer of four fails",
                                "coordinator path",
                                metric,
                                coordinator[0],
                                "operator path",
                                operator[0],
                                Target.NONE));
            }
        }
    }

    // ------------------------------------------------------------------------
    //  Output
    // ------------------------------------------------------------------------

    /** In columns, for a terminal. */
    String text() {
        StringBuilder text = new StringBuilder();
        String measure = "";
        String format = "  %-40s %12s %12s %8s  %-12s %s%n";
        for (Row row : rows) {
            String heading = row.measure + " (" + row.unit + ")";
            if (!heading.equals(measure)) {
                measure = heading;
                text.append(
                        String.format(
                                "%n%s%n" + format,
                                heading,
                                "at",
                                "this",
                                row.against,
                                "ratio",
                                "verdict",
                                "must reach"));
            }
            text.append(
                    String.format(
                            format,
                            row.at,
                            Numbers.format(row.value),
                            Numbers.format(row.compared),
                            row.ratioText(),
                            row.verdict(),
                            row.target));
        }
        text.append(String.format("%n%s%n", summary()));
        return text.toString();
    }

    private String summary() {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (String verdict : Arrays.asList("met", "MISSED", "reported", "not measured")) {
            counts.put(verdict, 0);
        }
        rows.forEach(row -> counts.merge(row.verdict(), 1, Integer::sum));
        StringJoiner summary = new StringJoiner(", ", rows.size() + " rows: ", ".");
        counts.forEach((verdict, count) -> summary.add(count + " " + verdict));
        failures.forEach(failure -> summary.add("\nFAILED: " + failure));
        return summary.toString();
    }

    /** For a page, which is to be read as source as well: one line per row, in columns. */
    String markdown() {
        Map<String, List<Row>> tables = new LinkedHashMap<>();
        for (Row row : rows) {
            tables.computeIfAbsent(
                            row.measure + " (" + row.unit + ")", heading -> new ArrayList<>())
                    .add(row);
        }
        StringJoiner text = new StringJoiner("\n");
        tables.forEach((heading, lines) -> text.add(markdown(heading, lines)));
        return text.toString();
    }

    private static String markdown(String heading, List<Row> rows) {
        List<String[]> lines = new ArrayList<>();
        lines.add(
                new String[] {"at", "this", rows.get(0).against, "ratio", "must reach", "verdict"});
        lines.add(new String[] {"---", "--:", "--:", "--:", "---", "---"});
        for (Row row : rows) {
            lines.add(
                    new String[] {
                        row.at,
                        Numbers.format(row.value),
                        Numbers.format(row.compared),
                        row.ratioText(),
                        row.target.toString(),
                        row.verdict()
                    });
        }
        StringBuilder text = new StringBuilder("**" + heading + "**\n\n");
        for (String[] line : lines) {
            for (int column = 0; column < line.length; column++) {
                int at = column;
                int width = lines.stream().mapToInt(cells -> cells[at].length()).max().getAsInt();
                boolean number = lines.get(1)[column].endsWith(":");
                String format = "| %" + (number ? "" : "-") + width + "s ";
                text.append(String.format(format, line[column]));
            }
            text.append("|\n");
        }
        return text.toString();
    }

    String json() {
        StringJoiner json = new StringJoiner(",\n", "{\"rows\":[\n", "\n],\n");
        for (Row row : rows) {
            json.add(
                    String.format(
                            "{\"measure\":%s,\"at\":%s,\"unit\":%s,\"value\":%s,\"against\":%s,"
                                    + "\"compared\":%s,\"ratio\":%s,\"target\":%s,"
                                    + "\"verdict\":%s}",
                            quoted(row.measure),
                            quoted(row.at),
                            quoted(row.unit),
                            number(row.value),
                            quoted(row.against),
                            number(row.compared),
                            number(row.ratio),
                            quoted(row.target.toString()),
                            quoted(row.verdict())));
        }
        StringJoiner failed = new StringJoiner(",", "\"failures\":[", "]}\n");
        failures.forEach(failure -> failed.add(quoted(failure)));
        return json.toString() + failed;
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String number(double value) {
        return Double.isNaN(value) || Double.isInfinite(value) ? "null" : Double.toString(value);
    }

    // ------------------------------------------------------------------------

    /** A metric of two jobs of this distribution that ran in turns. */
    private final class Turns {

        private final List<Double> of = new ArrayList<>();
        private final List<Double> with = new ArrayList<>();
        private final List<Double> ratios = new ArrayList<>();

        private Turns(String job, String other, String metric) {
            for (String turn : values.metrics("job", job).keySet()) {
                double[] one = values.find("job", job, turn);
                double[] two = values.find("job", other, turn);
                if (turn.endsWith(": " + metric) && two != null && two[0] > 0) {
                    of.add(one[0]);
                    with.add(two[0]);
                    ratios.add(one[0] / two[0]);
                }
            }
        }

        /** What the median of so many ratios of two equal jobs may be away from 1. */
        private double noise() {
            return Math.max(
                    Math.abs(Numbers.median(ratios) - 1),
                    2 * Numbers.standardErrorOfMedian(ratios));
        }
    }
}
