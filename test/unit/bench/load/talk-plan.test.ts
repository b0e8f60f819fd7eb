import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import type { Talk } from '../../../../bench/load/contract/workload.ts';
import { clipOf, type SaidFrame, SILENT_FRAME } from '../../../../bench/load/far-end/said-sound.ts';
import { createTalkPlan } from '../../../../bench/load/far-end/talk-plan.ts';
import { tone } from './emulated-target.ts';

/** 200 ms, 400 ms. */
const CLIPS = [clipOf(tone(200)), clipOf(tone(400, -20, 300))];
const TURNS: Extract<Talk, { kind: 'turns' }> = {
  kind: 'turns',
  clips: [],
  turns: 3,
  afterMs: 700,
  patienceMs: 4_000,
  bargeInShare: 0,
  bargeInAfterMs: 1_500,
};

/** When the far end spoke, `[from, to)` by the instants of its frames, while the target is heard in `target`. */
function spoken(talk: Talk, endMs: number, target: readonly [number, number][], seed = 1): [number, number][] {
  const plan = createTalkPlan(talk, CLIPS, createRandom(seed));
  const runs: [number, number][] = [];
  let before: SaidFrame = SILENT_FRAME;
  for (let nowMs = 0; nowMs < endMs; nowMs += 20) {
    const heard = target.filter(([from]) => from < nowMs).at(-1);
    const frame = plan.frame(nowMs, heard === undefined ? Number.NEGATIVE_INFINITY : Math.min(heard[1], nowMs));
    if (frame !== SILENT_FRAME && before === SILENT_FRAME) runs.push([nowMs, nowMs]);
    if (frame !== SILENT_FRAME) runs.at(-1)![1] = nowMs + 20;
    before = frame;
  }
  return runs;
}

describe('turns', () => {
  test('are said when the target has spoken and was silent, as often as planned, clip after clip', () => {
    const target: [number, number][] = [
      [500, 2_000],
      // A pause in its words.
      [2_400, 3_000],
      [5_000, 6_000],
      [8_000, 9_000],
      [11_000, 12_000],
    ];
    const runs = spoken(TURNS, 20_000, target);
    expect(runs.map(([from]) => from)).toEqual([3_700, 6_700, 9_700]);
    const lengths = runs.map(([from, to]) => to - from);
    expect([
      [200, 400, 200],
      [400, 200, 400],
    ]).toContainEqual(lengths);
  });

  test('are said after its patience where nobody speaks', () => {
    expect(spoken(TURNS, 20_000, []).map(([from]) => from)[0]).toBe(4_000);
    expect(spoken(TURNS, 20_000, []).length).toBe(3);
  });

  test('interrupt where they are to, so long after the target began, and wait for it after that', () => {
    const talk = { ...TURNS, turns: 1, bargeInShare: 1 };
    expect(spoken(talk, 9_000, [[1_000, 8_000]])[0]![0]).toBeCloseTo(2_520, -2);
    // Too short to be interrupted: an ordinary turn.
    expect(spoken(talk, 9_000, [[1_000, 2_000]])[0]![0]).toBe(2_700);
  });

  test('interrupt in the planned share, the same with the same seed', () => {
    const talk = { ...TURNS, turns: 200, bargeInShare: 0.3 };
    const target = Array.from({ length: 200 }, (_, i): [number, number] => [i * 6_000 + 1_000, i * 6_000 + 4_000]);
    const during = (seed: number): number =>
      spoken(talk, 1_200_000, target, seed).filter(([from]) => from % 6_000 > 1_000 && from % 6_000 < 4_000).length;
    expect(during(5)).toBeGreaterThan(40);
    expect(during(5)).toBeLessThan(80);
    expect(during(5)).toBe(during(5));
  });
});

describe('on-off talk', () => {
  test('takes lengths within its bounds and listens to nobody', () => {
    const talk: Talk = { kind: 'on-off', talkSeconds: [0.5, 2], silenceSeconds: [0.8, 3] };
    const runs = spoken(talk, 300_000, [[0, 300_000]]);
    expect(runs.length).toBeGreaterThan(60);
    for (const [index, [from, to]] of runs.slice(0, -1).entries()) {
      expect(to - from).toBeGreaterThanOrEqual(480);
      expect(to - from).toBeLessThanOrEqual(2_020);
      const silentMs = runs[index + 1]![0] - to;
      expect(silentMs).toBeGreaterThanOrEqual(780);
      expect(silentMs).toBeLessThanOrEqual(3_020);
    }
    expect(spoken(talk, 60_000, [], 2)).toEqual(spoken(talk, 60_000, [[0, 60_000]], 2));
    expect(spoken(talk, 60_000, [], 3)).not.toEqual(spoken(talk, 60_000, [], 2));
  });

  test('ends also where both lengths are nothing', () => {
    const talk: Talk = { kind: 'on-off', talkSeconds: 0, silenceSeconds: 0 };
    expect(spoken(talk, 1_000, []).length).toBe(25);
  });
});

test('silence is silent', () => {
  expect(spoken({ kind: 'silent' }, 60_000, [[1_000, 2_000]])).toEqual([]);
});
