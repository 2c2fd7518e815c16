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
 * A report after its arrival: the ledger that decides what is committed (no I/O, no thread), the
 * committers that commit and tag in order on both commit paths, and what a JobMaster remembers.
 *
 * <p>May use the package {@code report}, and {@code org.apache.paimon.tag} below.
 */
package org.apache.paimon.flink.sink.coordinator.commit;
