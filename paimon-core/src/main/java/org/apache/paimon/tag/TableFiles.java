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

import org.apache.paimon.Snapshot;
import org.apache.paimon.fs.Path;
import org.apache.paimon.table.sink.CommitMessage;

import java.io.IOException;
import java.util.Collection;
import java.util.Optional;

/** The data files of a table. They show whether something was committed when no snapshot does. */
public interface TableFiles {

    /** Whether one of these files belongs to the snapshot (or tag). */
    boolean anyIn(Snapshot snapshot, Collection<CommitMessage> files);

    /** Whether the commit of this snapshot has removed one of these files from the table. */
    boolean anyRemovedBy(Snapshot snapshot, Collection<CommitMessage> files);

    /** Whether the commit of a snapshot has removed a file that an earlier one had added. */
    boolean anyRemovedBy(Snapshot snapshot, Snapshot earlier);

    /** One of these files that does not exist; empty when they all do. */
    Optional<Path> missing(Collection<CommitMessage> files) throws IOException;
}
