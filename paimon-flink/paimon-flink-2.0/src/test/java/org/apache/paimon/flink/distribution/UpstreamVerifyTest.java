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

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** {@code tools/upstream verify}, on two small jars with stubs of the listed classes. */
class UpstreamVerifyTest {

    private static final String SINK = "org/apache/paimon/flink/sink/";

    @TempDir private Path temporary;

    private Map<String, byte[]> old;
    private Map<String, byte[]> now;

    @BeforeEach
    void stubs() throws Exception {
        assumeTrue(ToolRun.works("bash"), "skipped: there is no 'bash' here");
        Overlays overlays =
                Overlays.read(
                        Repository.ROOT.resolve(
                                "paimon-flink/paimon-flink-2.0/src/main/distribution/overlays.txt"));
        old = new TreeMap<>();
        for (String entry : overlays.replaced()) {
            put(old, entry, "()V", 0);
        }
        for (String entry : overlays.removed()) {
            put(old, entry, "()V", 0);
        }
        now = new TreeMap<>(old);
    }

    @Test
    @DisplayName("the same classes: nothing is listed, exit code 0")
    void same() throws Exception {
        ToolRun run = verify();

        assertThat(run.exitCode).as(run.errors).isZero();
        assertThat(run.output)
                .contains("from old.jar to new.jar")
                .contains("same      org.apache.paimon.flink.sink.RowAppendTableSink\n")
                .contains("Nothing differs in signature.");
        assertThat(verify("--json").output).contains("\"same\": true, \"findings\": []");
    }

    @Test
    @DisplayName("other code under the same signature is told, and does not count")
    void otherCode() throws Exception {
        put(now, SINK + "FlinkWriteSink.class", "()V", 3);

        ToolRun run = verify();

        assertThat(run.exitCode).as(run.errors).isZero();
        assertThat(run.output).contains("code      org.apache.paimon.flink.sink.FlinkWriteSink ");
    }

    @Test
    @DisplayName("each kind of difference is listed with its class, exit code 1")
    void differences() throws Exception {
        put(now, SINK + "RowAppendTableSink.class", "(ILjava/util/List;)V", 0);
        now.remove(SINK + "coordinator/CheckpointCommittables.class");
        now.remove(SINK + "FlinkWriteSink$1.class");
        put(now, "org/apache/paimon/tag/SavepointTagger.class", "()V", 0);
        put(now, SINK + "RowAppendTableSink$Fresh.class", "()V", 0);

        ToolRun run = verify();

        assertThat(run.exitCode).as(run.errors).isEqualTo(1);
        assertThat(run.output)
                .contains(
                        "differs   org.apache.paimon.flink.sink.RowAppendTableSink\n",
                        "          method removed: public void stub()\n",
                        "          method added: public void stub(int, List)\n",
                        "gone      org.apache.paimon.flink.sink.coordinator.CheckpointCommittables\n",
                        "vanished  org.apache.paimon.flink.sink.FlinkWriteSink$1\n",
                        "taken     org.apache.paimon.tag.SavepointTagger\n",
                        "unlisted  org.apache.paimon.flink.sink.RowAppendTableSink$Fresh\n",
                        "Needs work: 5 listed.");
        assertThat(verify("--json").output)
                .startsWith("{\"from\": \"old.jar\", \"to\": \"new.jar\", \"same\": false, ")
                .contains(
                        "{\"kind\": \"taken\", \"class\": \"org.apache.paimon.tag.SavepointTagger\"");
    }

    @Test
    @DisplayName("bad input: a file that is no jar, or no connector, is refused with exit code 2")
    void noConnector() throws Exception {
        Path text = temporary.resolve("text.jar");
        Files.write(text, "no jar\n".getBytes(StandardCharsets.UTF_8));
        ToolRun noJar = run(text, text);
        assertThat(noJar.exitCode).isEqualTo(2);
        assertThat(noJar.errors).contains("text.jar' is no jar");

        Map<String, byte[]> others = new TreeMap<>();
        put(others, "org/apache/paimon/Other.class", "()V", 0);
        Path other = write("other.jar", others);
        ToolRun noConnector = run(write("old.jar", old), other);
        assertThat(noConnector.exitCode).isEqualTo(2);
        assertThat(noConnector.errors).contains("has none of the classes that we replace");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "verify | verify needs a jar",
                "verify nowhere.jar | there is no file 'nowhere.jar'",
                "verify a --dry-run | unknown option '--dry-run' of verify",
                "verify a --from nowhere.jar | option --from: there is no file 'nowhere.jar'"
            },
            quoteCharacter = '"')
    @DisplayName("bad input: what is wrong with the command line is said, with exit code 2")
    void badOptions(String arguments, String message) throws Exception {
        ToolRun run = ToolRun.upstream(arguments.split(" "));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.errors).contains(message).contains("see tools/upstream --help");
    }

    // ------------------------------------------------------------------------

    private ToolRun verify(String... more) throws Exception {
        return run(write("old.jar", old), write("new.jar", now), more);
    }

    private static ToolRun run(Path from, Path to, String... more) throws Exception {
        String[] arguments = new String[4 + more.length];
        arguments[0] = "verify";
        arguments[1] = to.toString();
        arguments[2] = "--from";
        arguments[3] = from.toString();
        System.arraycopy(more, 0, arguments, 4, more.length);
        ToolRun run = ToolRun.upstream(arguments);
        assumeFalse(
                run.exitCode == 2
                        && (run.errors.contains("japicmp cannot be fetched")
                                || run.errors.contains("no 'mvn' found")),
                () -> "skipped: " + run.errors.trim());
        return run;
    }

    private Path write(String name, Map<String, byte[]> entries) throws Exception {
        Path jar = temporary.resolve(name);
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
        }
        return jar;
    }

    /** A class with one method, whose body is longer by so many instructions. */
    private static void put(
            Map<String, byte[]> entries, String entry, String descriptor, int instructions) {
        if (!entry.endsWith(".class")) {
            return;
        }
        String name = entry.substring(0, entry.length() - ".class".length());
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(
                Opcodes.V11,
                Opcodes.ACC_PUBLIC | Opcodes.ACC_SUPER,
                name,
                null,
                "java/lang/Object",
                null);
        MethodVisitor method =
                writer.visitMethod(Opcodes.ACC_PUBLIC, "stub", descriptor, null, null);
        method.visitCode();
        for (int i = 0; i < instructions; i++) {
            method.visitInsn(Opcodes.NOP);
        }
        method.visitInsn(Opcodes.RETURN);
        method.visitMaxs(0, 0);
        method.visitEnd();
        writer.visitEnd();
        entries.put(entry, writer.toByteArray());
    }
}
