/** Two runs beside each other: what is told of them, and how often it is told wrongly. */
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../../bench/harness/seeded-random.ts';
import type { RunResult } from '../../../../bench/load/contract/run-result.ts';
import { createChance } from '../../../../bench/load/result/chance.ts';
import { comparabilityOf, unjudgedBecause } from '../../../../bench/load/result/comparable.ts';
import { compareResults } from '../../../../bench/load/result/compare.ts';
import { emptyDistribution } from '../../../../bench/load/result/times.ts';
import { endOf, madeRun, type RunShape, STEADY } from '../../../support/load-runs/make-run.ts';

const run = (changes: Partial<RunShape> = {}): RunResult => madeRun({ ...STEADY, ...changes });
const base = run();
const verdictOf = (name: string, after: RunResult, tolerance = 0.05, before = base) => {
  const found = compareResults(before, after, { tolerance }).find((measure) => measure.name === name);
  if (found === undefined) throw new Error(`${name} was not compared`);
  return found.verdict;
};

describe('a comparison', () => {
  it('of a run with itself finds nothing worse and nothing better', () => {
    const verdicts = compareResults(base, base, { tolerance: 0.05 }).map(({ verdict }) => verdict.is);
    expect(verdicts).not.toContain('worse');
    expect(verdicts).not.toContain('better');
    expect(verdictOf('reply.p50', base).sentence).toBe('no worse');
  });

  it('gives the same verdicts each time', () => {
    const other = run({ seed: 12 });
    expect(compareResults(base, other, { tolerance: 0.05 })).toEqual(compareResults(base, other, { tolerance: 0.05 }));
  });

  it('says by how much a reply is slower, and that it is quicker the other way round', () => {
    const slower = run({ seed: 12, replyMs: 620 * 1.2 });
    const verdict = verdictOf('reply.p50', slower);
    expect(verdict.is).toBe('worse');
    const [, low, high] = /^worse by ([\d.]+)–([\d.]+) %$/.exec(verdict.sentence)!.map(Number);
    expect(low).toBeGreaterThan(10);
    expect(low).toBeLessThan(20);
    expect(high).toBeGreaterThan(20);
    expect(high).toBeLessThan(30);
    expect(verdictOf('reply.p50', base, 0.05, slower).sentence).toMatch(/^better by 1\d–2\d %$/);
  });

  it('does not call worse what the tolerance allows', () => {
    const slower = run({ seed: 12, replyMs: 620 * 1.2 });
    expect(verdictOf('reply.p50', slower, 0.4).is).toBe('no worse');
  });

  it('cannot tell from few calls, and says so', () => {
    const [few, slower] = [run({ calls: 8 }), run({ calls: 8, seed: 12, replyMs: 660 })];
    expect(verdictOf('reply.p50', slower, 0.05, few).sentence).toMatch(/^cannot tell: [+−][\d.]+ % to \+[\d.]+ %$/);
    expect(verdictOf('reply.p99', slower, 0.05, few).sentence).toBe('cannot tell: too few');
    const none = { ...base, measures: { ...base.measures, replyMs: emptyDistribution() } };
    expect(verdictOf('reply.p95', none).sentence).toBe('cannot tell: in one of them only');
  });

  it('believes no more frames than there were calls: a million of them in few calls tell little', () => {
    const verdict = (calls: number) =>
      verdictOf('frameLateness.p95', run({ calls, seed: 12, lateMs: 6 }), 0.05, run({ calls }));
    expect(base.measures.frameLatenessMs.count).toBeGreaterThan(200_000);
    expect(verdict(50).is).toBe('cannot tell');
    expect(verdict(240).is).toBe('worse');
  });

  it('counts refusals and gaps, in points and as they are', () => {
    const refusing = run({ seed: 12, refusedShare: 0.06 });
    expect(verdictOf('errors.share', refusing).sentence).toMatch(/^worse by [\d.]+–[\d.]+ percentage points$/);
    expect(verdictOf('errors.share', run({ seed: 13 })).is).not.toBe('worse');
    expect(verdictOf('gaps.perCallMinute', run({ seed: 12, gapShare: 0.4 })).is).toBe('worse');
  });

  it('takes more for better where it is', () => {
    const knee = (carried: number, low: number, high: number): RunResult => ({
      ...base,
      knee: { of: 'calls', steps: [], carried, notCarried: null, low, high },
    });
    const before = knee(600, 590, 610);
    expect(verdictOf('knee.carried', knee(500, 490, 510), 0.05, before).sentence).toBe('worse by 13–20 %');
    expect(verdictOf('knee.carried', knee(700, 690, 710), 0.05, before).sentence).toBe('better by 13–20 %');
    expect(verdictOf('knee.carried', knee(560, 540, 600), 0.05, before).is).toBe('cannot tell');
    expect(verdictOf('knee.carried', knee(595, 590, 610), 0.05, before).is).toBe('no worse');
  });

  it('shows what is one figure a run, and does not judge it', () => {
    const hungry = madeRun(STEADY, { usage: { ...endOf().usage, cpuMsPerCallSecond: 9 } });
    expect(verdictOf('usage.cpuMsPerCallSecond', hungry)).toEqual({ is: 'shown', sentence: 'not judged' });
  });

  it('is wrong about runs of the same service hardly ever', () => {
    let [judged, worse] = [0, 0];
    for (let seed = 100; seed < 120; seed++) {
      const measures = compareResults(run({ seed }), run({ seed: seed + 50 }), { tolerance: 0, draws: 600 });
      judged += measures.filter(({ verdict }) => verdict.is !== 'shown').length;
      worse += measures.filter(({ verdict }) => verdict.is === 'worse').length;
    }
    expect(judged).toBeGreaterThan(400);
    // One in two hundred of each kind is what is said, without any tolerance.
    expect(worse / judged).toBeLessThan(0.015);
  });
});

describe('runs that do not compare', () => {
  const changed = (changes: Partial<RunResult>): RunResult => ({ ...base, ...changes });

  it('are those of other workloads and other targets, and those that were stopped', () => {
    const objections = (after: RunResult): string[] => comparabilityOf(base, after).objections;
    expect(objections(changed({ workload: { ...base.workload, about: 'Other words.' } }))).toEqual([]);
    expect(objections(changed({ workload: { ...base.workload, seed: 2, mostAtOnce: 5 } }))).toEqual([
      'the workloads differ in: seed, mostAtOnce',
    ]);
    expect(objections(changed({ target: { ...base.target, kind: 'stream', protocol: 'plivo' } }))).toEqual([
      'the targets are of different kinds: parley and stream (plivo)',
    ]);
    expect(objections(changed({ target: { ...base.target, address: 'https://b.example.com' } }))).toEqual([
      'the targets have different addresses: https://voice.example.com and https://b.example.com',
    ]);
    expect(objections(changed({ complete: false, incompleteBecause: 'Ctrl-C' }))).toEqual([
      'the second run is incomplete: Ctrl-C',
    ]);
  });

  it('are not those that began a service of their own on another port', () => {
    const own = (port: number) =>
      changed({ target: { ...base.target, kind: 'own', address: `http://127.0.0.1:${port}` } });
    expect(comparabilityOf(own(40_001), own(40_002)).objections).toEqual([]);
  });

  it('are warned about where the machines differ, and named where the tool could not judge', () => {
    const { warnings } = comparabilityOf(base, changed({ machine: { ...base.machine, cores: 2 } }));
    expect(warnings).toEqual([expect.stringContaining('The machines differ in cores (8; 2)')]);
    expect(unjudgedBecause(base, base)).toBeNull();
    const unjudged = changed({ generator: { ...base.generator, judged: false, why: 'it was late' } });
    expect(unjudgedBecause(base, unjudged)).toBe('the second run could not judge: it was late');
  });
});

describe('draws', () => {
  it('have the means and the spreads of their distributions', () => {
    const { beta, gamma } = createChance(createRandom(7));
    const spread = (draw: () => number): [number, number] => {
      const values = Array.from({ length: 20_000 }, draw);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return [mean, values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length];
    };
    for (const shape of [0.5, 3, 40]) {
      const [mean, variance] = spread(() => gamma(shape));
      expect(mean / shape).toBeCloseTo(1, 1);
      expect(variance / shape).toBeCloseTo(1, 0);
    }
    const [mean, variance] = spread(() => beta(95, 6));
    expect(mean).toBeCloseTo(95 / 101, 2);
    expect(variance).toBeCloseTo((95 * 6) / (101 ** 2 * 102), 4);
  });
});
