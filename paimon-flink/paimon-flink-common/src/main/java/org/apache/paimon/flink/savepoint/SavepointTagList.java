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

package org.apache.paimon.flink.savepoint;

import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.CommitProperties;
import org.apache.paimon.tag.Tag;

import org.apache.flink.types.Row;

import java.util.ArrayList;
import java.util.List;

/** The savepoint tags of a table and what is known of their savepoints. */
public final class SavepointTagList {

    private final FileStoreTable table;

    public SavepointTagList(FileStoreTable table) {
        this.table = table;
    }

    /**
     * @return a row per savepoint tag: name, snapshot id, checkpoint id, commit user, job id, path
     *     of the savepoint, whether its metadata exists, time of creation, time it is retained. A
     *     tag that cannot be read has a name only.
     */
    public Row[] rows() {
        TableHistory history = TableHistory.read(table);
        List<Row> rows = new ArrayList<>();
        for (NamedTag named : history.tags()) {
            if (named.isSavepointTag()) {
                rows.add(row(named));
            }
        }
        for (String name : history.unreadableTags()) {
            rows.add(
                    Row.of(
                            name,
                            null,
                            null,
                            null,
                            null,
                            null,
                            MetadataPresence.UNKNOWN.toString(),
                            null,
                            null));
        }
        return rows.toArray(new Row[0]);
    }

    private static Row row(NamedTag named) {
        Tag tag = named.tag();
        String path = CommitProperties.savepointPath(tag);
        return Row.of(
                named.name(),
                tag.id(),
                tag.commitIdentifier(),
                tag.commitUser(),
                CommitProperties.jobId(tag),
                path,
                SavepointPath.presence(path).toString(),
                named.created(),
                tag.getTagTimeRetained() == null ? null : tag.getTagTimeRetained().toString());
    }
}
