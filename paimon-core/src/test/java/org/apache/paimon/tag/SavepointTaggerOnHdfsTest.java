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
import org.apache.paimon.catalog.CatalogContext;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.options.Options;
import org.apache.paimon.tag.testutils.AppendTableFixture;
import org.apache.paimon.tag.testutils.RecordingTagCallback;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The life cycle of a tag on HDFS, where the base writes tag files in place. */
@Tag("slow")
class SavepointTaggerOnHdfsTest {

    private static final String ME = "job-0f1e2d3c4b5a";
    private static final String OTHER = "job-998877665544";

    @TempDir private static File directory;

    private static MiniDFSCluster hdfs;
    private static int warehouses;

    private final RecordingTagCallback.Factory callbacks = new RecordingTagCallback.Factory();
    private AppendTableFixture fixture;
    private SavepointTagger tagger;

    @BeforeAll
    static void startHdfs() throws IOException {
        Configuration configuration = new Configuration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.getAbsolutePath());
        hdfs = new MiniDFSCluster.Builder(configuration).numDataNodes(1).build();
        hdfs.waitActive();
    }

    @AfterAll
    static void stopHdfs() {
        if (hdfs != null) {
            hdfs.shutdown();
        }
    }

    @BeforeEach
    void createTable() throws Exception {
        String warehouse = hdfs.getURI() + "/warehouse-" + ++warehouses;
        FileIO fileIO = FileIO.get(new Path(warehouse), CatalogContext.create(new Options()));
        fixture = AppendTableFixture.create(fileIO, warehouse);
        tagger = tagger(ME, null);
    }

    private SavepointTagger tagger(String commitUser, Duration timeRetained) throws Exception {
        return new SavepointTagger(
                commitUser,
                fixture.snapshotManager(),
                fixture.tagManager(),
                fixture.table().store()::newTagDeletion,
                callbacks,
                timeRetained,
                new SavepointTagStatistics());
    }

    @Test
    @DisplayName("T3, T4: a tag is created once, kept, and outlives its snapshot")
    void createsAndKeeps() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1, 2);
        fixture.commit(ME, 2, 3);

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
        assertThat(tagger(ME, null).createTag(1, savepoint)).contains("savepoint-1");
        assertThat(tagger.statistics().created()).isEqualTo(1);
        assertThat(callbacks.journal())
                .containsExactly("created savepoint-1@1 #1", "created savepoint-1@1 #2");

        fixture.expireAllBut(1);
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1, 2);
    }

    @Test
    @DisplayName("T5: a foreign tag is left alone, and the savepoint gets its other name")
    void leavesForeignTagsAlone() throws Exception {
        tagger(OTHER, null).createTag(1, fixture.commit(OTHER, 1, 1));
        Snapshot mine = fixture.commit(ME, 1, 2);

        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
        assertThat(tagger.deleteTag(1, mine)).isTrue();
        assertThat(fixture.tags()).containsExactly("savepoint-1");
        assertThat(fixture.idsAtTag("savepoint-1")).containsExactly(1);
    }

    @Test
    @DisplayName("A1: the tag of an aborted savepoint is deleted, once")
    void deletes() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);

        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(tagger.deleteTag(1, savepoint)).isFalse();
        assertThat(fixture.tags()).isEmpty();
        assertThat(fixture.ids()).containsExactly(1);
    }

    @Test
    @DisplayName("T6: the tag carries its time of retention")
    void carriesItsRetention() throws Exception {
        tagger(ME, Duration.ofDays(3)).createTag(1, fixture.commit(ME, 1, 1));

        assertThat(fixture.tagManager().getOrThrow("savepoint-1").getTagTimeRetained())
                .isEqualTo(Duration.ofDays(3));
    }

    @Test
    @DisplayName("T5: an own file that breaks off in its middle is written again")
    void mendsItsOwnTornFile() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        tagger.createTag(1, savepoint);
        Path file = fixture.tagManager().tagPath("savepoint-1");
        String whole = fixture.fileIO().readFileUtf8(file);
        write(file, whole.substring(0, whole.length() - 1));

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1");
        assertThat(fixture.tagManager().getOrThrow("savepoint-1").trimToSnapshot())
                .isEqualTo(savepoint);
    }

    @Test
    @DisplayName("T5: an empty file, which somebody may be writing, is left alone")
    void leavesAnEmptyFileAlone() throws Exception {
        Snapshot savepoint = fixture.commit(ME, 1, 1);
        Path file = fixture.tagManager().tagPath("savepoint-1");
        write(file, "");

        assertThat(tagger.createTag(1, savepoint)).contains("savepoint-1-1");
        assertThat(fixture.fileIO().readFileUtf8(file)).isEmpty();
        assertThat(tagger.deleteTag(1, savepoint)).isTrue();
        assertThat(fixture.fileIO().exists(file)).isTrue();
    }

    @Test
    @DisplayName("T5: the beginning of another tag is left alone, also by an abort")
    void leavesTheTornFileOfAnotherAlone() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        tagger(OTHER, null).createTag(1, others);
        Path file = fixture.tagManager().tagPath("savepoint-1");
        String whole = fixture.fileIO().readFileUtf8(file);
        String torn = whole.substring(0, whole.length() * 3 / 4);
        write(file, torn);
        Snapshot mine = fixture.commit(ME, 1, 2);

        assertThat(tagger.createTag(1, mine)).contains("savepoint-1-2");
        assertThat(tagger.deleteTag(1, mine)).isTrue();
        assertThat(fixture.fileIO().readFileUtf8(file)).isEqualTo(torn);
    }

    @Test
    @DisplayName("T5: both names taken fail, and say so")
    void failsWhenBothNamesAreTaken() throws Exception {
        Snapshot others = fixture.commit(OTHER, 1, 1);
        for (String name : new String[] {"savepoint-1", "savepoint-1-2"}) {
            fixture.tagManager().createTag(others, name, null, Collections.emptyList(), false);
        }
        Snapshot mine = fixture.commit(ME, 1, 2);

        assertThatThrownBy(() -> tagger.createTag(1, mine))
                .isInstanceOf(SavepointTagException.class)
                .hasMessageContaining("Both are left alone");
    }

    private void write(Path file, String content) throws IOException {
        fixture.fileIO().overwriteFileUtf8(file, content);
    }
}
