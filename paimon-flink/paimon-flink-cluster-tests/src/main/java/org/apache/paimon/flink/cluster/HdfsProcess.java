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

import org.apache.flink.core.fs.FileSystem;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * HDFS: one NameNode and some DataNodes, each a process of its own with fixed ports, so that each
 * can be killed, paused, and started again.
 *
 * <p>Its clients should have {@link #conf()} as {@code HADOOP_CONF_DIR}.
 */
public final class HdfsProcess implements AutoCloseable {

    private static final String NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode";
    private static final String DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode";

    private final ProcessGroup group;
    private final String classPath;
    private final int port;
    private final Ports ports = new Ports(line -> {});
    private final Server nameNode;
    private final List<Server> dataNodes = new ArrayList<>();

    private HdfsProcess(ProcessGroup group, String classPath, int dataNodes) {
        this.group = group;
        this.classPath = classPath;
        this.port = ports.pick();
        writeConf(group.conf(), new LinkedHashMap<>(), dataNodes);
        this.nameNode =
                new Server(
                        group, "namenode", name -> launch(name, NAME_NODE), this::nameNodeServes);
        for (int i = 1; i <= dataNodes; i++) {
            this.dataNodes.add(dataNode("datanode-" + i, dataNodes));
        }
    }

    /** Starts HDFS with one DataNode. */
    public static HdfsProcess start(
            FlinkDistribution distribution, Path directory, Duration limit) {
        return start(distribution, directory, 1, limit);
    }

    /** Formats and starts HDFS, and waits until a file can be written. */
    public static HdfsProcess start(
            FlinkDistribution distribution, Path directory, int dataNodes, Duration limit) {
        HdfsProcess hdfs =
                new HdfsProcess(
                        new ProcessGroup("hdfs", directory, distribution.starter()),
                        distribution.serviceClassPath("hdfs"),
                        dataNodes);
        try {
            hdfs.format(limit);
            hdfs.nameNode.start(limit);
            for (Server dataNode : hdfs.dataNodes) {
                dataNode.start(limit);
            }
            hdfs.awaitWritable(limit);
            return hdfs;
        } catch (RuntimeException e) {
            hdfs.close();
            throw e;
        }
    }

    private FlinkProcess.Launch launch(String name, String main) {
        return launch(name, main, group.conf());
    }

    private FlinkProcess.Launch launch(String name, String main, Path conf) {
        return FlinkProcess.launch(
                        FlinkProcess.Role.SERVICE,
                        name,
                        conf + File.pathSeparator + classPath,
                        main)
                .jvm("-Xmx256m", "-Dhadoop.log.dir=" + group.logs());
    }

    private Server dataNode(String name, int replication) {
        Map<String, Object> own = new LinkedHashMap<>();
        own.put("dfs.datanode.data.dir", group.directory().resolve(name).toUri());
        own.put("dfs.datanode.address", Ports.HOST + ":" + ports.pick());
        own.put("dfs.datanode.http.address", Ports.HOST + ":" + ports.pick());
        int ipc = ports.pick();
        own.put("dfs.datanode.ipc.address", Ports.HOST + ":" + ipc);
        Path conf = group.conf().resolve(name);
        writeConf(conf, own, replication);
        return new Server(
                group, name, start -> launch(start, DATA_NODE, conf), () -> Ports.answers(ipc));
    }

    private void writeConf(Path conf, Map<String, Object> own, int replication) {
        Map<String, Object> core = new LinkedHashMap<>();
        core.put("fs.defaultFS", uri());
        core.put("hadoop.tmp.dir", group.directory().resolve("tmp"));
        // A client that finds the NameNode gone asks again for half a minute.
        core.put("ipc.client.connect.max.retries", 30);
        Map<String, Object> hdfs = new LinkedHashMap<>();
        hdfs.put("dfs.replication", replication);
        hdfs.put("dfs.permissions.enabled", false);
        hdfs.put("dfs.namenode.rpc-address", Ports.HOST + ":" + port);
        hdfs.put("dfs.namenode.rpc-bind-host", Ports.HOST);
        hdfs.put("dfs.namenode.http-address", Ports.HOST + ":0");
        hdfs.put("dfs.namenode.name.dir", group.directory().resolve("name").toUri());
        hdfs.put("dfs.namenode.safemode.extension", 0);
        hdfs.put("dfs.namenode.datanode.registration.ip-hostname-check", false);
        hdfs.put("dfs.namenode.heartbeat.recheck-interval", 2_000);
        hdfs.put("dfs.namenode.fs-limits.min-block-size", 1024);
        hdfs.put("dfs.heartbeat.interval", 1);
        hdfs.put("dfs.datanode.hostname", Ports.HOST);
        hdfs.put("dfs.client.block.write.replace-datanode-on-failure.policy", "NEVER");
        hdfs.putAll(own);
        try {
            Files.createDirectories(conf);
            Files.write(conf.resolve("core-site.xml"), xml(core));
            Files.write(conf.resolve("hdfs-site.xml"), xml(hdfs));
        } catch (IOException e) {
            throw new ClusterException("cannot write Hadoop's configuration into " + conf, e);
        }
    }

    private static byte[] xml(Map<String, Object> properties) {
        StringBuilder text = new StringBuilder("<configuration>\n");
        properties.forEach(
                (name, value) ->
                        text.append("<property><name>")
                                .append(name)
                                .append("</name><value>")
                                .append(value)
                                .append("</value></property>\n"));
        return text.append("</configuration>\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private void format(Duration limit) {
        FlinkProcess formatter =
                group.start(
                        launch("namenode-format", NAME_NODE)
                                .arguments("-format", "-force", "-nonInteractive"));
        int exitCode = group.awaitExit(formatter, limit);
        if (exitCode != 0) {
            throw new ClusterException(
                    String.format(
                            "HDFS was not formatted (exit code %d): %s; look at %s",
                            exitCode, Tail.of(formatter.out(), 3), formatter.log()));
        }
    }

    private boolean nameNodeServes() throws IOException {
        return Ports.answers(port) && files().exists(root());
    }

    /** Waits until a file can be written: the NameNode has left safe mode and knows a DataNode. */
    public void awaitWritable(Duration limit) {
        org.apache.flink.core.fs.Path probe = new org.apache.flink.core.fs.Path(uri() + "/probe");
        Await.until("HDFS to be writable", limit)
                .unless(group::requireServersAlive)
                .lookAt(group.logs())
                .holds(
                        () -> {
                            try (OutputStream out =
                                    files().create(probe, FileSystem.WriteMode.OVERWRITE)) {
                                out.write(1);
                            }
                            return files().delete(probe, false);
                        },
                        Boolean::booleanValue);
    }

    /** Creates or replaces a file; its path is absolute. */
    public void write(String path, String text) throws IOException {
        try (OutputStream out = files().create(path(path), FileSystem.WriteMode.OVERWRITE)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Moves a file or directory to a path whose parent is created if it is missing. */
    public void move(String from, String to) throws IOException {
        files().mkdirs(path(to).getParent());
        if (!files().rename(path(from), path(to))) {
            throw new IOException("HDFS has not moved " + from + " to " + to);
        }
    }

    public boolean exists(String path) throws IOException {
        return files().exists(path(path));
    }

    private org.apache.flink.core.fs.Path path(String path) {
        return new org.apache.flink.core.fs.Path(uri(path));
    }

    private FileSystem files() throws IOException {
        return FileSystem.getUnguardedFileSystem(uri());
    }

    private org.apache.flink.core.fs.Path root() {
        return new org.apache.flink.core.fs.Path(uri() + "/");
    }

    /** {@code hdfs://127.0.0.1:PORT}, without a slash at the end. */
    public URI uri() {
        return URI.create("hdfs://" + Ports.HOST + ":" + port);
    }

    /** A directory or file of it, by its absolute path. */
    public URI uri(String path) {
        return URI.create(uri() + path);
    }

    /** What clients should have as {@code HADOOP_CONF_DIR}. */
    public Path conf() {
        return group.conf();
    }

    /** To kill, to pause, and to start again. */
    public Server nameNode() {
        return nameNode;
    }

    /** To kill, to pause, and to start again; counted from 0. */
    public Server dataNode(int index) {
        return dataNodes.get(index);
    }

    @Override
    public void close() {
        group.close();
    }
}
