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

import javax.annotation.Nullable;

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

    private static final Row DATA_FILE = new Row(DataFileMeta.SCHEMA, "data file");
    private static final Row INDEX_FILE = new Row(IndexFileMeta.SCHEMA, "index file");

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

        int partitionLength = length("the partition");
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
                checkFiles(DATA_FILE);
            }
            for (int list = 0; list < 2; list++) {
                checkFiles(INDEX_FILE);
            }
        }
        if (in.hasRemaining()) {
            throw new IOException(
                    String.format(
                            "%d bytes are left over at offset %d", in.remaining(), position()));
        }
    }

    private void checkFiles(Row file) throws IOException {
        require(Integer.BYTES, "the number of files");
        int count = in.getInt();
        if (count < 0 || count > in.remaining() / Integer.BYTES) {
            throw new IOException(
                    String.format(
                            "a list of %ss claims %d of them at offset %d, where %d bytes are left",
                            file.name, count, position() - Integer.BYTES, in.remaining()));
        }
        for (int i = 0; i < count; i++) {
            int length = length(file.name);
            checkRow(file, in.position(), length);
            in.position(in.position() + length);
        }
    }

    private int length(String what) throws IOException {
        require(Integer.BYTES, what);
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new IOException(
                    String.format(
                            "%s claims %d bytes at offset %d, where %d are left",
                            what, length, position() - Integer.BYTES, in.remaining()));
        }
        return length;
    }

    /** Of the committable that was checked last. */
    long checkpointId() {
        return in.getLong(start);
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

    private void checkRow(Row row, int base, int size) throws IOException {
        if (size < row.fixedLength) {
            throw tooShort(row.name, base, size, row.fixedLength);
        }
        for (Field field : row.fields) {
            if (bit(base, field.nullBit)) {
                checkNull(field, base + field.offset);
            } else if (field.kind != Kind.FIXED) {
                checkField(field, base, size, base + field.offset);
            }
        }
    }

    private void checkNull(Field field, int position) throws IOException {
        if (!field.mayBeNull) {
            throw new IOException(field.name + " is null, which it must not be");
        }
        if (rows.getLong(position) != 0) {
            throw new IOException(field.name + " is null and has a value at the same time");
        }
    }

    /** Checks one field of variable length, of a row or an array. */
    private void checkField(Field field, int base, int size, int position) throws IOException {
        long word = rows.getLong(position);
        if (field.kind == Kind.BYTES) {
            if (field.serializedRow) {
                checkRange(word, base, size, field.name);
                checkSerializedRow(base + offset(word), (int) word, field.name);
            } else if (word < 0) {
                checkInline(word, field.name);
            } else {
                checkRange(word, base, size, field.name);
            }
            return;
        }
        checkRange(word, base, size, field.name);
        if (field.kind == Kind.ROW) {
            checkRow(field.row, base + offset(word), (int) word);
        } else {
            checkArray(field, base + offset(word), (int) word);
        }
    }

    private void checkArray(Field array, int base, int size) throws IOException {
        checkFixedPart(Integer.BYTES, base, size, array.name);
        int count = rows.getInt(base);
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
            checkField(array.element, base, size, base + header + width * i);
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
            throw tooShort(name, base, size, needed);
        }
    }

    private IOException tooShort(String name, int base, int size, long needed) {
        return new IOException(
                String.format(
                        "%s has %d bytes at offset %d, its fixed part alone takes %d",
                        name, size, base - start, needed));
    }

    private boolean bit(int base, int index) {
        return (rows.get(base + index / 8) & (1 << (index % 8))) != 0;
    }

    // ------------------------------------------------------------------------
    //  The schemas, worked out once
    // ------------------------------------------------------------------------

    private enum Kind {
        FIXED,
        BYTES,
        ROW,
        ARRAY
    }

    /** What is to be checked of a binary row. */
    private static final class Row {

        private final String name;
        private final long fixedLength;
        private final Field[] fields;

        private Row(RowType type, String name) {
            List<DataField> types = type.getFields();
            int nullBits = BinaryRow.calculateBitSetWidthInBytes(types.size());
            this.name = name;
            this.fixedLength = nullBits + (long) WORD * types.size();
            this.fields = new Field[types.size()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] =
                        new Field(
                                types.get(i).type(),
                                types.get(i).name(),
                                i + BinaryRow.HEADER_SIZE_IN_BITS,
                                nullBits + WORD * i);
            }
        }
    }

    /** A field of a row, or the elements of an array. */
    private static final class Field {

        private final String name;
        private final boolean mayBeNull;
        private final Kind kind;
        private final boolean serializedRow;

        /** Of the field of a row. */
        private final int nullBit;

        private final int offset;

        /** What is in it, if it is a row. */
        @Nullable private final Row row;

        /** Bytes that each element takes in the fixed part, if it is an array. */
        private final int elementWidth;

        /** The elements of an array, if they have a variable length. */
        @Nullable private final Field element;

        private Field(DataType type, String name, int nullBit, int offset) {
            this.name = name;
            this.mayBeNull = type.isNullable() && !name.equals(NEVER_NULL);
            this.nullBit = nullBit;
            this.offset = offset;
            this.serializedRow = SERIALIZED_ROWS.contains(name);
            if (BinaryRow.isInFixedLengthPart(type)) {
                this.kind = Kind.FIXED;
                this.row = null;
                this.elementWidth = 0;
                this.element = null;
                return;
            }
            switch (type.getTypeRoot()) {
                case CHAR:
                case VARCHAR:
                case BINARY:
                case VARBINARY:
                    this.kind = Kind.BYTES;
                    this.row = null;
                    this.elementWidth = 0;
                    this.element = null;
                    return;
                case ROW:
                    this.kind = Kind.ROW;
                    this.row = new Row((RowType) type, name);
                    this.elementWidth = 0;
                    this.element = null;
                    return;
                case ARRAY:
                    this.kind = Kind.ARRAY;
                    this.row = null;
                    DataType elementType = ((ArrayType) type).getElementType();
                    this.elementWidth = BinaryArray.calculateFixLengthPartSize(elementType);
                    this.element =
                            BinaryRow.isInFixedLengthPart(elementType)
                                    ? null
                                    : new Field(elementType, name, 0, 0);
                    return;
                default:
                    throw new IllegalStateException(
                            name + " has the type " + type + ", which is not known here");
            }
        }
    }
}
