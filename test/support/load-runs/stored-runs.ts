/**
 * Runs in files, as a CI keeps them: what `compare` and `--fail-if` are tried with. Made by `make-run.ts`;
 * `PARLEY_STORE_RUNS=1 npx vitest run test/unit/bench/load/stored-runs.test.ts` writes them again, after a change of
 * what a result holds.
 */
import { join } from 'node:path';
import type { RunResult } from '../../../bench/load/contract/run-result.ts';
import { emptyDistribution } from '../../../bench/load/result/times.ts';
import { packageRoot } from '../../../src/config/built-entry.ts';
import { endOf, madeRun, STEADY } from './make-run.ts';

const SHAPE = { ...STEADY, calls: 160, perSecond: 8 };

/** By the names of their files. */
export const STORED_RUNS = {
  before: () => madeRun(SHAPE),
  /** Another run of the same. */
  again: () => madeRun({ ...SHAPE, seed: 12 }),
  /** Replies take a quarter more, and some calls are refused. */
  worse: () => madeRun({ ...SHAPE, seed: 13, replyMs: 1.25 * SHAPE.replyMs, refusedShare: 0.06 }),
  'another-workload': () => madeRun({ ...SHAPE, seed: 14 }, {}, { mostAtOnce: 50 }),
  stopped: () => madeRun({ ...SHAPE, calls: 40 }, { complete: false, incompleteBecause: 'Ctrl-C after 21 s' }),
  unjudged: () =>
    madeRun(SHAPE, { generator: { ...endOf().generator, cpuShare: 0.97, frameLatenessMs: emptyDistribution() } }),
} satisfies Record<string, () => RunResult>;

export type StoredRun = keyof typeof STORED_RUNS;

export const storedPath = (name: StoredRun): string =>
  join(packageRoot(), 'test', 'support', 'load-runs', 'stored', `${name}.json`);
