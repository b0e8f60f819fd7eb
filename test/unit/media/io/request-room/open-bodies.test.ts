import { describe, expect, it } from 'vitest';
import { OpenBodies, type OpenBody } from '../../../../../media/io/request-room/open-bodies.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

interface Body extends OpenBody {
  bytes: number;
  isPaused: boolean;
  was: string | null;
}

function setUp(total: number, each: number, firstMs = 5_000) {
  const clock = new VirtualClock();
  const bodies = new OpenBodies({ clock, total, each, firstMs });
  const make = (holder: string): Body => ({
    holder,
    beganAtMs: clock.nowMs(),
    bytes: 1,
    isPaused: false,
    was: null,
    cut(why) {
      this.was = why;
    },
  });
  const begin = (holder: string): { body: Body; entry: string } => {
    const body = make(holder);
    return { body, entry: bodies.begin(body) };
  };
  return { clock, bodies, begin };
}

describe('bodies on their way', () => {
  it('are cut 5 s after their first line, and one that grows by 16 KiB a second is not', () => {
    const { clock, bodies, begin } = setUp(10, 10);
    const { body: slow } = begin('a');
    const { body: grows } = begin('a');
    const { body: held } = begin('b');
    held.isPaused = true;
    for (let second = 1; second <= 60; second++) {
      grows.bytes += 16 * 1024;
      clock.advanceMs(1_000);
      expect(slow.was, `after ${second} s`).toBe(second <= 5 ? null : 'slow');
    }
    expect([grows.was, held.was]).toEqual([null, null]);
    clock.advanceMs(6_000);
    expect(grows.was).toBe('slow');
    expect(bodies.count).toBe(1);
    bodies.end(held);
    clock.advanceMs(1_000);
    expect([bodies.count, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('of one holder give way to its next one when they are a second old, and refuse it before', () => {
    const { clock, bodies, begin } = setUp(10, 2);
    const { body: first } = begin('a');
    const { body: second } = begin('a');
    expect(begin('a').entry).toBe('holder_full');
    expect(begin('b').entry).toBe('entered');
    clock.advanceMs(1_000);
    expect(begin('a').entry).toBe('entered');
    expect([first.was, second.was]).toEqual(['outnumbered', null]);
    expect(bodies.count).toBe(3);
  });

  it('when all are too many, the one who has most loses its oldest at once; who has none gets in', () => {
    const { clock, begin } = setUp(4, 4);
    const many = [begin('fat').body, begin('fat').body, begin('fat').body];
    expect(begin('a').entry).toBe('entered');
    expect(begin('b').entry).toBe('entered');
    expect(many.map((body) => body.was)).toEqual(['outnumbered', null, null]);
    expect(begin('c').entry).toBe('entered');
    // Now each has one: nobody has more than the newcomer would have.
    expect(begin('d').entry).toBe('full');
    clock.advanceMs(1_000);
    expect(begin('d').entry).toBe('entered');
    expect(many.map((body) => body.was)).toEqual(['outnumbered', 'outnumbered', 'outnumbered']);
  });

  it('an attack of 100 addresses never keeps out a body that is whole within a second', () => {
    const { clock, bodies, begin } = setUp(512, 128);
    let refused = 0;
    let cut = 0;
    for (let round = 0; round < 200; round++) {
      for (let attacker = 0; attacker < 100; attacker++) begin(`10.0.0.${attacker}`);
      const { body, entry } = begin('honest');
      if (entry !== 'entered') refused++;
      clock.advanceMs(100);
      if (body.was !== null) cut++;
      bodies.end(body);
    }
    expect({ refused, cut }).toEqual({ refused: 0, cut: 0 });
    expect(bodies.count).toBeLessThanOrEqual(512);
  });
});
