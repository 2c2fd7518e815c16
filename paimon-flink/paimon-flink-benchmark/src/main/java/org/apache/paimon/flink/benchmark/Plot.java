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

import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Draws cost over the number of writers, for both jars, as a PNG. */
final class Plot {

    private static final int WIDTH = 560;
    private static final int HEIGHT = 420;
    private static final Color[] COLORS = {new Color(0, 98, 155), new Color(150, 150, 150)};

    private Plot() {}

    /**
     * Writes nothing when there are fewer than two sizes to draw.
     *
     * @return what was measured and has no place on a logarithmic axis
     */
    static List<String> draw(Values values, Path file) throws IOException {
        List<String> leftOut = new ArrayList<>();
        List<XYChart> charts = new ArrayList<>();
        add(
                charts,
                leftOut,
                chart("One checkpoint, 1 file per writer", "CPU time of the event loop (ms)"),
                values,
                "checkpoint",
                "loop CPU ms");
        add(
                charts,
                leftOut,
                chart(
                        "Restore, each writer replays 1 report",
                        "CPU time of the threads at work (ms)"),
                values,
                "restore",
                "restore CPU ms");
        if (!charts.isEmpty()) {
            BitmapEncoder.saveBitmap(
                    charts, 1, charts.size(), file.toString(), BitmapEncoder.BitmapFormat.PNG);
        }
        return leftOut;
    }

    private static XYChart chart(String title, String yAxis) {
        XYChart chart =
                new XYChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .xAxisTitle("writers")
                        .yAxisTitle(yAxis)
                        .build();
        XYStyler styler = chart.getStyler();
        styler.setXAxisLogarithmic(true);
        styler.setYAxisLogarithmic(true);
        styler.setXAxisDecimalPattern("#,###");
        styler.setYAxisDecimalPattern("#,###");
        styler.setLegendPosition(Styler.LegendPosition.InsideNW);
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setSeriesColors(COLORS);
        return chart;
    }

    private static void add(
            List<XYChart> charts,
            List<String> leftOut,
            XYChart chart,
            Values values,
            String measure,
            String metric) {
        TreeMap<Integer, double[]> byWriters = new TreeMap<>();
        for (String at : values.cases(measure)) {
            double[] pair = values.find(measure, at, metric);
            if (!Values.oneFileEach(at) || pair == null) {
                continue;
            }
            // Not: NaN, of what was not measured.
            double least = Math.min(pair[0], pair[1]);
            if (least > 0) {
                byWriters.put(Values.writers(at), pair);
            } else {
                leftOut.add(String.format("%s at %s is %s", metric, at, least));
            }
        }
        if (byWriters.size() < 2) {
            return;
        }
        double[] x = byWriters.keySet().stream().mapToDouble(Integer::doubleValue).toArray();
        double least =
                byWriters.values().stream().mapToDouble(v -> Math.min(v[0], v[1])).min().orElse(1);
        double most =
                byWriters.values().stream().mapToDouble(v -> Math.max(v[0], v[1])).max().orElse(1);
        // Whole powers of ten, which alone get a label.
        chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))));
        chart.getStyler().setYAxisMax(Math.pow(10, Math.ceil(Math.log10(most))));
        String[] names = {"this distribution", "other jar"};
        for (int jar = 0; jar < 2; jar++) {
            int which = jar;
            double[] y = byWriters.values().stream().mapToDouble(v -> v[which]).toArray();
            chart.addSeries(names[jar], x, y)
                    .setMarker(jar == 0 ? SeriesMarkers.CIRCLE : SeriesMarkers.SQUARE);
        }
        charts.add(chart);
    }
}
