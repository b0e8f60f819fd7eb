import { describe, expect, test } from 'vitest';
import type { PlannedCall } from '../../../../../bench/load/contract/planned-call.ts';
import { createTalkPlan } from '../../../../../bench/load/far-end/talk-plan.ts';
import { Visitor } from '../../../../../bench/load/targets/browser/visitor.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const FRAMES = 50;
const RATE_HZ = 24_000;

describe('a visitor', () => {
  test.each([true, false])('hears the target whether its sound is kept or not (%s)', (keepsSound) => {
    const clock = new VirtualClock();
    const planned = { talk: { kind: 'silent' } } as PlannedCall;
    const talk = createTalkPlan(planned.talk, [], () => 0);
    const visitor = new Visitor({ planned, talk, clock, gapBufferMs: 60, keepsSound });
    const tone = Int16Array.from({ length: RATE_HZ / 50 }, (_none, at) => 8_000 * Math.sin(at / 9));
    for (let frame = 0; frame < FRAMES; frame++) {
      clock.advanceMs(20);
      visitor.hear(tone, RATE_HZ);
    }
    expect(visitor.judged(clock.nowMs()).firstWordMs).toBe(20);
  });
});
