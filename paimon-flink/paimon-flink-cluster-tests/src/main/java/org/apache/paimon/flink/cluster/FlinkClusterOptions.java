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

package org.apache.paimon.flink.cluster;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Size, services and options of a cluster that is to be started. */
public final class FlinkClusterOptions {

    private static final String SESSION =
            "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
    private static final String APPLICATION =
            "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint";

    final FlinkDistribution distribution;
    final Path directory;
    final Map<String, String> overrides = new LinkedHashMap<>();
    final Map<String, Object> environment = new LinkedHashMap<>();
    final List<Path> libJars = new ArrayList<>();
    List<String> entryPoint = Collections.singletonList(SESSION);
    int taskManagers = 1;
    int slotsPerTaskManager = 2;
    int standbyJobManagers;
    int restPort = 8081;
    String zooKeeper;
    URI storage;
    Consumer<String> listener = line -> {};

    FlinkClusterOptions(FlinkDistribution distribution, Path directory) {
        this.distribution = distribution;
        this.directory = directory.toAbsolutePath();
        this.storage = URI.create(this.directory.toUri().toString().replaceAll("/$", ""));
    }

    public FlinkClusterOptions taskManagers(int count) {
        this.taskManagers = count;
        return this;
    }

    public FlinkClusterOptions slotsPerTaskManager(int count) {
        this.slotsPerTaskManager = count;
        return this;
    }

    /** JobManagers beside the first one; they take over when it is gone. Needs ZooKeeper. */
    public FlinkClusterOptions standbyJobManagers(int count) {
        this.standbyJobManagers = count;
        return this;
    }

    /** High availability with this server; its files lie in the storage. */
    public FlinkClusterOptions zooKeeper(ZooKeeperProcess server) {
        this.zooKeeper = server.connectString();
        return this;
    }

    /**
     * Where checkpoints, savepoints and the files of high availability lie, without a slash at the
     * end; the cluster's own directory if this is not called.
     */
    public FlinkClusterOptions storage(URI directory) {
        this.storage = directory;
        return this;
    }

    /** Everything lies in HDFS, below {@code /flink}. */
    public FlinkClusterOptions storage(HdfsProcess hdfs) {
        return storage(hdfs.uri("/flink")).environment("HADOOP_CONF_DIR", hdfs.conf());
    }

    /**
     * Everything lies in a bucket, below {@code flink}; Flink loads its S3 file system as a plugin.
     */
    public FlinkClusterOptions storage(S3Process s3) {
        s3.flinkOptions().forEach(this::config);
        return storage(URI.create(s3.uri() + "/flink"))
                .environment("FLINK_PLUGINS_DIR", distribution.plugins());
    }

    /** A jar on the class path of every process beside those of the distribution. */
    public FlinkClusterOptions libJar(Path jar) {
        this.libJars.add(jar.toAbsolutePath());
        return this;
    }

    /** A variable of every process. */
    public FlinkClusterOptions environment(String key, Object value) {
        this.environment.put(key, value);
        return this;
    }

    /** Where the Web UI should be; elsewhere if that port is taken. */
    public FlinkClusterOptions restPort(int preferred) {
        this.restPort = preferred;
        return this;
    }

    /** An option of Flink on top of the defaults of {@link FlinkCluster}. */
    public FlinkClusterOptions config(String key, Object value) {
        overrides.put(key, String.valueOf(value));
        return this;
    }

    /** Application mode: the JobManager runs this main class, whose job is the only one. */
    public FlinkClusterOptions application(String mainClass, String... arguments) {
        List<String> words =
                new ArrayList<>(Arrays.asList(APPLICATION, "--job-classname", mainClass));
        words.addAll(Arrays.asList(arguments));
        this.entryPoint = words;
        return this;
    }

    /** Who hears what happens to the cluster, line by line. */
    public FlinkClusterOptions listener(Consumer<String> listener) {
        this.listener = listener;
        return this;
    }

    /** Starts the cluster and waits until all TaskManagers have registered. */
    public FlinkCluster start(Duration limit) {
        if (standbyJobManagers > 0 && zooKeeper == null) {
            throw new ClusterException(
                    standbyJobManagers + " standby JobManagers need ZooKeeper; name the server");
        }
        FlinkCluster cluster = new FlinkCluster(this);
        cluster.start(limit);
        return cluster;
    }
}
