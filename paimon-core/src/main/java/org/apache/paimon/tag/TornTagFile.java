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

/** Recognises what a crash has left of a tag's file. */
final class TornTagFile {

    private TornTagFile() {}

    /**
     * Whether a file that is no tag holds the first part of a tag on this very snapshot. The base
     * writes a tag's file in place, so an empty or short file may be somebody else's, who is just
     * writing it. It must reach far enough to hold what no other snapshot has.
     */
    static boolean isOf(Snapshot snapshot, String content) {
        String found = withoutSpace(content);
        // A tag says what its snapshot says, and then when it was created and how long it stays.
        String json = withoutSpace(snapshot.toJson());
        String head = json.substring(0, json.lastIndexOf('}'));
        return (head.startsWith(found) || found.startsWith(head))
                && found.contains(quoted(snapshot.deltaManifestList()))
                && found.contains("\"commitUser\":" + quoted(snapshot.commitUser()))
                // with the comma: identifier 4 also begins 42
                && found.contains("\"commitIdentifier\":" + snapshot.commitIdentifier() + ",");
    }

    private static String quoted(String value) {
        return withoutSpace('"' + value + '"');
    }

    private static String withoutSpace(String json) {
        return json.replaceAll("\\s", "");
    }
}
