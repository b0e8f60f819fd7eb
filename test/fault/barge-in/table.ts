/** The verdicts of a run as shares and as a table, a row a kind of case. Pure; called by `main.ts` and the test. */
import { percentiles } from '../../../bench/harness/percentile.ts';
import { INTERRUPTIONS, OTHERS } from './plan.ts';
import type { Outcome, Verdict } from './verdict.ts';

export interface Tally {
  interruptions: number;
  others: number;
  stoppedShare: number;
  falseStopShare: number;
  staleFrames: number;
  /** The agent neither went on nor gave way. */
  stuck: number;
}

const isStop = ({ outcome }: Verdict): boolean => outcome === 'stopped' || outcome === 'unbegun';
const share = (part: number, whole: number, ofNone: number): number => (whole === 0 ? ofNone : part / whole);

export function tallyOf(verdicts: readonly Verdict[]): Tally {
  const interruptions = verdicts.filter(({ one }) => one.isInterruption);
  const others = verdicts.filter(({ one }) => !one.isInterruption);
  return {
    interruptions: interruptions.length,
    others: others.length,
    stoppedShare: share(interruptions.filter(isStop).length, interruptions.length, 1),
    falseStopShare: share(others.filter(isStop).length, others.length, 0),
    staleFrames: verdicts.reduce((sum, { staleFrames }) => sum + staleFrames, 0),
    stuck: verdicts.filter(({ outcome }) => outcome === 'stuck').length,
  };
}

const OUTCOMES: readonly Outcome[] = ['stopped', 'unbegun', 'resumed', 'never_paused', 'stuck'];
const HEADS = ['cases', 'stopped', 'unbegun', 'resumed', 'no pause', 'stuck', 'stale'];

export function tableOf(verdicts: readonly Verdict[]): string[] {
  const rows = [
    ...[...INTERRUPTIONS, ...OTHERS].map((kind) => [kind, verdicts.filter(({ one }) => one.kind === kind)] as const),
    ['interruptions', verdicts.filter(({ one }) => one.isInterruption)] as const,
    ['  listen v1', verdicts.filter(({ one }) => one.isInterruption && one.ear === 'deepgram')] as const,
    ['  Flux', verdicts.filter(({ one }) => one.isInterruption && one.ear === 'deepgram-flux')] as const,
    ['other sounds', verdicts.filter(({ one }) => !one.isInterruption)] as const,
  ].filter(([, of]) => of.length > 0);
  const head = `${''.padEnd(15)}${HEADS.map((name) => name.padStart(9)).join('')}  onset to silence, ms   decision   words, ms`;
  const under = `${''.padEnd(15)}${''.padEnd(63)}     p50    p95   most    p50  p95   p95`;
  return [head, under, ...rows.map(([name, of]) => rowOf(name, of))];
}

function rowOf(name: string, of: readonly Verdict[]): string {
  const counts = [
    of.length,
    ...OUTCOMES.map((outcome) => of.filter((one) => one.outcome === outcome).length),
    of.reduce((sum, { staleFrames }) => sum + staleFrames, 0),
  ];
  const known = (values: (number | null)[]): number[] => values.filter((value) => value !== null);
  const ms = (value: number): string => (Number.isNaN(value) ? '–' : String(Math.round(value)));
  const silent = percentiles(known(of.map(({ silentAfterMs }) => silentAfterMs)), [0.5, 0.95, 1]);
  const decided = percentiles(known(of.map(({ decidedAfterMs }) => decidedAfterMs)), [0.5, 0.95]);
  const [cut] = percentiles(known(of.map(({ heardCutMs }) => heardCutMs)), [0.95]);
  return [
    name.padEnd(15),
    counts.map((count) => String(count).padStart(9)).join(''),
    ' ',
    silent.map((value) => ms(value).padStart(7)).join(''),
    decided.map((value) => ms(value).padStart(6)).join(''),
    ms(cut!).padStart(6),
  ].join('');
}
