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
 * A report on its way from a writer to the coordinator: its bytes, the events that carry it in
 * parts, sender and receiver, and what a writer keeps until it is committed.
 *
 * <p>Knows neither the table nor the coordinator's life cycle. May use the base and Flink; of ours,
 * the serializer of what it carries and the checksum.
 */
package org.apache.paimon.flink.sink.coordinator.report;
