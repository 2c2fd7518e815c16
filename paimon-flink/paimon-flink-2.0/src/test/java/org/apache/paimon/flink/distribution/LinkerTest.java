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

import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link Linker} finds what breaks when a class is replaced by one that is not quite like it. Each
 * case writes a caller as a compiler would have written it against the old class, and links it with
 * the new one.
 */
class LinkerTest {

    private static final String CALLER = "linkage/Caller";
    private static final String TARGET = "linkage/Target";

    private final Map<String, byte[]> classes = new HashMap<>();

    @Test
    void aClassWhoseReferencesAllResolveIsAccepted() {
        defineTarget();
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "change", "()V");

        assertThat(complaints()).isEmpty();
    }

    @Test
    void aRenamedMethodIsNamed() {
        defineTarget();
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "renamed", "()V");

        assertThat(complaints()).singleElement().asString().contains("NoSuchMethod", "renamed");
    }

    /** {@code Class.getClassLoader()} is not for lookups, but for every class. */
    @Test
    void aMethodThatLooksAtItsCallerIsNoComplaint() {
        defineTarget();
        ClassWriter writer = writer(CALLER, Opcodes.ACC_PUBLIC, "java/lang/Object");
        MethodVisitor code = methodWithTarget(writer);
        code.visitLdcInsn(Type.getObjectType(CALLER));
        code.visitMethodInsn(
                Opcodes.INVOKEVIRTUAL,
                "java/lang/Class",
                "getClassLoader",
                "()Ljava/lang/ClassLoader;",
                false);
        code.visitInsn(Opcodes.POP);
        finish(code);
        define(CALLER, writer);

        assertThat(complaints()).isEmpty();
    }

    @Test
    void aMethodWithAnotherSignatureIsNamed() {
        defineTarget();
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "change", "()I");

        assertThat(complaints()).singleElement().asString().contains("NoSuchMethod", "change");
    }

    @Test
    void aMethodThatIsNoLongerStaticIsNamed() {
        defineTarget();
        defineCaller("java/lang/Object", Opcodes.INVOKESTATIC, "change", "()V");

        assertThat(complaints()).singleElement().asString().contains("IllegalAccess", "change");
    }

    @Test
    void aMethodThatBecamePrivateIsNamed() {
        defineTarget();
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "hidden", "()V");

        assertThat(complaints()).singleElement().asString().contains("IllegalAccess", "hidden");
    }

    @Test
    void aClassThatBecameAnInterfaceIsNamed() {
        defineInterface();
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "change", "()V");

        assertThat(complaints())
                .anySatisfy(c -> assertThat(c).contains("was a class, and is an interface"));
    }

    @Test
    void aFieldOfAnotherTypeIsNamed() {
        defineTarget();
        defineCallerOfField(Opcodes.GETFIELD, "count", "J");

        assertThat(complaints()).singleElement().asString().contains("NoSuchField", "count");
    }

    @Test
    void aFieldThatBecameFinalAndIsWrittenIsNamed() {
        defineTarget();
        defineCallerOfField(Opcodes.PUTFIELD, "limit", "I");

        assertThat(complaints()).singleElement().asString().contains("written, and is final");
    }

    @Test
    void aRemovedClassIsNamed() {
        defineCaller("java/lang/Object", Opcodes.INVOKEVIRTUAL, "change", "()V");

        assertThat(complaints())
                .isNotEmpty()
                .allSatisfy(
                        c ->
                                assertThat(c)
                                        .containsPattern("NoClassDefFoundError|ClassNotFound")
                                        .contains("Target"));
    }

    @Test
    void aNewAbstractMethodThatASubclassDoesNotKnowIsNamed() {
        defineInterface();
        ClassWriter writer = writer(CALLER, Opcodes.ACC_PUBLIC, "java/lang/Object", TARGET);
        define(CALLER, writer);

        assertThat(complaints())
                .singleElement()
                .asString()
                .contains("linkage.Caller is not abstract, but lacks", "change()");
    }

    @Test
    void aSuperclassThatBecameFinalIsNamed() {
        ClassWriter target =
                writer(TARGET, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, "java/lang/Object");
        define(TARGET, target);
        defineCaller(TARGET, Opcodes.INVOKEVIRTUAL, "change", "()V");

        assertThat(complaints()).singleElement().asString().contains("cannot be loaded");
    }

    private List<String> complaints() {
        ClassLoader loader =
                new ClassLoader(getClass().getClassLoader()) {
                    @Override
                    protected Class<?> findClass(String name) throws ClassNotFoundException {
                        byte[] bytes = classes.get(name.replace('.', '/'));
                        if (bytes == null) {
                            throw new ClassNotFoundException(name);
                        }
                        return defineClass(name, bytes, 0, bytes.length);
                    }
                };
        return new Linker(loader)
                .complaints(CALLER.replace('/', '.'), References.of(classes.get(CALLER)));
    }

    private void define(String name, ClassWriter writer) {
        writer.visitEnd();
        classes.put(name, writer.toByteArray());
    }

    /** A class with the methods and fields that the callers look for, or no longer find. */
    private void defineTarget() {
        ClassWriter writer = writer(TARGET, Opcodes.ACC_PUBLIC, "java/lang/Object");
        writer.visitField(Opcodes.ACC_PUBLIC, "count", "I", null, null).visitEnd();
        writer.visitField(Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, "limit", "I", null, null)
                .visitEnd();
        emptyMethod(writer, Opcodes.ACC_PUBLIC, "change");
        emptyMethod(writer, Opcodes.ACC_PRIVATE, "hidden");
        define(TARGET, writer);
    }

    private void defineInterface() {
        ClassWriter writer =
                writer(
                        TARGET,
                        Opcodes.ACC_PUBLIC | Opcodes.ACC_INTERFACE | Opcodes.ACC_ABSTRACT,
                        "java/lang/Object");
        writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, "change", "()V", null, null)
                .visitEnd();
        define(TARGET, writer);
    }

    /** A caller with one method that calls one method of the target. */
    private void defineCaller(String superName, int opcode, String name, String descriptor) {
        ClassWriter writer = writer(CALLER, Opcodes.ACC_PUBLIC, superName);
        MethodVisitor code = methodWithTarget(writer);
        if (opcode != Opcodes.INVOKESTATIC) {
            code.visitVarInsn(Opcodes.ALOAD, 0);
        }
        code.visitMethodInsn(opcode, TARGET, name, descriptor, false);
        if (descriptor.endsWith("I")) {
            code.visitInsn(Opcodes.POP);
        }
        finish(code);
        define(CALLER, writer);
    }

    /** A caller with one method that reads or writes one field of the target. */
    private void defineCallerOfField(int opcode, String name, String descriptor) {
        ClassWriter writer = writer(CALLER, Opcodes.ACC_PUBLIC, "java/lang/Object");
        MethodVisitor code = methodWithTarget(writer);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        if (opcode == Opcodes.PUTFIELD) {
            code.visitInsn(Opcodes.ICONST_0);
        }
        code.visitFieldInsn(opcode, TARGET, name, descriptor);
        if (opcode == Opcodes.GETFIELD) {
            code.visitInsn(descriptor.equals("J") ? Opcodes.POP2 : Opcodes.POP);
        }
        finish(code);
        define(CALLER, writer);
    }

    private static ClassWriter writer(
            String name, int access, String superName, String... interfaces) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V11, access, name, null, superName, interfaces);
        return writer;
    }

    private static void emptyMethod(ClassWriter writer, int access, String name) {
        MethodVisitor code = writer.visitMethod(access, name, "()V", null, null);
        code.visitCode();
        finish(code);
    }

    private static MethodVisitor methodWithTarget(ClassWriter writer) {
        MethodVisitor code =
                writer.visitMethod(
                        Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC,
                        "call",
                        "(L" + TARGET + ";)V",
                        null,
                        null);
        code.visitCode();
        return code;
    }

    private static void finish(MethodVisitor code) {
        code.visitInsn(Opcodes.RETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
    }
}
