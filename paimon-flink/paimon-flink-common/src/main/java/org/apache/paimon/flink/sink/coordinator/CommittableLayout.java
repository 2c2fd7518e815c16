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

package org.apache.paimon.flink.sink.coordinator;

import org.apache.paimon.data.BinaryArray;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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

    private static final Shape DATA_FILE = new Shape(DataFileMeta.SCHEMA);
    private static final Shape INDEX_FILE = new Shape(IndexFileMeta.SCHEMA);

    private final ByteBuffer in;

    /** The same bytes, as binary rows order them. */
    private final ByteBuffer rows;

    /** Where the committable begins; offsets in messages count from there. */
    private int start;

    CommittableLayout(byte[] report) {
        this.in = ByteBuffer.wrap(report);
        this.rows = ByteBuffer.wrap(report).order(ByteOrder.nativeOrder());
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
        in.limit(offset + length);
        in.position(offset);
        require(Long.BYTES + Integer.BYTES, "its checkpoint id and message version");
        int end = in.limit() - Integer.BYTES;
        int version = in.getInt(end);
        if (version != CommitMessageSerializer.CURRENT_VERSION) {
            throw new IOException(
                    String.format(
                            "its commit message has version %d, only version %d can be read. Commit"
                                    + " it with the build that wrote it.",
                            version, CommitMessageSerializer.CURRENT_VERSION));
        }
        in.getLong();
        in.limit(end);

        int partitionLength = length("partition");
        checkSerializedRow(in.position(), partitionLength, "the partition");
        in.position(in.position() + partitionLength);
        require(Integer.BYTES + 1, "the bucket");
        in.getInt();
        byte hasTotalBuckets = in.get();
        if (hasTotalBuckets == 1) {
            require(Integer.BYTES, "the number of buckets");
            in.getInt();
        } else if (hasTotalBuckets != 0) {
            throw new IOException(
                    String.format(
                            "byte %d is %d, but a boolean is 0 or 1",
                            position() - 1, hasTotalBuckets));
        }
        for (int increment = 0; increment < 2; increment++) {
            for (int list = 0; list < 3; list++) {
                checkFiles(DATA_FILE, "data file");
            }
            for (int list = 0; list < 2; list++) {
                checkFiles(INDEX_FILE, "index file");
            }
        }
        if (in.hasRemaining()) {
            throw new IOException(
                    String.format(
                            "%d bytes are left over at offset %d", in.remaining(), position()));
        }
    }

    private void checkFiles(Shape schema, String what) throws IOException {
        require(Integer.BYTES, "the number of files");
        int count = in.getInt();
        if (count < 0 || count > in.remaining() / Integer.BYTES) {
            throw new IOException(
                    String.format(
                            "a list of %ss claims %d of them at offset %d, where %d bytes are left",
                            what, count, position() - Integer.BYTES, in.remaining()));
        }
        for (int file = 0; file < count; file++) {
            int length = length(what);
            checkRow(schema, in.position(), length, what);
            in.position(in.position() + length);
        }
    }

    private int length(String what) throws IOException {
        if (in.remaining() < Integer.BYTES) {
            require(Integer.BYTES, "the length of a " + what);
        }
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new IOException(
                    String.format(
                            "%s claims %d bytes at offset %d, where %d are left",
                            what, length, position() - Integer.BYTES, in.remaining()));
        }
        return length;
    }

    private int position() {
        return in.position() - start;
    }

    private void require(int bytes, String what) throws IOException {
        if (in.remaining() < bytes) {
            throw new IOException(
                    String.format(
                            "%d bytes are left at offset %d, too few for %s",
                            in.remaining(), position(), what));
        }
    }

    // ------------------------------------------------------------------------
    //  Binary rows
    // ------------------------------------------------------------------------

    private void checkRow(Shape row, int base, int size, String what) throws IOException {
        checkFixedPart(row.fixedPart, base, size, what);
        int position = base + row.nullBits;
        for (int i = 0; i < row.fields.length; i++, position += WORD) {
            Field field = row.fields[i];
            if (bit(base, i + BinaryRow.HEADER_SIZE_IN_BITS)) {
                checkNull(field, position);
            } else if (field.kind != Kind.FIXED) {
                checkField(field, base, size, rows.getLong(position));
            }
        }
    }

    private void checkNull(Field field, int position) throws IOException {
        if (!field.nullable) {
            throw new IOException(field.name + " is null, which it must not be");
        }
        if (rows.getLong(position) != 0) {
            throw new IOException(field.name + " is null and has a value at the same time");
        }
    }

    private void checkField(Field field, int base, int size, long word) throws IOException {
        if (field.kind == Kind.BYTES && word < 0) {
            checkInline(word, field.name);
            return;
        }
        checkRange(word, base, size, field.name);
        int from = base + offset(word);
        int length = (int) word;
        switch (field.kind) {
            case SERIALIZED_ROW:
                checkSerializedRow(from, length, field.name);
                return;
            case ROW:
                checkRow(field.row, from, length, field.name);
                return;
            case ARRAY:
                checkArray(field, from, length);
                return;
            default:
        }
    }

    private void checkArray(Field array, int base, int size) throws IOException {
        checkFixedPart(Integer.BYTES, base, size, array.name);
        int count = rows.getInt(base);
        // The count is bounded before it is used, so that the header cannot overflow.
        if (count < 0 || count > size / array.elementWidth) {
            throw new IOException(
                    String.format(
                            "%s claims %d elements of %d bytes in an array of %d bytes",
                            array.name, count, array.elementWidth, size));
        }
        int header = BinaryArray.calculateHeaderInBytes(count);
        checkFixedPart(header + (long) array.elementWidth * count, base, size, array.name);
        if (array.element.kind == Kind.FIXED) {
            return;
        }
        for (int i = 0; i < count; i++) {
            // The elements of these arrays are never null, whatever their type says.
            checkField(
                    array.element,
                    base,
                    size,
                    rows.getLong(base + header + array.elementWidth * i));
        }
    }

    private void checkSerializedRow(int base, int size, String name) throws IOException {
        checkFixedPart(Integer.BYTES, base, size, name);
        int arity = in.getInt(base);
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

    private static void checkInline(long word, String name) throws IOException {
        // The byte that marks a short value holds its length as well.
        int length = (int) (word >>> 56) & 0x7F;
        if (length >= WORD) {
            throw new IOException(
                    String.format("%s claims %d bytes within a word of %d", name, length, WORD));
        }
    }

    private void checkRange(long word, int base, int size, String name) throws IOException {
        int offset = offset(word);
        int length = (int) word;
        if (offset < 0 || length < 0 || (long) offset + length > size) {
            throw new IOException(
                    String.format(
                            "%s claims %d bytes at offset %d of the %d bytes at %d",
                            name, length, offset, size, base - start));
        }
    }

    private static int offset(long word) {
        return (int) (word >> 32);
    }

    private void checkFixedPart(long needed, int base, int size, String name) throws IOException {
        if (size < needed) {
            throw new IOException(
                    String.format(
                            "%s has %d bytes at offset %d, its fixed part alone takes %d",
                            name, size, base - start, needed));
        }
    }

    private boolean bit(int base, int index) {
        return (rows.get(base + index / 8) & (1 << (index % 8))) != 0;
    }

    // ------------------------------------------------------------------------
    //  Schemas, once and for all brought into the form that the check needs
    // ------------------------------------------------------------------------

    private enum Kind {
        /** Lies in its word. */
        FIXED,
        /** A string or bytes: short ones in the word, others where the word points to. */
        BYTES,
        SERIALIZED_ROW,
        ROW,
        ARRAY
    }

    private static final class Shape {

        private final int nullBits;
        private final long fixedPart;
        private final Field[] fields;

        private Shape(RowType type) {
            List<DataField> dataFields = type.getFields();
            nullBits = BinaryRow.calculateBitSetWidthInBytes(dataFields.size());
            fixedPart = nullBits + (long) WORD * dataFields.size();
            fields = new Field[dataFields.size()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = new Field(dataFields.get(i).name(), dataFields.get(i).type());
            }
        }
    }

    private static final class Field {

        private final String name;
        private final Kind kind;
        private final boolean nullable;

        /** Of a row; null otherwise. */
        private final Shape row;

        /** Of an array; null otherwise. */
        private final Field element;

        private final int elementWidth;

        private Field(String name, DataType type) {
            this.name = name;
            this.kind = kind(name, type);
            this.nullable = type.isNullable() && !name.equals(NEVER_NULL);
            this.row = kind == Kind.ROW ? new Shape((RowType) type) : null;
            DataType elementType = kind == Kind.ARRAY ? ((ArrayType) type).getElementType() : null;
            this.element = elementType == null ? null : new Field(name, elementType);
            this.elementWidth =
                    elementType == null ? 0 : BinaryArray.calculateFixLengthPartSize(elementType);
        }

        private static Kind kind(String name, DataType type) {
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
                    throw new IllegalArgumentException(
                            name + " has the type " + type + ", which is not known here.");
            }
        }
    }
}
