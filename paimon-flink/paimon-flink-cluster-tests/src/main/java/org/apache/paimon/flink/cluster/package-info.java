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

/**
 * A real Flink cluster of separate processes on 127.0.0.1, put together from Maven artifacts.
 *
 * <p>{@link org.apache.paimon.flink.cluster.FlinkDistribution} knows the class path, {@link
 * org.apache.paimon.flink.cluster.FlinkCluster} owns the processes, {@link
 * org.apache.paimon.flink.cluster.RestClient}, {@link org.apache.paimon.flink.cluster.SqlClient}
 * and {@link org.apache.paimon.flink.cluster.TableDirectory} look at it from outside. Beside it run
 * {@link org.apache.paimon.flink.cluster.KafkaProcess}, {@link
 * org.apache.paimon.flink.cluster.ZooKeeperProcess}, {@link
 * org.apache.paimon.flink.cluster.HdfsProcess} and {@link
 * org.apache.paimon.flink.cluster.S3Process}; {@link org.apache.paimon.flink.cluster.KafkaPipeline}
 * describes the jobs. {@link org.apache.paimon.flink.cluster.ProcessGroup} ends processes, and
 * {@link org.apache.paimon.flink.cluster.ProcessStarter} says where they run. Every call that
 * leaves this JVM has a deadline, and no process outlives the JVM that started it.
 */
package org.apache.paimon.flink.cluster;
