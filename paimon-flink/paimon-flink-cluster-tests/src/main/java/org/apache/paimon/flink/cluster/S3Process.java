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

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An object store in a process of its own: s3proxy, which keeps each object as a file below {@link
 * #files()}, so that a test can look at them without a client.
 */
public final class S3Process implements AutoCloseable {

    private static final String MAIN = "org.gaul.s3proxy.Main";
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);
    private static final String BUCKET = "bucket";

    private final ProcessGroup group;
    private final int port;
    private final Server server;

    private S3Process(ProcessGroup group, String classPath, int port) {
        this.group = group;
        this.port = port;
        this.server =
                new Server(
                        group,
                        "s3proxy",
                        name ->
                                FlinkProcess.launch(
                                                FlinkProcess.Role.SERVICE, name, classPath, MAIN)
                                        .jvm("-Xmx384m")
                                        .jvm("-Dlogback.configurationFile=" + logging())
                                        .arguments("--properties", config().toString()),
                        () -> Ports.answers(port));
    }

    /** Starts the store with one empty bucket, and waits until it serves. */
    public static S3Process start(FlinkDistribution distribution, Path directory, Duration limit) {
        S3Process s3 =
                new S3Process(
                        new ProcessGroup("s3proxy", directory, distribution.starter()),
                        distribution.serviceClassPath("s3proxy"),
                        new Ports(line -> {}).pick());
        try {
            s3.writeConfig();
            s3.server.start(limit);
            return s3;
        } catch (RuntimeException e) {
            s3.close();
            throw e;
        }
    }

    private Path config() {
        return group.conf().resolve("s3proxy.conf");
    }

    private Path logging() {
        return group.conf().resolve("logback.xml");
    }

    private void writeConfig() {
        String text =
                String.join(
                        "\n",
                        "s3proxy.endpoint=http://" + Ports.HOST + ":" + port,
                        "s3proxy.authorization=none",
                        "jclouds.provider=filesystem-nio2",
                        "jclouds.identity=any",
                        "jclouds.credential=any",
                        "jclouds.filesystem.basedir=" + files().getParent(),
                        "");
        try {
            Files.createDirectories(files());
            Files.write(config(), text.getBytes(StandardCharsets.UTF_8));
            Files.write(
                    logging(),
                    ("<configuration><appender name='out'"
                                    + " class='ch.qos.logback.core.ConsoleAppender'><encoder>"
                                    + "<pattern>%d{HH:mm:ss.SSS} %-5level %logger{20} %msg%n"
                                    + "</pattern></encoder></appender><root level='INFO'>"
                                    + "<appender-ref ref='out'/></root></configuration>\n")
                            .getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new ClusterException("cannot write " + config(), e);
        }
    }

    /** The bucket, without a slash at the end. */
    public URI uri() {
        return URI.create("s3://" + BUCKET);
    }

    /** The local directory with the objects of the bucket. */
    public Path files() {
        return group.directory().resolve("data").resolve(BUCKET);
    }

    /**
     * Creates a directory with one object: s3proxy lists no empty directory, other than S3, so that
     * one would not be found again.
     */
    public void createDirectory(String path) {
        put(path + "/.keep", "\n");
    }

    /** Writes an object; a file of its own would lack the attributes that the store expects. */
    public void put(String path, String text) {
        URI uri = URI.create("http://" + Ports.HOST + ":" + port + "/" + BUCKET + "/" + path);
        HttpRequest request =
                HttpRequest.newBuilder(uri)
                        .timeout(REQUEST_LIMIT)
                        .PUT(HttpRequest.BodyPublishers.ofString(text))
                        .build();
        try {
            int status =
                    HttpClient.newHttpClient()
                            .send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode();
            if (status != 200) {
                throw new ClusterException("PUT " + uri + " was answered with " + status);
            }
        } catch (IOException e) {
            throw new ClusterException("PUT " + uri + " got no answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("PUT " + uri + " was interrupted", e);
        }
    }

    /** What Flink's S3 file system needs to know. */
    public Map<String, String> flinkOptions() {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("s3.endpoint", "http://" + Ports.HOST + ":" + port);
        options.put("s3.path.style.access", "true");
        options.put("s3.access-key", "any");
        options.put("s3.secret-key", "any");
        // s3proxy refuses to delete the marker of a directory that is not empty.
        options.put("s3.directory.marker.retention", "keep");
        return options;
    }

    /** The one server: to kill, to pause, and to start again. */
    public Server server() {
        return server;
    }

    @Override
    public void close() {
        group.close();
    }
}
