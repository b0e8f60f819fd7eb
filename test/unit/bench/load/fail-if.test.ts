/** Conditions of `--fail-if`: read, taught about, and judged on a run. */
import { describe, expect, it } from 'vitest';
import {
  ConditionFault,
  judgeCondition,
  listOfMeasures,
  parseCondition,
} from '../../../../bench/load/result/fail-if.ts';
import { FIGURE_MEASURES, TIME_MEASURES } from '../../../../bench/load/result/measures.ts';
import { madeRun, STEADY } from '../../../support/load-runs/make-run.ts';

const run = madeRun({ ...STEADY, calls: 60, refusedShare: 0.1 });
const judged = (text: string) => judgeCondition(parseCondition(text), run);
const faultOf = (text: string): string => {
  try {
    parseCondition(text);
  } catch (error) {
    if (error instanceof ConditionFault) return error.message;
  }
  throw new Error(`${text} was read`);
};

describe('a condition', () => {
  it('compares a figure of a time with a limit in any unit of time', () => {
    const p95 = run.measures.replyMs.p95!;
    expect(judged(`reply.p95>${p95 - 1}ms`).isTrue).toBe(true);
    expect(judged(`reply.p95>${p95}ms`).isTrue).toBe(false);
    expect(judged(`reply.p95 >= ${p95} ms`).isTrue).toBe(true);
    expect(judged(`reply.p95<${(p95 + 1) / 1_000}s`).isTrue).toBe(true);
    expect(judged('firstWord.p50>=0.1min').isTrue).toBe(false);
    expect(judged('reply.p95>900ms').measured).toBe(p95);
  });

  it('knows any percentile, the extremes, the mean and the count', () => {
    const { replyMs } = run.measures;
    expect(judged('reply.min<0ms').measured).toBe(replyMs.min);
    expect(judged('reply.mean<0ms').measured).toBe(replyMs.mean);
    expect(judged('reply.max<0ms').measured).toBe(replyMs.max);
    expect(judged('reply.count<1').measured).toBe(replyMs.count);
    expect(judged('placement.p99.9>300ms').measured).toBe(run.measures.placementMs.p999);
    const p75 = judged('reply.p75>0ms').measured!;
    expect(p75).toBeGreaterThan(replyMs.p50!);
    expect(p75).toBeLessThan(replyMs.p90!);
  });

  it('takes shares in percent or as parts of one, and sizes in bytes of either kind', () => {
    const share = run.measures.errorShare;
    expect(share).toBeGreaterThan(0);
    expect(judged(`errors.share>${share * 100 - 0.1}%`).isTrue).toBe(true);
    expect(judged(`errors.share>${share + 0.001}`).isTrue).toBe(false);
    expect(judged('usage.memoryPerCall>0.5MB').isTrue).toBe(true);
    expect(judged('usage.memoryPerCall>640kB').isTrue).toBe(false);
    expect(judged('usage.memoryPerCall>625KiB').isTrue).toBe(false);
  });

  it('is true where the run did not measure what it asks for, and says so', () => {
    for (const text of ['resume.p95>10s', 'knee.carried<1', 'lost.share>50%']) {
      const one = judged(text);
      expect([one.isTrue, one.measured]).toEqual([true, null]);
      expect(one.sentence).toBe(`${text}: this run did not measure it, which counts as a failure`);
    }
    expect(judged('resume.count>0').isTrue).toBe(false);
  });

  it('can ask for every measure that there is, each listed', () => {
    for (const { name } of TIME_MEASURES) expect(parseCondition(`${name}.p99>1ms`).kind).toBe('time');
    const unit = { bytes: 'B', share: '%', rate: '', count: '', time: 'ms' };
    for (const { name, kind } of FIGURE_MEASURES) expect(parseCondition(`${name}>1${unit[kind]}`).kind).toBe(kind);
    for (const { name } of [...TIME_MEASURES, ...FIGURE_MEASURES]) expect(listOfMeasures()).toContain(`  ${name}`);
  });
});

describe('a condition that cannot be read', () => {
  it('teaches what a condition is', () => {
    for (const text of ['', 'reply', 'reply.p95', 'reply.p95=900ms', 'reply.p95>fast', 'reply.p95>1ms>2ms', '>1ms']) {
      expect(faultOf(text)).toContain('"reply.p95>900ms"');
    }
  });

  it('lists the measures where there is none of that name', () => {
    const said = faultOf('replies.p95>900ms');
    expect(said).toContain('there is no measure "replies.p95"');
    expect(said).toContain('  reply.p95');
    expect(said).toContain('  gaps.perCallMinute');
    expect(faultOf('constructor>1')).toContain('there is no measure');
  });

  it('says which figures a time has', () => {
    for (const text of ['reply>900ms', 'reply.p>1ms', 'reply.p101>1ms', 'reply.average>1ms']) {
      expect(faultOf(text)).toContain('reply is a distribution; say which figure of it: reply.p50');
    }
  });

  it('says which units a measure goes with', () => {
    expect(faultOf('reply.p95>900')).toContain(
      'has no unit, but reply.p95 does not go with that: it is a time: say 900ms',
    );
    expect(faultOf('reply.p95>900sec')).toContain('has the unit "sec"');
    expect(faultOf('errors.share>1ms')).toContain('it is a share: say 1% or 0.01');
    expect(faultOf('calls.failed>1%')).toContain('it is a number without a unit');
    expect(faultOf('reply.p95>1constructor')).toContain('Units: us, ms, s, min.');
  });
});
