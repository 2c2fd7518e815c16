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

import java.util.Objects;

/**
 * What one class file says about another: a class, or a member with the way in which it is used.
 */
final class Reference {

    /** The ways in which byte code uses something; each is resolved by a rule of its own. */
    enum Use {
        CLASS,
        CONSTRUCTOR,
        STATIC_METHOD,
        VIRTUAL_METHOD,
        SUPER_METHOD,
        GET_FIELD,
        PUT_FIELD,
        GET_STATIC,
        PUT_STATIC
    }

    final Use use;

    /** Internal name, with slashes. */
    final String owner;

    final String name;
    final String descriptor;

    /**
     * Whether the class file takes the owner for an interface; {@code null} for classes, fields.
     */
    final Boolean ownerIsInterface;

    private Reference(
            Use use, String owner, String name, String descriptor, Boolean ownerIsInterface) {
        this.use = use;
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
        this.ownerIsInterface = ownerIsInterface;
    }

    static Reference toClass(String owner) {
        return new Reference(Use.CLASS, owner, "", "", null);
    }

    static Reference toField(Use use, String owner, String name, String descriptor) {
        return new Reference(use, owner, name, descriptor, null);
    }

    static Reference toMethod(
            Use use, String owner, String name, String descriptor, boolean ownerIsInterface) {
        return new Reference(use, owner, name, descriptor, ownerIsInterface);
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Reference)) {
            return false;
        }
        Reference that = (Reference) other;
        return use == that.use
                && owner.equals(that.owner)
                && name.equals(that.name)
                && descriptor.equals(that.descriptor)
                && Objects.equals(ownerIsInterface, that.ownerIsInterface);
    }

    @Override
    public int hashCode() {
        return Objects.hash(use, owner, name, descriptor);
    }

    @Override
    public String toString() {
        return use
                + " "
                + owner.replace('/', '.')
                + (name.isEmpty() ? "" : "#" + name + descriptor);
    }
}
