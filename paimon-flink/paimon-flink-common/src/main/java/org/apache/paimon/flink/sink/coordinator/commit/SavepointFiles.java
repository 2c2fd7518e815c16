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

package org.apache.paimon.flink.sink.coordinator.commit;

import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.util.IOUtils;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import javax.annotation.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks for the metadata of savepoints in their file systems.
 *
 * <p>Threads: called by the coordinator's event loop. It looks on a thread of its own and waits for
 * {@link #LIMIT} at most, so that a file system which hangs does not hold commits back. As long as
 * that thread hangs, no other look is begun.
 */
final class SavepointFiles implements SavepointOutcomes {

    private static final Logger LOG = LoggerFactory.getLogger(SavepointFiles.class);

    static final Duration LIMIT = Duration.ofSeconds(10);

    private static final String METADATA = "_metadata";

    private final Duration limit;

    /** The last look, if it was not answered in time. */
    @Nullable private FutureTask<SavepointOutcome> unanswered;

    SavepointFiles() {
        this(LIMIT);
    }

    SavepointFiles(Duration limit) {
        this.limit = limit;
    }

    @Override
    public SavepointOutcome of(String savepointPath) {
        if (unanswered != null && !unanswered.isDone()) {
            return unknown(savepointPath, "the file system has not answered an earlier look");
        }
        FutureTask<SavepointOutcome> look = new FutureTask<>(() -> look(savepointPath));
        Thread looker = new Thread(look, "paimon-savepoint-look");
        looker.setDaemon(true);
        looker.start();
        try {
            return look.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            looker.interrupt();
            unanswered = look;
            return unknown(savepointPath, "the file system did not answer within " + limit);
        } catch (ExecutionException e) {
            return unknown(savepointPath, String.valueOf(e.getCause()));
        } catch (InterruptedException e) {
            looker.interrupt();
            Thread.currentThread().interrupt();
            return unknown(savepointPath, "interrupted");
        }
    }

    private static SavepointOutcome unknown(String savepointPath, String reason) {
        LOG.warn(
                "Cannot tell whether the savepoint at {} has completed: {}. It is taken to have.",
                savepointPath,
                reason);
        return SavepointOutcome.UNKNOWN;
    }

    private static SavepointOutcome look(String savepointPath) throws IOException {
        Path directory = new Path(savepointPath);
        Path metadata = new Path(directory, METADATA);
        FileSystem fileSystem = directory.getFileSystem();
        if (!fileSystem.exists(metadata)) {
            // An object store has no directories: then what lies in it is what there is.
            return fileSystem.exists(directory)
                    ? SavepointOutcome.UNFINISHED
                    : SavepointOutcome.GONE;
        }
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        try (FSDataInputStream in = fileSystem.open(metadata)) {
            IOUtils.copyBytes(in, content, false);
        }
        return isComplete(content.toByteArray(), savepointPath)
                ? SavepointOutcome.COMPLETE
                : SavepointOutcome.UNFINISHED;
    }

    private static boolean isComplete(byte[] metadata, String savepointPath) {
        try {
            Checkpoints.loadCheckpointMetadata(
                    new DataInputStream(new ByteArrayInputStream(metadata)),
                    SavepointFiles.class.getClassLoader(),
                    savepointPath);
            return true;
        } catch (IOException | RuntimeException e) {
            LOG.warn("The metadata of the savepoint at {} cannot be read.", savepointPath, e);
            return false;
        }
    }
}
