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

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Links a class as the JVM would at the first use of each reference, without running any of its
 * code: a lookup with the rights of the class resolves every method and field, so a member that is
 * gone, became static, changed its type or is out of reach is found here instead of in a job. Each
 * complaint names both sides.
 */
final class Linker {

    private final ClassLoader loader;

    Linker(ClassLoader loader) {
        this.loader = loader;
    }

    /** Loads and verifies a class, without initialising it. */
    Class<?> load(String className) throws ClassNotFoundException {
        Class<?> type = Class.forName(className, false, loader);
        // The JVM links a class before it lists its methods.
        type.getDeclaredMethods();
        return type;
    }

    /** Resolves these references of the named class, and looks for abstract methods left open. */
    List<String> complaints(String className, Set<Reference> references) {
        List<String> complaints = new ArrayList<>();
        try {
            Class<?> caller = load(className);
            MethodHandles.Lookup lookup =
                    MethodHandles.privateLookupIn(caller, MethodHandles.lookup());
            for (Reference reference : references) {
                problem(lookup, reference)
                        .ifPresent(p -> complaints.add(className + " -> " + reference + ": " + p));
            }
            for (Method open : openMethods(caller)) {
                complaints.add(className + " is not abstract, but lacks " + open);
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            complaints.add(className + " cannot be loaded: " + e);
        }
        return complaints;
    }

    private Optional<String> problem(MethodHandles.Lookup lookup, Reference reference) {
        try {
            Class<?> owner =
                    Class.forName(reference.owner.replace('/', '.'), false, lookupLoader(lookup));
            if (reference.use == Reference.Use.CLASS) {
                // Descriptors may name what the class itself cannot reach; code that does so does
                // not link, but then names a member or creates an object as well.
                return Optional.empty();
            }
            if (reference.ownerIsInterface != null
                    && reference.ownerIsInterface != owner.isInterface()) {
                return Optional.of(
                        owner.isInterface()
                                ? "the owner was a class, and is an interface"
                                : "the owner was an interface, and is a class");
            }
            return resolve(lookup, owner, reference);
        } catch (IllegalAccessException e) {
            // Such a method was found, and every class may call it; only a lookup may not.
            return String.valueOf(e.getMessage()).contains("caller-sensitive")
                    ? Optional.empty()
                    : Optional.of(e.toString());
        } catch (ReflectiveOperationException | LinkageError | TypeNotPresentException e) {
            return Optional.of(e.toString());
        }
    }

    private Optional<String> resolve(
            MethodHandles.Lookup lookup, Class<?> owner, Reference reference)
            throws ReflectiveOperationException {
        if (owner == MethodHandle.class || owner == VarHandle.class) {
            // Its methods take any signature.
            return Optional.empty();
        }
        lookup.accessClass(owner);
        ClassLoader types = lookupLoader(lookup);
        switch (reference.use) {
            case CONSTRUCTOR:
                return constructor(lookup.lookupClass(), owner, reference);
            case STATIC_METHOD:
                lookup.findStatic(owner, reference.name, method(reference, types));
                return Optional.empty();
            case VIRTUAL_METHOD:
                lookup.findVirtual(owner, reference.name, method(reference, types));
                return Optional.empty();
            case SUPER_METHOD:
                lookup.findSpecial(
                        owner, reference.name, method(reference, types), lookup.lookupClass());
                return Optional.empty();
            case GET_FIELD:
            case PUT_FIELD:
                return field(
                        lookup,
                        lookup.findGetter(owner, reference.name, field(reference, types)),
                        reference);
            case GET_STATIC:
            case PUT_STATIC:
                return field(
                        lookup,
                        lookup.findStaticGetter(owner, reference.name, field(reference, types)),
                        reference);
            default:
                throw new IllegalStateException("no rule for " + reference.use);
        }
    }

    /** A lookup takes every constructor for a {@code new}; a super call may do more. */
    private static Optional<String> constructor(
            Class<?> caller, Class<?> owner, Reference reference)
            throws ReflectiveOperationException {
        MethodType type = method(reference, caller.getClassLoader());
        Constructor<?> constructor = owner.getDeclaredConstructor(type.parameterArray());
        int modifiers = constructor.getModifiers();
        boolean samePackage =
                owner.getPackageName().equals(caller.getPackageName())
                        && owner.getClassLoader() == caller.getClassLoader();
        boolean reachable =
                Modifier.isPublic(modifiers)
                        || (Modifier.isPrivate(modifiers)
                                ? owner.isNestmateOf(caller)
                                : samePackage)
                        || (Modifier.isProtected(modifiers) && owner.isAssignableFrom(caller));
        return reachable ? Optional.empty() : Optional.of("out of reach: " + constructor);
    }

    private static Optional<String> field(
            MethodHandles.Lookup lookup, MethodHandle getter, Reference reference) {
        boolean written =
                reference.use == Reference.Use.PUT_FIELD
                        || reference.use == Reference.Use.PUT_STATIC;
        int modifiers = lookup.revealDirect(getter).getModifiers();
        boolean own = lookup.revealDirect(getter).getDeclaringClass() == lookup.lookupClass();
        return written && Modifier.isFinal(modifiers) && !own
                ? Optional.of("is written, and is final")
                : Optional.empty();
    }

    private static MethodType method(Reference reference, ClassLoader loader) {
        return MethodType.fromMethodDescriptorString(reference.descriptor, loader);
    }

    private static Class<?> field(Reference reference, ClassLoader loader) {
        return MethodType.fromMethodDescriptorString("()" + reference.descriptor, loader)
                .returnType();
    }

    private static ClassLoader lookupLoader(MethodHandles.Lookup lookup) {
        return lookup.lookupClass().getClassLoader();
    }

    /** The abstract methods that a class which is not abstract inherits and does not implement. */
    private static List<Method> openMethods(Class<?> type) {
        List<Method> open = new ArrayList<>();
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            return open;
        }
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                open.add(method);
            }
        }
        Set<String> implemented = new TreeSet<>();
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            for (Method method : c.getDeclaredMethods()) {
                String signature =
                        method.getReturnType().getName()
                                + " "
                                + method.getName()
                                + Arrays.toString(method.getParameterTypes());
                if (!Modifier.isAbstract(method.getModifiers())) {
                    implemented.add(signature);
                } else if (!Modifier.isPublic(method.getModifiers())
                        && !implemented.contains(signature)) {
                    open.add(method);
                }
            }
        }
        return open;
    }
}
