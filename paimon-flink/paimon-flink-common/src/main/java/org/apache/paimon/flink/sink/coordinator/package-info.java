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
 * The life cycle of the coordinator-commit path, its options and its preconditions.
 *
 * <p>{@code CommittingWriteOperatorCoordinator} is what Flink sees. It calls {@code CommitSession},
 * which works from one start to the next reset on an event loop of its own. May use the packages
 * {@code report} and {@code commit}. Neither of them may use this one, but for {@code
 * CheckpointCommittables} and its serializer, which lie here because that is the base's name.
 */
package org.apache.paimon.flink.sink.coordinator;
