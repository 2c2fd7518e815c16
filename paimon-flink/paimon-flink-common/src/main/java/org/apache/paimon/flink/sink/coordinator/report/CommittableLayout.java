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

package org.apache.paimon.flink.sink.coordinator.report;

import org.apache.paimon.data.BinaryArray;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;

import javax.annotation.Nullable;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Checks that the bytes of one committable hold together, before the base's serializer gets them.
 *
 * <p>S2: the base reads its binary rows through raw memory and trusts the offsets in them, so that
 * a corrupt one reads anywhere and can take the whole process down. Here every offset is compared
 * with the bytes that are there; nothing is decoded and nothing allocated.
 *
 * <pre>
 *   committable   checkpoint id (long), message, version of the message (int)
 *   message       partition, bucket (int), total buckets (boolean, then int if true),
 *                 two increments: new files and compacted ones
 *   increment     three lists of data files, two lists of index files
 *   list          count (int), then per file its length (int) and a binary row
 *   partition     length (int), number of fields (int), binary row
 * </pre>
 *
 * <p>What a partition or the statistics hold is not looked at: only who knows their types can.
 *
 * <p>Not thread-safe; one is made per report, whose committables it checks where they lie.
 */
final class CommittableLayout {

    /** Bytes that hold the number of fields (int) and a binary row, unlike other bytes. */
    private static final Set<String> SERIALIZED_ROWS =
            new HashSet<>(Arrays.asList("_MIN_KEY", "_MAX_KEY", "_MIN_VALUES", "_MAX_VALUES"));

    /** Nullable by its type, but the base reads it without asking whether it is null. */
    private static final String NEVER_NULL = "_NULL_COUNTS";

    private static final int WORD = Long.BYTES;

    // Messages are big-endian, binary rows have the order of the machine.
    private static final VarHandle ROW_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle ROW_INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

    /** The first byte of a row holds its lowest bits, on any machine. */
    private static final VarHandle NULL_BITS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final Row DATA_FILE = new Row(DataFileMeta.SCHEMA, "data file");
    private static final Row INDEX_FILE = new Row(IndexFileMeta.SCHEMA, "index file");

    private final byte[] report;

    /** Where the committable begins; offsets in messages count from there. */
    private int start;

    /** What is to be read next, and where the message ends. */
    private int position;

    private int end;

    CommittableLayout(byte[] report) {
        this.report = report;
    }

    /**
     * @throws IOException when the bytes cannot be those of a committable
     */
    static void check(byte[] committable) throws IOException {
        new CommittableLayout(committable).check(0, committable.length);
    }

    /**
     * @throws IOException when the bytes there cannot be those of a committable
     */
    void check(int offset, int length) throws IOException {
        start = offset;
        position = offset;
        end = offset + length;
        require(Long.BYTES + Integer.BYTES, "its checkpoint id and message version");
        end -= Integer.BYTES;
        int version = BigEndian.getInt(report, end);
        if (version != CommitMessageSerializer.CURRENT_VERSION) {
            throw new IOException(
                    String.format(
                            "its commit message has version %d, only version %d can be read. Commit"
                                    + " it with the build that wrote it.",
                            version, CommitMessageSerializer.CURRENT_VERSION));
        }
        position += Long.BYTES;

        int partitionLength = length("the partition");
        checkSerializedRow(position, partitionLength, "the partition");
        position += partitionLength;
        require(Integer.BYTES + 1, "the bucket");
        position += Integer.BYTES;
        byte hasTotalBuckets = report[position++];
        if (hasTotalBuckets == 1) {
            require(Integer.BYTES, "the number of buckets");
            position += Integer.BYTES;
        } else if (hasTotalBuckets != 0) {
            throw new IOException(
                    String.format(
                            "byte %d is %d, but a boolean is 0 or 1",
                            position - 1 - start, hasTotalBuckets));
        }
        for (int increment = 0; increment < 2; increment++) {
            for (int list = 0; list < 3; list++) {
                checkFiles(DATA_FILE);
            }
            for (int list = 0; list < 2; list++) {
                checkFiles(INDEX_FILE);
            }
        }
        if (position < end) {
            throw new IOException(
                    String.format(
                            "%d bytes are left over at offset %d",
                            end - position, position - start));
        }
    }

    private void checkFiles(Row file) throws IOException {
        int count = readInt("the number of files");
        if (count < 0 || count > (end - position) / Integer.BYTES) {
            throw new IOException(
                    String.format(
                            "a list of %ss claims %d of them at offset %d, where %d bytes are left",
                            file.name, count, position - Integer.BYTES - start, end - position));
        }
        for (int i = 0; i < count; i++) {
            int length = length(file.name);
            checkRow(file, position, length);
            position += length;
        }
    }

    private int length(String what) throws IOException {
        int length = readInt(what);
        if (length < 0 || length > end - position) {
            throw new IOException(
                    String.format(
                            "%s claims %d bytes at offset %d, where %d are left",
                            what, length, position - Integer.BYTES - start, end - position));
        }
        return length;
    }

    private int readInt(String what) throws IOException {
        require(Integer.BYTES, what);
        int value = BigEndian.getInt(report, position);
        position += Integer.BYTES;
        return value;
    }

    /** Of the committable that was checked last. */
    long checkpointId() {
        return BigEndian.getLong(report, start);
    }

    private void require(int bytes, String what) throws IOException {
        if (end - position < bytes) {
            throw new IOException(
                    String.format(
                            "%d bytes are left at offset %d, too few for %s",
                            end - position, position - start, what));
        }
    }

    // ------------------------------------------------------------------------
    //  Binary rows
    // ------------------------------------------------------------------------

    private void checkRow(Row row, int base, int size) throws IOException {
        if (size < row.fixedLength) {
            throw tooShort(row.name, base, size, row.fixedLength);
        }
        long nulls = (long) NULL_BITS.get(report, base);
        if ((nulls & row.neverNull) != 0) {
            throw new IOException(
                    row.firstOf(nulls & row.neverNull) + " is null, which it must not be");
        }
        for (Field field : row.fields) {
            long word = word(base + field.offset);
            if ((nulls & field.nullBit) == 0) {
                if (field.kind != Kind.FIXED) {
                    checkValue(field, word, base, size);
                }
            } else if (word != 0) {
                throw new IOException(field.name + " is null and has a value at the same time");
            }
        }
    }

    /**
     * Checks one value of variable length.
     *
     * @param word what the row or array at {@code base} holds for it in its fixed part
     */
    private void checkValue(Field field, long word, int base, int size) throws IOException {
        if (field.kind == Kind.BYTES && word < 0) {
            checkInline(word, field.name);
            return;
        }
        int offset = (int) (word >> 32);
        int length = (int) word;
        if (offset < 0 || length < 0 || (long) offset + length > size) {
            throw new IOException(
                    String.format(
                            "%s claims %d bytes at offset %d of the %d bytes at %d",
                            field.name, length, offset, size, base - start));
        }
        switch (field.kind) {
            case SERIALIZED_ROW:
                checkSerializedRow(base + offset, length, field.name);
                return;
            case ROW:
                checkRow(field.row, base + offset, length);
                return;
            case ARRAY:
                checkArray(field, base + offset, length);
                return;
            default:
                // Any bytes will do.
        }
    }

    private static void checkInline(long word, String name) throws IOException {
        // The byte that marks a short value holds its length as well.
        int length = (int) (word >>> 56) & 0x7F;
        if (length >= WORD) {
            throw new IOException(
                    String.format("%s claims %d bytes within a word of %d", name, length, WORD));
        }
    }

    private void checkArray(Field array, int base, int size) throws IOException {
        checkFixedPart(Integer.BYTES, base, size, array.name);
        int count = (int) ROW_INT.get(report, base);
        int width = array.elementWidth;
        // The count is bounded before it is used, so that the header cannot overflow.
        if (count < 0 || (long) count * width > size) {
            throw new IOException(
                    String.format(
                            "%s claims %d elements of %d bytes in an array of %d bytes",
                            array.name, count, width, size));
        }
        int header = BinaryArray.calculateHeaderInBytes(count);
        checkFixedPart(header + (long) width * count, base, size, array.name);
        if (array.element == null) {
            return;
        }
        for (int i = 0; i < count; i++) {
            // The elements of these arrays are never null, whatever their type says.
            checkValue(array.element, word(base + header + width * i), base, size);
        }
    }

    private void checkSerializedRow(int base, int size, String name) throws IOException {
        checkFixedPart(Integer.BYTES, base, size, name);
        int arity = BigEndian.getInt(report, base);
        if (arity < 0 || arity > size / WORD) {
            throw new IOException(
                    String.format("%s claims %d fields in %d bytes", name, arity, size));
        }
        checkFixedPart(
                Integer.BYTES + BinaryRow.calculateBitSetWidthInBytes(arity) + (long) WORD * arity,
                base,
                size,
                name);
    }

    private long word(int position) {
        return (long) ROW_LONG.get(report, position);
    }

    private void checkFixedPart(long needed, int base, int size, String name) throws IOException {
        if (size < needed) {
            throw tooShort(name, base, size, needed);
        }
    }

    private IOException tooShort(String name, int base, int size, long needed) {
        return new IOException(
                String.format(
                        "%s has %d bytes at offset %d, its fixed part alone takes %d",
                        name, size, base - start, needed));
    }

    // ------------------------------------------------------------------------
    //  The schemas, worked out once
    // ------------------------------------------------------------------------

    private enum Kind {
        /** Lies within its row or array; any value will do. */
        FIXED,
        BYTES,
        /** Bytes that hold the number of fields (int) and a binary row. */
        SERIALIZED_ROW,
        ROW,
        ARRAY
    }

    /** What is to be checked of a binary row. */
    private static final class Row {

        private final String name;
        private final RowType type;
        private final long fixedLength;

        /** The fields that must not be null, as {@link #NULL_BITS} tells them. */
        private final long neverNull;

        /** Those of variable length, and those that may be null: the base reads some as if not. */
        private final Field[] fields;

        private Row(RowType type, String name) {
            int nullBits = BinaryRow.calculateBitSetWidthInBytes(type.getFieldCount());
            if (nullBits != WORD) {
                throw new IllegalStateException(
                        name + " has more fields than one word of null bits holds");
            }
            this.name = name;
            this.type = type;
            this.fixedLength = nullBits + (long) WORD * type.getFieldCount();
            List<Field> checked = new ArrayList<>();
            long required = 0;
            for (int i = 0; i < type.getFieldCount(); i++) {
                DataField of = type.getFields().get(i);
                Field field = new Field(of.type(), of.name(), nullBit(i), nullBits + WORD * i);
                boolean mayBeNull = of.type().isNullable() && !of.name().equals(NEVER_NULL);
                if (!mayBeNull) {
                    required |= field.nullBit;
                }
                if (mayBeNull || field.kind != Kind.FIXED) {
                    checked.add(field);
                }
            }
            this.neverNull = required;
            this.fields = checked.toArray(new Field[0]);
        }

        private static long nullBit(int field) {
            return 1L << (BinaryRow.HEADER_SIZE_IN_BITS + field);
        }

        private String firstOf(long nulls) {
            return type.getFieldNames()
                    .get(Long.numberOfTrailingZeros(nulls) - BinaryRow.HEADER_SIZE_IN_BITS);
        }
    }

    /** A field of a row, or the elements of an array. */
    private static final class Field {

        private final String name;
        private final Kind kind;

        /** Of the field of a row. */
        private final long nullBit;

        private final int offset;

        /** What is in it, if it is a row. */
        @Nullable private final Row row;

        /** Bytes that each element takes in the fixed part, if it is an array. */
        private final int elementWidth;

        /** The elements of an array, if they have a variable length. */
        @Nullable private final Field element;

        private Field(DataType type, String name, long nullBit, int offset) {
            this.name = name;
            this.kind = kind(type, name);
            this.nullBit = nullBit;
            this.offset = offset;
            this.row = kind == Kind.ROW ? new Row((RowType) type, name) : null;
            if (kind != Kind.ARRAY) {
                this.elementWidth = 0;
                this.element = null;
                return;
            }
            DataType elementType = ((ArrayType) type).getElementType();
            this.elementWidth = BinaryArray.calculateFixLengthPartSize(elementType);
            this.element =
                    BinaryRow.isInFixedLengthPart(elementType)
                            ? null
                            : new Field(elementType, name, 0, 0);
        }

        private static Kind kind(DataType type, String name) {
            if (BinaryRow.isInFixedLengthPart(type)) {
                return Kind.FIXED;
            }
            switch (type.getTypeRoot()) {
                case CHAR:
                case VARCHAR:
                case BINARY:
                case VARBINARY:
                    return SERIALIZED_ROWS.contains(name) ? Kind.SERIALIZED_ROW : Kind.BYTES;
                case ROW:
                    return Kind.ROW;
                case ARRAY:
                    return Kind.ARRAY;
                default:
                    throw new IllegalStateException(
                            name + " has the type " + type + ", which is not known here");
            }
        }
    }
}
