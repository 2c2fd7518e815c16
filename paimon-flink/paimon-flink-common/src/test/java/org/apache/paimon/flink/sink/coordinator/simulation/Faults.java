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

package org.apache.paimon.flink.sink.coordinator.simulation;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/** The faults that are due, and the points at which they strike. */
final class Faults {

    /** Where a fault strikes. */
    enum Point {
        NEVER,
        BEFORE,
        AFTER
    }

    private final Effects effects;

    private Point commitFails = Point.NEVER;
    private Point commitHangs = Point.NEVER;
    private Point tagFails = Point.NEVER;

    /** Changes of files until the process dies; 0: it does not. */
    private int crashIn;

    private boolean tagFailed;
    private boolean crashTears;
    private boolean hangObeys;
    private boolean crashed;

    Faults(Effects effects) {
        this.effects = effects;
    }

    void commitFails(Point point) {
        commitFails = point;
    }

    /**
     * @param obeys whether it ends at an interrupt
     */
    void commitHangs(Point point, boolean obeys) {
        commitHangs = point;
        hangObeys = obeys;
    }

    void tagFails(Point point) {
        tagFails = point;
    }

    /**
     * @param tears whether a file that is being written is half there afterwards
     */
    void crashIn(int changes, boolean tears) {
        crashIn = changes;
        crashTears = tears;
    }

    boolean tears() {
        return crashTears;
    }

    boolean hangDue() {
        return commitHangs != Point.NEVER;
    }

    /** Whether a change of a tag has failed since the last call. */
    boolean takeTagFailed() {
        boolean failed = tagFailed;
        tagFailed = false;
        return failed;
    }

    /** Whether the process has died since the last call. */
    boolean takeCrash() {
        boolean died = crashed;
        crashed = false;
        return died;
    }

    void off() {
        commitFails = Point.NEVER;
        commitHangs = Point.NEVER;
        tagFails = Point.NEVER;
        crashIn = 0;
    }

    void beforeCommit(SimulatedLoop loop) throws IOException {
        crash(loop);
        if (commitHangs == Point.BEFORE) {
            hang(loop);
        }
        if (commitFails == Point.BEFORE) {
            commitFails = Point.NEVER;
            effects.add(Effects.Effect.FAULT);
            throw new SimulatedFailure("before the commit");
        }
    }

    void afterCommit(SimulatedLoop loop) throws IOException {
        crash(loop);
        if (commitHangs == Point.AFTER) {
            hang(loop);
        }
        if (commitFails == Point.AFTER) {
            commitFails = Point.NEVER;
            effects.add(Effects.Effect.FAULT);
            throw new SimulatedFailure("after the commit");
        }
    }

    private void hang(SimulatedLoop loop) throws IOException {
        commitHangs = Point.NEVER;
        effects.add(Effects.Effect.FAULT);
        loop.hang();
        if (hangObeys && loop.cancelled()) {
            throw new ClosedByInterruptException();
        }
    }

    void beforeTag(SimulatedLoop loop) throws IOException {
        crash(loop);
        if (tagFails == Point.BEFORE) {
            tagFails = Point.NEVER;
            tagFailed = true;
            effects.add(Effects.Effect.FAULT);
            throw new SimulatedFailure("before the tag");
        }
    }

    void afterTag(SimulatedLoop loop) throws IOException {
        crash(loop);
        if (tagFails == Point.AFTER) {
            tagFails = Point.NEVER;
            tagFailed = true;
            effects.add(Effects.Effect.FAULT);
            throw new SimulatedFailure("after the tag");
        }
    }

    private void crash(SimulatedLoop loop) {
        if (crashIn > 0 && --crashIn == 0) {
            crashed = true;
            effects.add(Effects.Effect.FAULT);
            loop.process.markDead();
            throw new ProcessDied();
        }
    }
}
