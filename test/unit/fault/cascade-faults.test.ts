/** Which turns are struck, and how long the agent was silent: what the runs of `test/fault/cascade` are judged by. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../bench/harness/seeded-random.ts';
import { LINES, STRANGE_LINES, TOOL_LINE } from '../../fault/cascade/conversation.ts';
import { owedSilences } from '../../fault/cascade/owed-silence.ts';
import { linesWith, planTurnFaults } from '../../fault/cascade/turn-faults.ts';

describe('the plan of faults', () => {
  const plan = planTurnFaults(500, 0.05, createRandom(3));
  const struck = plan.flat().filter((fault) => fault !== null);

  test('is of its seed alone, and strikes its share of the turns in every part', () => {
    expect(planTurnFaults(500, 0.05, createRandom(3))).toEqual(plan);
    expect(struck.length).toBeGreaterThan(0.035 * 2_000);
    expect(struck.length).toBeLessThan(0.065 * 2_000);
    expect(new Set(struck.map(({ part }) => part)).size).toBeGreaterThanOrEqual(3);
  });

  test('strikes a tool only where there is one, and puts the line where the model is to misbehave', () => {
    const all = planTurnFaults(2_000, 1, createRandom(4));
    for (const faults of all) {
      faults.forEach((fault, turn) => {
        if (fault?.part === 'tool') expect(turn).toBe(TOOL_LINE);
      });
    }
    const faults = [{ part: 'model' as const, kind: 'endless_answer', chance: 0 }, null, null, null];
    expect(linesWith(faults)).toEqual([STRANGE_LINES.endless_answer, ...LINES.slice(1)]);
  });
});

/** Sound from and to, ms, of the callee and of the agent. */
function wavOf(callee: [number, number][], agent: [number, number][], lengthMs = 10_000): Buffer {
  const wav = Buffer.alloc(44 + lengthMs * 8 * 4);
  [callee, agent].forEach((runs, channel) => {
    for (const [fromMs, toMs] of runs) {
      for (let at = fromMs * 8; at < toMs * 8; at++) wav.writeInt16LE(5_000, 44 + at * 4 + channel * 2);
    }
  });
  return wav;
}

describe('the silence that the agent owed', () => {
  const saidAtMs = [2_000, 6_000];
  const of = (agent: [number, number][], fillers: { startMs: number; endMs: number }[] = []) =>
    owedSilences({
      wav: wavOf(
        [
          [2_000, 3_000],
          [6_000, 7_000],
        ],
        agent,
      ),
      openedMs: 200,
      saidAtMs,
      endMs: 10_000,
      fillers,
    }).map(({ ms }) => ms);

  test('is counted before its first word, and after each line up to its last sound', () => {
    expect(
      of([
        [500, 1_500],
        [3_900, 4_400],
        [5_000, 5_500],
        [7_400, 9_000],
      ]),
    ).toEqual([300, 900, 400]);
  });

  test('is the whole wait where no answer came', () => {
    expect(
      of([
        [500, 1_500],
        [3_900, 5_500],
      ]),
    ).toEqual([300, 900, 3_000]);
  });

  test('goes on behind a filler that no answer followed', () => {
    expect(
      of(
        [
          [500, 1_500],
          [3_700, 4_200],
          [7_400, 9_000],
        ],
        [{ startMs: 3_650, endMs: 4_250 }],
      ),
    ).toEqual([300, 1_800, 400]);
  });
});
