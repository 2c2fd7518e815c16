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

package org.apache.paimon.flink.cluster.demo;

import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * A bounded SQL table of one BIGINT column with the numbers from 0, read through a FLIP-27 source.
 * (Flink's own {@code datagen} table is still read through a source function, which is chained
 * differently from the sources that users have.)
 *
 * <p>At a parallelism of {@code splits}, split {@code i} of {@code n} emits {@code i, i + n, i +
 * 2n, ...} in this order.
 */
public final class NumbersTableFactory implements DynamicTableSourceFactory {

    static final String IDENTIFIER = "numbers";

    private static final ConfigOption<Long> ROWS_PER_SECOND =
            ConfigOptions.key("rows-per-second").longType().noDefaultValue();
    private static final ConfigOption<Long> NUMBER_OF_ROWS =
            ConfigOptions.key("number-of-rows").longType().noDefaultValue();
    private static final ConfigOption<Integer> SPLITS =
            ConfigOptions.key("splits").intType().noDefaultValue();

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return new HashSet<>(Arrays.asList(ROWS_PER_SECOND, NUMBER_OF_ROWS, SPLITS));
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Collections.emptySet();
    }

    /**
     * @throws IllegalArgumentException when the splits cannot be of the same size
     */
    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        long rows = helper.getOptions().get(NUMBER_OF_ROWS);
        int splits = helper.getOptions().get(SPLITS);
        if (splits < 1 || rows < 1 || rows % splits != 0) {
            throw new IllegalArgumentException(
                    String.format(
                            "%s must be a multiple of %s, but they are %d and %d.",
                            NUMBER_OF_ROWS.key(), SPLITS.key(), rows, splits));
        }
        return new Numbers(
                context.getPhysicalRowDataType(),
                helper.getOptions().get(ROWS_PER_SECOND),
                rows,
                splits);
    }

    /** Index {@code k} of the generator is the {@code k % (rows / splits)}-th row of its split. */
    static long number(long index, long rows, int splits) {
        long perSplit = rows / splits;
        return index % perSplit * splits + index / perSplit;
    }

    private static final class Numbers implements ScanTableSource {

        private final DataType type;
        private final long rowsPerSecond;
        private final long rows;
        private final int splits;

        private Numbers(DataType type, long rowsPerSecond, long rows, int splits) {
            this.type = type;
            this.rowsPerSecond = rowsPerSecond;
            this.rows = rows;
            this.splits = splits;
        }

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return SourceProvider.of(
                    new DataGeneratorSource<>(
                            new Generator(rows, splits),
                            rows,
                            RateLimiterStrategy.perSecond(rowsPerSecond),
                            context.<RowData>createTypeInformation(type)));
        }

        @Override
        public DynamicTableSource copy() {
            return new Numbers(type, rowsPerSecond, rows, splits);
        }

        @Override
        public String asSummaryString() {
            return IDENTIFIER;
        }
    }

    private static final class Generator implements GeneratorFunction<Long, RowData> {

        private static final long serialVersionUID = 1L;

        private final long rows;
        private final int splits;

        private Generator(long rows, int splits) {
            this.rows = rows;
            this.splits = splits;
        }

        @Override
        public RowData map(Long index) {
            return GenericRowData.of(number(index, rows, splits));
        }
    }
}
