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
 * The story that {@code tools/demo} tells: savepoints of a running job become tags, a killed
 * TaskManager takes only its own regions along, and a rollback and a restore lose and double
 * nothing. {@code Demo} lists the steps; the {@code ...Steps} classes and {@code
 * CoordinatorMetrics} carry them out, and share what {@code DemoContext} holds.
 */
package org.apache.paimon.flink.cluster.demo;
