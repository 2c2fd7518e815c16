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
 * What the tests are made of: for MiniCluster tests a {@code Scenario} that a test holds in its
 * hand (what the sources emit, where a commit waits or fails), a {@code RunningJob} on a {@code
 * TestCluster}, and an {@code AppendTable} that can be asked what became of it; for all others,
 * committers with hook points and a captured log.
 */
package org.apache.paimon.flink.sink.testutils;
