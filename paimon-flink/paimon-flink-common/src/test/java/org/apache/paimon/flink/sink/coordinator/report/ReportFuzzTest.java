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

import org.apache.paimon.flink.sink.coordinator.CheckpointCommittablesSerializerTest;
import org.apache.paimon.flink.sink.coordinator.commit.CommitBatch;
import org.apache.paimon.flink.sink.coordinator.commit.CommitLedger;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * S2, S6 and W3: what travels and what is persisted, damaged at random. A thousand of each kind in
 * the normal run, a million in the profile {@code fuzz}.
 *
 * <p>Where there is a checksum, no damage passes. Where there is none, as in the state of another
 * build, a report is read or refused; damage inside of a committable is not looked for there.
 *
 * <p>{@code -Dfuzz.payloads=N} sets the number, {@code -Dfuzz.seed=S} the seed of the first one;
 * payload i has the seed S + i, so that a failing one runs alone with N = 1.
 */
class ReportFuzzTest {

    private static final int PAYLOADS = Integer.getInteger("fuzz.payloads", 1_000);
    private static final long SEED = Long.getLong("fuzz.seed", System.nanoTime());

    /** Allowed per payload: some times its bytes, and what an exception takes. */
    private static final long ALLOCATION_BOUND = 1 << 20;

    private static final String[] GOLDEN = {
        "report-v1", "report-v2", "report-v3", "report-v3-plain", "report-v3-empty"
    };

    @Test
    @DisplayName("S2: of a report that was damaged on its way nothing passes")
    void damagedReportsAreRefusedByName() throws Exception {
        Outcome outcome =
                fuzz(
                        (version, payload, golden) -> {
                            ReportReceiver receiver =
                                    new ReportReceiver(1, new CommitLedger(1, checkpoint -> false));
                            receiver.receive(0, 3, RestoredCommittableEvent.endOfReplay(0, -1));
                            receiveNamed(
                                    receiver,
                                    WriterEvents.part(1, 42, version, golden, true, payload));
                        });
        assertThat(outcome.passed).as("damaged, and passed unchecked").isZero();
    }

    @Test
    @DisplayName("S6: of a report that was damaged in the state nothing passes")
    void damagedStateIsRefusedByName() throws Exception {
        Outcome outcome =
                fuzz(
                        (version, payload, golden) -> {
                            EncodedReport written = EncodedReport.of(version, golden);
                            restore(
                                    42,
                                    EncodedReport.fromState(frame(version, payload)),
                                    ReportSideState.of(written, 42));
                        });
        assertThat(outcome.passed).as("damaged, and passed unchecked").isZero();
    }

    @Test
    @DisplayName("S6: damaged side state is refused, or does not fit to the report")
    void damagedSideStateIsRefused() throws Exception {
        EncodedReport written = EncodedReport.of(3, GoldenBytes.read("report-v3"));
        byte[] element = ReportSideState.of(written, 42).toBytes();
        for (int at = 0; at < element.length; at++) {
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                byte[] damaged = element.clone();
                damaged[at] ^= (byte) (1 << bit);
                try {
                    ReportSideState read = ReportSideState.fromBytes(damaged);
                    if (read.writtenIn() == 42 && read.checkpointId() == 42) {
                        restore(42, EncodedReport.fromState(written.toState()), read);
                        assertThat(read).as("bit %d of byte %d", bit, at).isNull();
                    }
                } catch (IOException e) {
                    assertThat(hasMessage(e)).isTrue();
                }
            }
        }
    }

    @Test
    @DisplayName("S2: a header without a checksum is read or refused, and allocates little")
    void damagedHeadersAreReadOrRefused() throws Exception {
        Outcome outcome =
                fuzz(
                        (version, payload, golden) -> {
                            byte[] header = golden.clone();
                            int length = Math.min(26, Math.min(payload.length, header.length));
                            System.arraycopy(payload, 0, header, 0, length);
                            Reports.SERIALIZER.deserialize(version, header).committables().size();
                        });
        assertThat(outcome.refused).isPositive();
    }

    private static void restore(long restored, EncodedReport report, ReportSideState sideState)
            throws IOException, InterruptedException {
        CommitLedger ledger = new CommitLedger(1, checkpoint -> false);
        ledger.restoring(restored, -1, id -> false);
        ReportReceiver receiver = new ReportReceiver(1, ledger);
        new WriterEventSender(
                        event -> {
                            try {
                                receiveNamed(receiver, (WriterEvent) event);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        },
                        () -> {})
                .replay(
                        restored,
                        Collections.singletonList(report),
                        Collections.singletonList(sideState));
        for (CommitBatch batch : ledger.recover()) {
            for (CommitBatch.Entry entry = batch.releaseNext();
                    entry != null;
                    entry = batch.releaseNext()) {
                entry.report().decode(Reports.SERIALIZER);
            }
        }
    }

    private static byte[] frame(int version, byte[] bytes) {
        return ByteBuffer.allocate(2 * Integer.BYTES + bytes.length)
                .putInt(version)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    private static void receiveNamed(ReportReceiver receiver, WriterEvent event)
            throws IOException {
        try {
            receiver.receive(0, 3, event);
        } catch (ReportProtocolException e) {
            assertThat(e.getMessage()).startsWith("Writer subtask 0 (attempt 3), checkpoint 42: ");
            throw e;
        }
    }

    // ------------------------------------------------------------------------

    @FunctionalInterface
    private interface Target {

        void feed(int version, byte[] payload, byte[] golden) throws Exception;
    }

    private static final class Outcome {

        private int refused;

        /** Damaged, and read all the same. */
        private int passed;
    }

    private static Outcome fuzz(Target target) throws Exception {
        System.out.printf("%d payloads, -Dfuzz.seed=%d%n", PAYLOADS, SEED);
        byte[][] golden = new byte[GOLDEN.length][];
        for (int i = 0; i < GOLDEN.length; i++) {
            golden[i] = GoldenBytes.read(GOLDEN[i]);
        }
        target.feed(3, golden[2], golden[2]); // loads the classes

        Outcome outcome = new Outcome();
        for (long i = 0; i < PAYLOADS; i++) {
            Random random = new Random(SEED + i);
            int which = random.nextInt(GOLDEN.length);
            int version = GOLDEN[which].charAt("report-v".length()) - '0';
            byte[] payload = mutated(golden[which], random);
            boolean refused =
                    feed(
                            target,
                            version,
                            payload,
                            golden[which],
                            "-Dfuzz.payloads=1 -Dfuzz.seed=" + (SEED + i));
            outcome.refused += refused ? 1 : 0;
            outcome.passed += !refused && !Arrays.equals(payload, golden[which]) ? 1 : 0;
        }
        return outcome;
    }

    /** Returns whether the payload was refused. */
    private static boolean feed(
            Target target, int version, byte[] payload, byte[] golden, String rerun) {
        boolean[] refused = new boolean[1];
        Throwable[] other = new Throwable[1];
        long allocated =
                CheckpointCommittablesSerializerTest.allocatedWhile(
                        () -> {
                            try {
                                target.feed(version, payload, golden);
                            } catch (UncheckedIOException e) {
                                refused[0] = true;
                                other[0] = hasMessage(e.getCause()) ? null : e;
                            } catch (IOException e) {
                                refused[0] = true;
                                other[0] = hasMessage(e) ? null : e;
                            } catch (Throwable t) {
                                other[0] = t;
                            }
                        });
        if (other[0] != null) {
            throw new AssertionError(
                    String.format(
                            "Version %d, %d bytes: only an IOException with a message may come out,"
                                    + " but got %s. Again with %s",
                            version, payload.length, other[0], rerun),
                    other[0]);
        }
        assertThat(allocated)
                .as("bytes allocated for %d bytes of payload; again with %s", payload.length, rerun)
                .isLessThan(ALLOCATION_BOUND);
        return refused[0];
    }

    private static boolean hasMessage(IOException e) {
        return e.getMessage() != null
                && !e.getMessage().trim().isEmpty()
                && !e.getMessage().endsWith(": null");
    }

    private static byte[] mutated(byte[] golden, Random random) {
        byte[] payload = golden.clone();
        for (int mutations = 1 + random.nextInt(4); mutations > 0; mutations--) {
            payload = mutatedOnce(payload, random);
        }
        return payload;
    }

    private static byte[] mutatedOnce(byte[] payload, Random random) {
        if (payload.length < 8) {
            return Arrays.copyOf(payload, 8 + random.nextInt(64));
        }
        int at = random.nextInt(payload.length);
        int word = random.nextInt(payload.length - 3);
        switch (random.nextInt(8)) {
            case 0:
                payload[at] ^= (byte) (1 << random.nextInt(8));
                return payload;
            case 1:
                payload[at] = (byte) random.nextInt(256);
                return payload;
            case 2:
                ByteBuffer.wrap(payload).putInt(word, random.nextInt());
                return payload;
            case 3:
                int[] absurd = {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 0, 1 << 28, 100_000_000};
                ByteBuffer.wrap(payload).putInt(word, absurd[random.nextInt(absurd.length)]);
                return payload;
            case 4:
                return Arrays.copyOf(payload, at);
            case 5:
                return Arrays.copyOf(payload, payload.length + 1 + random.nextInt(40));
            case 6:
                int length = Math.min(random.nextInt(64), payload.length - at);
                System.arraycopy(
                        payload, random.nextInt(payload.length - length + 1), payload, at, length);
                return payload;
            default:
                ByteBuffer words = ByteBuffer.wrap(payload);
                words.putInt(word, words.getInt(word) + random.nextInt(17) - 8);
                return payload;
        }
    }
}
