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
 * Measures what the coordinator-commit path and savepoint tags cost, in this distribution and in
 * another Paimon jar, in turns. {@link org.apache.paimon.flink.benchmark.Benchmark} starts one
 * worker process per jar, measure and round, and prints the ratios.
 *
 * <p>Everything here is compiled against the released classes: a worker runs with either jar.
 */
package org.apache.paimon.flink.benchmark;
