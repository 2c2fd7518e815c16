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

import japicmp.cmp.JApiCmpArchive;
import japicmp.cmp.JarArchiveComparator;
import japicmp.cmp.JarArchiveComparatorOptions;
import japicmp.model.AccessModifier;
import japicmp.model.JApiChangeStatus;
import japicmp.model.JApiClass;
import japicmp.model.JApiConstructor;
import japicmp.model.JApiField;
import japicmp.model.JApiImplementedInterface;
import japicmp.model.JApiMethod;

import javassist.CtBehavior;
import javassist.CtClass;
import javassist.CtField;
import javassist.CtMethod;
import javassist.Modifier;
import javassist.bytecode.BadBytecode;
import javassist.bytecode.ExceptionsAttribute;
import javassist.bytecode.SignatureAttribute;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * The second half of {@code tools/upstream verify}: what of the classes that overlays.txt lists has
 * changed from one jar to another. Arguments: the list, the one jar, the other, and --json or
 * nothing. The usage of the tool says what is found, and what the exit codes mean.
 */
public final class CompareSignatures {

    /** Those that are part of a signature; of the others, some have another meaning here. */
    private static final int METHOD_MODIFIERS =
            Modifier.PUBLIC
                    | Modifier.PROTECTED
                    | Modifier.STATIC
                    | Modifier.FINAL
                    | Modifier.ABSTRACT;

    private final Path from;
    private final Path to;

    /** Class names, as in a stack trace, by what the list says of them. */
    private final Map<String, Set<String>> listed = new TreeMap<>();

    private final List<Finding> findings = new ArrayList<>();
    private final Set<String> otherCode = new TreeSet<>();
    private final Set<String> same = new TreeSet<>();

    private CompareSignatures(Path from, Path to) {
        this.from = from;
        this.to = to;
    }

    public static void main(String[] args) throws Exception {
        Logger.getLogger("japicmp").setLevel(Level.OFF);
        CompareSignatures comparison =
                new CompareSignatures(Paths.get(args[1]), Paths.get(args[2]));
        try {
            comparison.compare(Files.readAllLines(Paths.get(args[0])));
        } catch (UnusableJarException e) {
            System.err.println("tools/upstream: " + e.getMessage());
            System.exit(2);
        } catch (IOException | RuntimeException e) {
            // Not 1, which says that something differs.
            e.printStackTrace();
            System.exit(2);
        }
        System.out.print(args.length > 3 ? comparison.json() : comparison.text());
        System.out.flush();
        System.exit(comparison.findings.isEmpty() ? 0 : 1);
    }

    private void compare(List<String> list) throws IOException, UnusableJarException {
        for (String verb : new String[] {"replaced", "added", "removed"}) {
            listed.put(
                    verb,
                    list.stream()
                            .filter(line -> line.startsWith(verb + " "))
                            .filter(line -> line.endsWith(".class"))
                            .map(line -> className(line.substring(verb.length()).trim()))
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
        Map<String, byte[]> old = read(from);
        Map<String, byte[]> now = read(to);

        Map<String, List<String>> changes = changes(old, now);
        for (String name : listed.get("replaced")) {
            if (!now.containsKey(name)) {
                add("gone", name, "is replaced by us, and the other jar has none of that name");
            } else if (!old.containsKey(name)) {
                add("differs", name, "is only in " + to.getFileName());
            } else if (changes.containsKey(name)) {
                findings.add(new Finding("differs", name, changes.get(name)));
            } else if (Arrays.equals(old.get(name), now.get(name))) {
                same.add(name);
            } else {
                otherCode.add(name);
            }
        }
        for (String name : listed.get("added")) {
            if (now.containsKey(name)) {
                add("taken", name, "is added by us, and the other jar has a class of that name");
            }
        }
        for (String name : listed.get("removed")) {
            if (!now.containsKey(name)) {
                add("vanished", name, "is removed by us, and the other jar has none of that name");
            }
        }
        for (String name : now.keySet()) {
            boolean known = listed.values().stream().anyMatch(names -> names.contains(name));
            if (name.contains("$") && !known && listed.get("replaced").contains(outer(name))) {
                add("unlisted", name, "belongs to a replaced class, and would stay in the jar");
            }
        }
    }

    private void add(String kind, String name, String what) {
        findings.add(new Finding(kind, name, List.of(what)));
    }

    /** The classes of the list, and what is nested in them. */
    private Map<String, byte[]> read(Path jar) throws IOException, UnusableJarException {
        Map<String, byte[]> classes = new TreeMap<>();
        Set<String> wanted =
                listed.values().stream()
                        .flatMap(Set::stream)
                        .map(CompareSignatures::outer)
                        .collect(Collectors.toSet());
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : zip.stream().collect(Collectors.toList())) {
                String name = className(entry.getName());
                if (entry.getName().endsWith(".class") && wanted.contains(outer(name))) {
                    try (InputStream in = zip.getInputStream(entry)) {
                        classes.put(name, in.readAllBytes());
                    }
                }
            }
        } catch (ZipException e) {
            throw new UnusableJarException("'" + jar + "' is no jar: " + e.getMessage());
        }
        if (listed.get("replaced").stream().noneMatch(classes::containsKey)) {
            throw new UnusableJarException(
                    "'" + jar + "' has none of the classes that we replace: is it the connector?");
        }
        return classes;
    }

    // ------------------------------------------------------------------------
    //  Signatures
    // ------------------------------------------------------------------------

    /** What differs in the replaced classes that are in both, by class. */
    private Map<String, List<String>> changes(Map<String, byte[]> old, Map<String, byte[]> now)
            throws IOException {
        JarArchiveComparatorOptions options = new JarArchiveComparatorOptions();
        options.setAccessModifier(AccessModifier.PACKAGE_PROTECTED);
        options.setNoAnnotations(true);
        options.getIgnoreMissingClasses().setIgnoreAllMissingClasses(true);
        options.setClassPathMode(JarArchiveComparatorOptions.ClassPathMode.TWO_SEPARATE_CLASSPATHS);
        options.setOldClassPath(List.of(from.toString()));
        options.setNewClassPath(List.of(to.toString()));
        Map<String, List<String>> changes = new TreeMap<>();
        for (JApiClass type :
                new JarArchiveComparator(options).compare(archive(old, now), archive(now, old))) {
            List<String> lines = new ArrayList<>();
            describe(type, lines);
            if (!lines.isEmpty()) {
                changes.put(type.getFullyQualifiedName(), lines);
            }
        }
        return changes;
    }

    private JApiCmpArchive archive(Map<String, byte[]> classes, Map<String, byte[]> others)
            throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> type : classes.entrySet()) {
                if (listed.get("replaced").contains(type.getKey())
                        && others.containsKey(type.getKey())) {
                    zip.putNextEntry(new ZipEntry(type.getKey().replace('.', '/') + ".class"));
                    zip.write(type.getValue());
                }
            }
        }
        return new JApiCmpArchive(bytes.toByteArray(), "n.a.", "replaced.jar");
    }

    private static void describe(JApiClass type, List<String> lines) {
        difference(
                "class",
                type.getChangeStatus(),
                type.getOldClass(),
                type.getNewClass(),
                CompareSignatures::head,
                lines);
        for (JApiImplementedInterface implemented : type.getInterfaces()) {
            if (implemented.getChangeStatus() != JApiChangeStatus.UNCHANGED) {
                lines.add(
                        "interface "
                                + word(implemented.getChangeStatus())
                                + ": "
                                + implemented.getFullyQualifiedName());
            }
        }
        for (JApiConstructor constructor : type.getConstructors()) {
            difference(
                    "constructor",
                    constructor.getChangeStatus(),
                    constructor.getOldConstructor(),
                    constructor.getNewConstructor(),
                    CompareSignatures::signature,
                    lines);
        }
        for (JApiMethod method : type.getMethods()) {
            difference(
                    "method",
                    method.getChangeStatus(),
                    method.getOldMethod(),
                    method.getNewMethod(),
                    CompareSignatures::signature,
                    lines);
        }
        for (JApiField field : type.getFields()) {
            difference(
                    "field",
                    field.getChangeStatus(),
                    field.getOldFieldOptional(),
                    field.getNewFieldOptional(),
                    CompareSignatures::signature,
                    lines);
        }
    }

    /** Adds a line if the member is not what it was; with package names only if they differ. */
    private static <T> void difference(
            String kind,
            JApiChangeStatus status,
            Optional<? extends T> old,
            Optional<? extends T> now,
            Function<T, String> signature,
            List<String> lines) {
        String before = old.map(signature).orElse("");
        String after = now.map(signature).orElse("");
        if (status == JApiChangeStatus.UNCHANGED || before.equals(after)) {
            return;
        }
        if (!withoutPackages(before).equals(withoutPackages(after))) {
            before = withoutPackages(before);
            after = withoutPackages(after);
        }
        String arrow = before.isEmpty() || after.isEmpty() ? "" : " -> ";
        lines.add(kind + " " + word(status) + ": " + before + arrow + after);
    }

    private static String withoutPackages(String signature) {
        return signature.replaceAll("\\b([a-z0-9_]+\\.)+(?=[A-Z])", "");
    }

    private static String word(JApiChangeStatus status) {
        switch (status) {
            case NEW:
                return "added";
            case REMOVED:
                return "removed";
            default:
                return "changed";
        }
    }

    /** Modifiers, type parameters, superclass; interfaces have lines of their own. */
    private static String head(CtClass type) {
        String generic = type.getGenericSignature();
        return modifiers(type.getModifiers() & ~Modifier.SYNCHRONIZED)
                + (type.isInterface() ? "" : "class ")
                + simple(type.getName())
                + (generic == null
                        ? " extends " + type.getClassFile2().getSuperclass()
                        : " of " + generic);
    }

    private static String signature(CtBehavior behavior) {
        String descriptor =
                behavior.getGenericSignature() == null
                        ? behavior.getSignature()
                        : behavior.getGenericSignature();
        SignatureAttribute.MethodSignature types;
        try {
            types = SignatureAttribute.toMethodSignature(descriptor);
        } catch (BadBytecode e) {
            throw new IllegalStateException(behavior + " has the signature " + descriptor, e);
        }
        ExceptionsAttribute exceptions = behavior.getMethodInfo2().getExceptionsAttribute();
        return modifiers(behavior.getModifiers() & METHOD_MODIFIERS)
                + joined("<", types.getTypeParameters(), "> ")
                + (behavior instanceof CtMethod
                        ? types.getReturnType() + " " + behavior.getName()
                        : simple(behavior.getDeclaringClass().getName()))
                + "("
                + joined("", types.getParameterTypes(), "")
                + ")"
                + (exceptions == null ? "" : joined(" throws ", exceptions.getExceptions(), ""));
    }

    private static String signature(CtField field) {
        String descriptor =
                field.getGenericSignature() == null
                        ? field.getSignature()
                        : field.getGenericSignature();
        Object constant = field.getConstantValue();
        try {
            return modifiers(field.getModifiers())
                    + SignatureAttribute.toTypeSignature(descriptor)
                    + " "
                    + field.getName()
                    + (constant == null ? "" : " = " + constant);
        } catch (BadBytecode e) {
            throw new IllegalStateException(field + " has the signature " + descriptor, e);
        }
    }

    private static String joined(String before, Object[] values, String after) {
        return values.length == 0
                ? ""
                : Arrays.stream(values)
                        .map(String::valueOf)
                        .collect(Collectors.joining(", ", before, after));
    }

    private static String modifiers(int modifiers) {
        String text = Modifier.toString(modifiers);
        return text.isEmpty() ? "" : text + " ";
    }

    private static String simple(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static String className(String entry) {
        return entry.replaceAll("\\.class$", "").replace('/', '.');
    }

    private static String outer(String name) {
        return name.replaceAll("\\$.*", "");
    }

    // ------------------------------------------------------------------------
    //  What comes out
    // ------------------------------------------------------------------------

    private String text() {
        StringBuilder text = new StringBuilder();
        text.append(listed.get("replaced").size())
                .append(" replaced classes, from ")
                .append(from.getFileName())
                .append(" to ")
                .append(to.getFileName())
                .append(":\n");
        for (Finding finding : findings) {
            text.append(String.format("%-9s %s%n", finding.kind, finding.name));
            finding.lines.forEach(line -> text.append("          ").append(line).append('\n'));
        }
        otherCode.forEach(
                name -> text.append(String.format("code      %s (signature as it was)%n", name)));
        same.forEach(name -> text.append(String.format("same      %s%n", name)));
        return text.append(
                        findings.isEmpty()
                                ? "Nothing differs in signature.\n"
                                : "Needs work: " + findings.size() + " listed.\n")
                .toString();
    }

    private String json() {
        String found =
                findings.stream()
                        .map(
                                finding ->
                                        String.format(
                                                "{\"kind\": %s, \"class\": %s, \"changes\": %s}",
                                                quoted(finding.kind),
                                                quoted(finding.name),
                                                array(finding.lines)))
                        .collect(Collectors.joining(", ", "[", "]"));
        return String.format(
                "{\"from\": %s, \"to\": %s, \"same\": %s, \"findings\": %s, \"code\": %s,"
                        + " \"unchanged\": %s}%n",
                quoted(from.getFileName().toString()),
                quoted(to.getFileName().toString()),
                findings.isEmpty(),
                found,
                array(otherCode),
                array(same));
    }

    private static String array(Iterable<String> values) {
        List<String> quoted = new ArrayList<>();
        values.forEach(value -> quoted.add(quoted(value)));
        return "[" + String.join(", ", quoted) + "]";
    }

    private static String quoted(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.append('"').toString();
    }

    private static final class Finding {

        private final String kind;
        private final String name;
        private final List<String> lines;

        private Finding(String kind, String name, List<String> lines) {
            this.kind = kind;
            this.name = name;
            this.lines = lines;
        }
    }

    private static final class UnusableJarException extends Exception {

        private UnusableJarException(String message) {
            super(message);
        }
    }
}
