import { describe, expect, it } from 'vitest';
import { NotTaken } from '../../../../bench/race/callers-process.ts';
import { climb } from '../../../../bench/race/ladder.ts';
import { breakage, type RungResult } from '../../../../bench/race/rung.ts';
import { result } from './result.ts';

const order = { subject: 'one', repetition: 1, atRestMs: 900 };

/** Carries so many, and notes what was tried. */
function carrying(most: number) {
  const tried: number[] = [];
  const run = async (conversations: number): Promise<RungResult> => {
    tried.push(conversations);
    const { heard } = result(conversations);
    return conversations <= most
      ? result(conversations)
      : result(conversations, { heard: { ...heard, unanswered: 1 } });
  };
  return { tried, run };
}

describe('a rung of the race', () => {
  it('is carried where all are answered in time, and in one piece', () => {
    expect(breakage(result(10), 900)).toBeNull();
  });

  it('is not, where answers come later than at rest', () => {
    const { heard } = result(10);
    expect(breakage(result(10, { heard: { ...heard, repliesMs: [900, 951] } }), 900)).toBe('answers 51 ms later (p99)');
  });

  it('is not, where sound comes late, lines have no answer, or conversations break off', () => {
    const { heard } = result(10);
    expect(breakage(result(10, { heard: { ...heard, lateMs: 6 } }), 900)).toBe('0.12 % of the sound late');
    expect(breakage(result(10, { heard: { ...heard, unanswered: 1 } }), 900)).toBe('1 of 2 lines had no answer');
    expect(breakage(result(10, { closedEarly: 2 }), 900)).toBe('2 conversations broke off');
    expect(breakage(result(10, { heard: { ...heard, repliesMs: [] } }), 900)).toBe('nobody was answered');
  });
});

describe('the search for what a subject carries', () => {
  it('goes up until it breaks', async () => {
    const { tried, run } = carrying(25);
    const found = await climb({ ...order, from: 15 }, run);
    expect(tried).toEqual([15, 20, 25, 30]);
    expect(found).toMatchObject({ carried: 25, brokeBy: '1 of 2 lines had no answer at 30', endedBy: null });
  });

  it('goes down until it holds', async () => {
    const { tried, run } = carrying(10);
    expect(await climb({ ...order, from: 20 }, run)).toMatchObject({ carried: 10 });
    expect(tried).toEqual([20, 15, 10]);
  });

  it('carries none where the lowest rung breaks', async () => {
    const { run } = carrying(0);
    expect(await climb({ ...order, from: 5 }, run)).toMatchObject({ carried: 0 });
  });

  it('counts conversations that were not taken as not carried, and lets other faults through', async () => {
    const found = await climb({ ...order, from: 5 }, async (conversations) => {
      if (conversations > 5) throw new NotTaken('2 calls were not open in time');
      return result(conversations);
    });
    expect(found).toMatchObject({ carried: 5, brokeBy: '2 calls were not open in time at 10' });
    const stopped = climb({ ...order, from: 5 }, () => Promise.reject(new Error('stopped')));
    await expect(stopped).rejects.toThrow('stopped');
  });

  it('tries a void run again, and knows nothing above it where it stays void', async () => {
    const { heard } = result(10);
    const late = { heard: { ...heard, unanswered: 2 }, voidBecause: 'the other core was 95 % busy' };
    const tried: number[] = [];
    const found = await climb({ ...order, from: 300 }, async (conversations) => {
      tried.push(conversations);
      return conversations <= 300 ? result(conversations) : result(conversations, late);
    });
    expect(tried).toEqual([300, 350, 350]);
    expect(found).toMatchObject({ carried: 300, brokeBy: null, endedBy: 'the other core was 95 % busy at 350' });
  });
});
