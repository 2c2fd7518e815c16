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

package org.apache.paimon.flink.distribution;

import org.apache.paimon.CoreOptions;
import org.apache.paimon.flink.FlinkConnectorOptions;
import org.apache.paimon.flink.procedure.ProcedureBase;
import org.apache.paimon.flink.sink.coordinator.CoordinatorCommitOptions;
import org.apache.paimon.options.ConfigOption;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.utils.TimeUtils;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.ProcedureHint;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.apache.paimon.flink.distribution.Repository.ROOT;
import static org.apache.paimon.flink.distribution.Repository.text;
import static org.assertj.core.api.Assertions.assertThat;

/** The pages of reference and operations list what is in the code, no more and no less. */
class ReferenceTest {

    private static final Path SERVICES =
            ROOT.resolve(
                    "paimon-flink/paimon-flink-common/src/main/resources/META-INF/services/"
                            + "org.apache.paimon.factories.Factory");

    /** Paimon's options that decide what our classes do, and are read through its own methods. */
    private static final ConfigOption<?>[] OPTIONS_OF_PAIMON = {
        CoreOptions.BUCKET,
        CoreOptions.WRITE_ONLY,
        CoreOptions.COMMIT_FORCE_CREATE_SNAPSHOT,
        CoreOptions.TAG_CALLBACKS,
        CoreOptions.TAG_DEFAULT_TIME_RETAINED,
        FlinkConnectorOptions.SINK_OPERATOR_UID_SUFFIX
    };

    private static final Pattern OPTION_OF_PAIMON =
            Pattern.compile("FlinkConnectorOptions\\s*\\.\\s*([A-Z][A-Z_]+)");
    private static final Pattern COLUMN = Pattern.compile("(\\w+) ([A-Z]+(?:\\(\\d+\\))?)");
    private static final Pattern ITEM = Pattern.compile("\\badd\\(\\s*\"(\\w+)\"");
    private static final Pattern STATE = Pattern.compile("\"([a-z_]+_states?)\"");

    private final MarkdownTables reference =
            MarkdownTables.of(text(ROOT.resolve("docs/reference.md")));

    @Test
    @DisplayName("The options table has the options of the code, with their types and defaults")
    void optionsAreListed() throws Exception {
        Map<String, String> inTheCode = new TreeMap<>();
        for (ConfigOption<?> option : options()) {
            inTheCode.put(option.key(), typeOf(option) + ", " + defaultOf(option));
        }
        Map<String, String> listed = new TreeMap<>();
        for (List<String> row : reference.rows("Options", "option")) {
            listed.put(row.get(0), row.get(1) + ", " + row.get(2));
        }
        assertThat(listed).isEqualTo(inTheCode);
    }

    @Test
    @DisplayName("Each procedure is listed, with its arguments, its result columns and its items")
    void proceduresAreListed() throws Exception {
        List<ProcedureBase> procedures = procedures();
        assertThat(reference.headings())
                .filteredOn(heading -> heading.startsWith("sys."))
                .containsExactlyInAnyOrderElementsOf(
                        procedures.stream()
                                .map(procedure -> "sys." + procedure.identifier())
                                .collect(Collectors.toList()));
        for (ProcedureBase procedure : procedures) {
            String heading = "sys." + procedure.identifier();
            Method call = callOf(procedure);
            assertThat(firstCells(reference.rows(heading, "argument"), 3))
                    .as("arguments of %s", heading)
                    .isEqualTo(arguments(call));
            assertThat(firstCells(reference.rows(heading, "column"), 2))
                    .as("columns of %s", heading)
                    .isEqualTo(columns(call));
        }
        assertThat(firstCells(reference.rows("sys.rollback_to_savepoint", "item"), 1))
                .containsExactlyInAnyOrderElementsOf(
                        allIn(ITEM, source("org/apache/paimon/flink/savepoint/SavepointRollback")));
    }

    @Test
    @DisplayName("L1: the properties of snapshots are listed")
    void propertiesAreListed() throws Exception {
        TreeSet<String> properties = new TreeSet<>();
        for (Field field : CommitProperties.class.getDeclaredFields()) {
            if (isPublicConstant(field, String.class)) {
                properties.add((String) field.get(null));
            }
        }
        assertThat(firstCells(reference.rows("Snapshot properties", "property"), 1))
                .containsExactlyInAnyOrderElementsOf(properties);
    }

    @Test
    @DisplayName("S3, S6: the names of states are listed")
    void statesAreListed() {
        TreeSet<String> states = new TreeSet<>();
        MainSources.all().forEach(source -> states.addAll(allIn(STATE, source.text())));
        assertThat(firstCells(reference.rows("State names", "state"), 1))
                .containsExactlyInAnyOrderElementsOf(states);
    }

    @Test
    @DisplayName("Each warning and error of the code is among the messages, and none beside them")
    void messagesAreExplained() {
        MarkdownTables operations = MarkdownTables.of(text(ROOT.resolve("docs/operations.md")));
        List<String> explained = operations.codeInFirstCells("message");
        List<String> unexplained = new ArrayList<>();
        TreeSet<String> texts = new TreeSet<>();
        int messages = 0;
        for (MainSources.Source source : MainSources.all()) {
            texts.addAll(source.texts());
            for (String message : source.messages()) {
                messages++;
                if (explained.stream().noneMatch(quote -> begins(message, quote))) {
                    unexplained.add(source.name() + ": " + message);
                }
            }
        }
        assertThat(unexplained).as("messages that docs/operations.md does not explain").isEmpty();
        assertThat(explained)
                .as("messages of docs/operations.md that are in the code")
                .allMatch(quote -> texts.stream().anyMatch(text -> begins(text, quote)));
        assertThat(messages).isGreaterThan(120);
    }

    // ------------------------------------------------------------------------
    //  The code
    // ------------------------------------------------------------------------

    private static List<ConfigOption<?>> options() throws Exception {
        List<ConfigOption<?>> options = new ArrayList<>();
        for (Field field : CoordinatorCommitOptions.class.getDeclaredFields()) {
            if (isPublicConstant(field, ConfigOption.class)) {
                options.add((ConfigOption<?>) field.get(null));
            }
        }
        TreeSet<String> named = new TreeSet<>();
        MainSources.all().forEach(source -> named.addAll(allIn(OPTION_OF_PAIMON, source.text())));
        for (String name : named) {
            options.add((ConfigOption<?>) FlinkConnectorOptions.class.getField(name).get(null));
        }
        for (ConfigOption<?> option : OPTIONS_OF_PAIMON) {
            options.add(option);
        }
        return options;
    }

    private static String typeOf(ConfigOption<?> option) throws Exception {
        Method type = ConfigOption.class.getDeclaredMethod("getClazz");
        type.setAccessible(true);
        return ((Class<?>) type.invoke(option)).getSimpleName().toLowerCase(Locale.ROOT);
    }

    private static String defaultOf(ConfigOption<?> option) {
        Object value = option.defaultValue();
        if (value == null || "".equals(value)) {
            return "none";
        }
        return value instanceof Duration
                ? TimeUtils.formatWithHighestUnit((Duration) value)
                : value.toString();
    }

    /** Those that the distribution adds. */
    private static List<ProcedureBase> procedures() throws Exception {
        List<ProcedureBase> procedures = new ArrayList<>();
        for (String line : text(SERVICES).split("\n")) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                procedures.add(
                        (ProcedureBase)
                                Class.forName(line.trim()).getDeclaredConstructor().newInstance());
            }
        }
        return procedures;
    }

    private static Method callOf(ProcedureBase procedure) {
        for (Method method : procedure.getClass().getDeclaredMethods()) {
            if (method.getName().equals("call") && !method.isBridge()) {
                return method;
            }
        }
        throw new AssertionError(procedure.getClass() + " has no method call");
    }

    private static List<String> arguments(Method call) {
        List<String> arguments = new ArrayList<>();
        for (ArgumentHint hint : call.getAnnotation(ProcedureHint.class).argument()) {
            arguments.add(
                    hint.name()
                            + " | "
                            + hint.type().value()
                            + " | "
                            + (hint.isOptional() ? "no" : "yes"));
        }
        return arguments;
    }

    private static List<String> columns(Method call) {
        List<String> columns = new ArrayList<>();
        String row = call.getAnnotation(DataTypeHint.class).value();
        Matcher column = COLUMN.matcher(row.substring("ROW<".length(), row.length() - 1));
        while (column.find()) {
            columns.add(column.group(1) + " | " + column.group(2));
        }
        return columns;
    }

    private static boolean isPublicConstant(Field field, Class<?> type) {
        return Modifier.isStatic(field.getModifiers())
                && Modifier.isPublic(field.getModifiers())
                && field.getType() == type;
    }

    private static String source(String className) {
        return text(
                ROOT.resolve("paimon-flink/paimon-flink-common/src/main/java")
                        .resolve(className + ".java"));
    }

    // ------------------------------------------------------------------------

    /** Whether a text of the code begins with what a page quotes; both leave values out. */
    private static boolean begins(String text, String quote) {
        return withoutOuterValues(text).startsWith(withoutOuterValues(quote));
    }

    private static String withoutOuterValues(String text) {
        return text.replaceAll("^[… :]+", "").replaceAll("[… ]+$", "");
    }

    private static List<String> firstCells(List<List<String>> rows, int count) {
        return rows.stream()
                .map(row -> String.join(" | ", row.subList(0, count)))
                .collect(Collectors.toList());
    }

    private static TreeSet<String> allIn(Pattern pattern, String text) {
        TreeSet<String> all = new TreeSet<>();
        Matcher found = pattern.matcher(text);
        while (found.find()) {
            all.add(found.group(1));
        }
        return all;
    }
}
