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

package org.apache.paimon.tag;

/**
 * A savepoint tag could not be created or deleted. Fails the job (A8); the restart tries again. The
 * message names the tag, what stood in the way and the way out.
 */
public final class SavepointTagException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SavepointTagException(String message) {
        super(message);
    }

    public SavepointTagException(String message, Throwable cause) {
        super(message, cause);
    }

    /** What went wrong in the first place. */
    static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.toString();
    }
}
