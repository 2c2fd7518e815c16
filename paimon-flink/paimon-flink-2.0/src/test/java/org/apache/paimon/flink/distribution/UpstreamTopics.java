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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The list {@code tools/upstream-topics.txt}, read a second time. */
final class UpstreamTopics {

    static final Path LIST = Repository.ROOT.resolve("tools/upstream-topics.txt");

    final List<Topic> topics = new ArrayList<>();
    final List<String> left = new ArrayList<>();

    static UpstreamTopics read() throws IOException {
        UpstreamTopics list = new UpstreamTopics();
        for (String line : Files.readAllLines(LIST)) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "topic":
                    list.topics.add(new Topic(words[1]));
                    break;
                case "promises":
                    list.last().promises.addAll(Arrays.asList(words[1].split(" ")));
                    break;
                case "file":
                    list.last().files.add(words[1]);
                    break;
                case "merge":
                    list.last().merged.add(words[1]);
                    break;
                case "leave":
                    list.left.add(words[1].split(" ")[0]);
                    break;
                default:
                    break;
            }
        }
        return list;
    }

    private Topic last() {
        return topics.get(topics.size() - 1);
    }

    static final class Topic {

        final String title;
        final List<String> promises = new ArrayList<>();
        final List<String> files = new ArrayList<>();
        final List<String> merged = new ArrayList<>();

        private Topic(String title) {
            this.title = title;
        }
    }
}
