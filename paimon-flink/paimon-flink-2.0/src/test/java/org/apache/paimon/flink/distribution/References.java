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

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Collects everything that a class file refers to: super types, the types in its own descriptors,
 * and each class, method and field that its instructions name. Annotations do not count: an absent
 * annotation type is no error at run time.
 */
final class References extends ClassVisitor {

    private static final int API = Opcodes.ASM9;

    private final Set<Reference> found = new LinkedHashSet<>();

    private References() {
        super(API);
    }

    static Set<Reference> of(byte[] classFile) {
        References references = new References();
        new ClassReader(classFile)
                .accept(references, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return references.found;
    }

    @Override
    public void visit(
            int version,
            int access,
            String name,
            String signature,
            String superName,
            String[] interfaces) {
        if (superName != null) {
            addClass(superName);
        }
        for (String type : interfaces) {
            addClass(type);
        }
    }

    @Override
    public FieldVisitor visitField(
            int access, String name, String descriptor, String signature, Object value) {
        addType(Type.getType(descriptor));
        return null;
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String name, String descriptor, String signature, String[] exceptions) {
        addType(Type.getMethodType(descriptor));
        if (exceptions != null) {
            for (String exception : exceptions) {
                addClass(exception);
            }
        }
        return new Instructions();
    }

    private void addClass(String internalName) {
        addType(Type.getObjectType(internalName));
    }

    private void addType(Type type) {
        switch (type.getSort()) {
            case Type.ARRAY:
                addType(type.getElementType());
                break;
            case Type.OBJECT:
                found.add(Reference.toClass(type.getInternalName()));
                break;
            case Type.METHOD:
                addType(type.getReturnType());
                for (Type argument : type.getArgumentTypes()) {
                    addType(argument);
                }
                break;
            default:
                break;
        }
    }

    private void addHandle(Handle handle) {
        switch (handle.getTag()) {
            case Opcodes.H_GETFIELD:
                addField(Reference.Use.GET_FIELD, handle);
                break;
            case Opcodes.H_PUTFIELD:
                addField(Reference.Use.PUT_FIELD, handle);
                break;
            case Opcodes.H_GETSTATIC:
                addField(Reference.Use.GET_STATIC, handle);
                break;
            case Opcodes.H_PUTSTATIC:
                addField(Reference.Use.PUT_STATIC, handle);
                break;
            case Opcodes.H_INVOKESTATIC:
                addMethod(Reference.Use.STATIC_METHOD, handle);
                break;
            case Opcodes.H_NEWINVOKESPECIAL:
                addMethod(Reference.Use.CONSTRUCTOR, handle);
                break;
            case Opcodes.H_INVOKESPECIAL:
                addMethod(Reference.Use.SUPER_METHOD, handle);
                break;
            default:
                addMethod(Reference.Use.VIRTUAL_METHOD, handle);
                break;
        }
    }

    private void addField(Reference.Use use, Handle handle) {
        addClass(handle.getOwner());
        found.add(Reference.toField(use, handle.getOwner(), handle.getName(), handle.getDesc()));
    }

    private void addMethod(Reference.Use use, Handle handle) {
        addClass(handle.getOwner());
        addType(Type.getMethodType(handle.getDesc()));
        found.add(
                Reference.toMethod(
                        use,
                        handle.getOwner(),
                        handle.getName(),
                        handle.getDesc(),
                        handle.isInterface()));
    }

    private void addConstant(Object constant) {
        if (constant instanceof Type) {
            addType((Type) constant);
        } else if (constant instanceof Handle) {
            addHandle((Handle) constant);
        } else if (constant instanceof ConstantDynamic) {
            ConstantDynamic dynamic = (ConstantDynamic) constant;
            addHandle(dynamic.getBootstrapMethod());
            for (int i = 0; i < dynamic.getBootstrapMethodArgumentCount(); i++) {
                addConstant(dynamic.getBootstrapMethodArgument(i));
            }
        }
    }

    private final class Instructions extends MethodVisitor {

        private Instructions() {
            super(API);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            addClass(type);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            addType(Type.getType(descriptor));
        }

        @Override
        public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
            if (type != null) {
                addClass(type);
            }
        }

        @Override
        public void visitLdcInsn(Object value) {
            addConstant(value);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            addClass(owner);
            addType(Type.getType(descriptor));
            found.add(Reference.toField(useOfField(opcode), owner, name, descriptor));
        }

        @Override
        public void visitMethodInsn(
                int opcode, String owner, String name, String descriptor, boolean isInterface) {
            addClass(owner);
            addType(Type.getMethodType(descriptor));
            found.add(
                    Reference.toMethod(
                            useOfMethod(opcode, name), owner, name, descriptor, isInterface));
        }

        @Override
        public void visitInvokeDynamicInsn(
                String name, String descriptor, Handle bootstrap, Object... arguments) {
            addType(Type.getMethodType(descriptor));
            addHandle(bootstrap);
            for (Object argument : arguments) {
                addConstant(argument);
            }
        }

        private Reference.Use useOfField(int opcode) {
            switch (opcode) {
                case Opcodes.GETFIELD:
                    return Reference.Use.GET_FIELD;
                case Opcodes.PUTFIELD:
                    return Reference.Use.PUT_FIELD;
                case Opcodes.GETSTATIC:
                    return Reference.Use.GET_STATIC;
                default:
                    return Reference.Use.PUT_STATIC;
            }
        }

        private Reference.Use useOfMethod(int opcode, String name) {
            if (name.equals("<init>")) {
                return Reference.Use.CONSTRUCTOR;
            }
            switch (opcode) {
                case Opcodes.INVOKESTATIC:
                    return Reference.Use.STATIC_METHOD;
                case Opcodes.INVOKESPECIAL:
                    return Reference.Use.SUPER_METHOD;
                default:
                    return Reference.Use.VIRTUAL_METHOD;
            }
        }
    }
}
