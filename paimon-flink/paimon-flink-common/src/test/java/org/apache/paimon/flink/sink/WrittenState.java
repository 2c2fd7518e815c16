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

package org.apache.paimon.flink.sink;

import org.apache.paimon.data.InternalRow;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

import java.util.Arrays;

/** State of a writer as another build could have left it. */
@SuppressWarnings("try") // the harness may be interrupted when it closes
final class WrittenState {

    private WrittenState() {}

    /** The state of one subtask with these elements in one list state. */
    static OperatorSubtaskState of(ListStateDescriptor<byte[]> descriptor, byte[]... elements)
            throws Exception {
        try (OneInputStreamOperatorTestHarness<InternalRow, Committable> writer =
                new OneInputStreamOperatorTestHarness<>(
                        new StateWriterFactory(descriptor, elements), 1, 1, 0)) {
            writer.setup(new CommittableTypeInfo().createSerializer(new ExecutionConfig()));
            writer.initializeEmptyState();
            writer.open();
            return writer.snapshot(1, 1);
        }
    }

    private static final class StateWriterFactory extends AbstractStreamOperatorFactory<Committable>
            implements OneInputStreamOperatorFactory<InternalRow, Committable> {

        private static final long serialVersionUID = 1L;

        private final ListStateDescriptor<byte[]> descriptor;
        private final byte[][] elements;

        private StateWriterFactory(ListStateDescriptor<byte[]> descriptor, byte[][] elements) {
            this.descriptor = descriptor;
            this.elements = elements;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T extends StreamOperator<Committable>> T createStreamOperator(
                StreamOperatorParameters<Committable> parameters) {
            return (T) new StateWriter(parameters, descriptor, elements);
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return StateWriter.class;
        }
    }

    private static final class StateWriter extends AbstractStreamOperator<Committable>
            implements OneInputStreamOperator<InternalRow, Committable> {

        private static final long serialVersionUID = 1L;

        private final ListStateDescriptor<byte[]> descriptor;
        private final byte[][] elements;

        private StateWriter(
                StreamOperatorParameters<Committable> parameters,
                ListStateDescriptor<byte[]> descriptor,
                byte[][] elements) {
            super(parameters);
            this.descriptor = descriptor;
            this.elements = elements;
        }

        @Override
        public void initializeState(StateInitializationContext context) throws Exception {
            super.initializeState(context);
            context.getOperatorStateStore()
                    .getListState(descriptor)
                    .update(Arrays.asList(elements));
        }

        @Override
        public void processElement(StreamRecord<InternalRow> element) {}
    }
}
