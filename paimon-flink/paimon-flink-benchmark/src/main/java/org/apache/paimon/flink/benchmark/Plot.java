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
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Draws cost over the number of writers, for both jars, as a PNG. */
final class Plot {

    private Plot() {}

    static void draw(Map<String, Map<String, double[]>> values, Path file) throws IOException {
        XYChart checkpoint =
                chart("One checkpoint, 1 file per writer", "CPU ms of the coordinator's thread");
        add(checkpoint, values, "checkpoint", "loop CPU ms");
        XYChart restore = chart("Restore, all writers replay 1 report", "CPU ms of the process");
        add(restore, values, "restore", "restore CPU ms");
        BitmapEncoder.saveBitmap(
                java.util.Arrays.asList(checkpoint, restore),
                1,
                2,
                file.toString(),
                BitmapEncoder.BitmapFormat.PNG);
    }

    private static XYChart chart(String title, String yAxis) {
        XYChart chart =
                new XYChartBuilder()
                        .width(640)
                        .height(440)
                        .title(title)
                        .xAxisTitle("writers")
                        .yAxisTitle(yAxis)
                        .build();
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideNW);
        chart.getStyler().setChartBackgroundColor(Color.WHITE);
        chart.getStyler().setSeriesColors(new Color[] {new Color(0, 98, 155), Color.GRAY});
        return chart;
    }

    private static void add(
            XYChart chart,
            Map<String, Map<String, double[]>> values,
            String measure,
            String metric) {
        TreeMap<Integer, double[]> byWriters = new TreeMap<>();
        values.forEach(
                (key, metrics) -> {
                    String[] measureAndCase = key.split("\t");
                    String[] parameters = measureAndCase[1].split("[ ,]+");
                    if (measureAndCase[0].equals(measure)
                            && parameters[2].equals("1")
                            && metrics.containsKey(metric)) {
                        byWriters.put(Integer.parseInt(parameters[0]), metrics.get(metric));
                    }
                });
        if (byWriters.isEmpty()) {
            return;
        }
        double[] x = byWriters.keySet().stream().mapToDouble(Integer::doubleValue).toArray();
        String[] names = {"this distribution", "released"};
        for (int jar = 0; jar < 2; jar++) {
            int which = jar;
            double[] y = byWriters.values().stream().mapToDouble(v -> v[which]).toArray();
            chart.addSeries(names[jar], x, y)
                    .setMarker(jar == 0 ? SeriesMarkers.CIRCLE : SeriesMarkers.SQUARE);
        }
    }
}
