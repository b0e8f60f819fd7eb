import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { PATIENCE_MS } from './bench/harness/patience.ts';

/**
 * A guard against hanging: no test may depend on the machine's speed. A wait within it ends sooner, and names what did
 * not come.
 */
const LIMIT_MS = 1.25 * PATIENCE_MS;

/** `npm test` with `PARLEY_TEST_COSTS=1` ends with what each file cost: processor seconds, its processes' included. */
const COUNTED = process.env['PARLEY_TEST_COSTS'] ? ['test/support/cost-setup.ts'] : [];

/** Of every project. None extends what stands above them: it would start a database server of its own. */
const PATIENT = { testTimeout: LIMIT_MS, hookTimeout: LIMIT_MS, setupFiles: COUNTED };

/**
 * Of tests in which real processes hold real conversations in real time. One that passes only the second time is named
 * at the end of the run, with how it failed: it is to be mended, but need not stop everybody else.
 */
const REPEATS = 1;

/** More than cores: much of their time they wait, for speech, for timers and for processes to start. */
const WORKERS = Math.min(availableParallelism(), 7) + 2;

/**
 * They take what there is of the machine for a while: a conversation beside them would be one with somebody who hardly
 * hears.
 */
const STORMS = ['fault/random-deaths', 'alone/siege', 'fault/webhook-history'].map((name) => `test/${name}.test.ts`);

/** Visitors who speak and listen in real time. */
const VISITS = ['conversation', 'free-conversation', 'console-listening'].map((name) => `test/browser/${name}.test.ts`);

/**
 * They wait for most of their time, for calls, timers and ends, in many tests one after the other: `npm test` runs them
 * beside what only computes. Behind it, they left the processor idle.
 */
const WAITS = ['load/*', 'call-cost', 'placements', 'providers/conformance', 'two-nodes', 'emulators/deepgram'].map(
  (name) => `test/integration/${name}.test.ts`,
);

/** Code that others' objects went through is compiled for those too, and makes other garbage. */
const BY_ITSELF = ['test/integration/frame-path-garbage.test.ts'];

/**
 * Of those that take a minute or near it, the longest first: one that began last would be waited for alone. Those of
 * browsers stand together: the next one has the Chromium of the one before.
 */
const LONGEST = [
  'fault/cascade-deaths',
  'alone/ordinary-calls',
  'fault/canaries',
  'fault/process-death',
  'alone/free-conversation',
  'alone/agent-test-audio',
  'alone/live-session',
  'fault/thread-death',
  'fault/cascade-faults',
  'fault/webhook-history',
  'integration/two-nodes',
  'integration/load/bad-luck',
  'integration/load/parley-target',
  'browser/free-conversation',
  'browser/conversation',
  'browser/console-pages',
  'browser/load-report',
  'browser/',
  'integration/providers/conformance',
  'integration/call-cost',
  'integration/placements',
  'integration/emulators/deepgram',
  'integration/load/installed',
  'integration/packed-package',
  'integration/operators',
  'integration/webhooks/delivery-through-queue',
  'integration/limits',
  'integration/engines',
].map((name) => `/test/${name}`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.includes(name));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Unit tests run on the sources; the others run real processes and threads from `dist/`, so build first. `alone` and
 * `fault` hold those that hold conversations, of which `fault` are those in which something dies. `storms` load the
 * machine, and come last. `npm test` runs `alone`, `visits` and `storms` beside the others, and `waits` beside `unit`
 * (`scripts/test-lanes.mjs`).
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-database.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    // Each project would strip the types of the same files once more, and each lane again.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...PATIENT,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'forks',
          // Modules are read once a worker: no unit test replaces one or leaves something behind in it.
          isolate: false,
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'integration',
          retry: REPEATS,
          include: ['test/integration/**/*.test.ts'],
          exclude: [...BY_ITSELF, ...WAITS],
          pool: 'forks',
          isolate: false,
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'waits',
          retry: REPEATS,
          include: WAITS,
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'by itself',
          include: BY_ITSELF,
          pool: 'forks',
          // What is compiled beside comes late on a busy machine, or not at all in the tenths of a second that it has.
          execArgv: ['--no-concurrent-recompilation'],
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'alone',
          retry: REPEATS,
          include: ['test/{alone,fault}/**/*.test.ts'],
          exclude: STORMS,
          pool: 'forks',
          isolate: false,
          // Voices and recognisers of several conversations each: with more of them callers wait too long for one
          // another. Each waits for its callers' speech for half of its time.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'storms',
          retry: REPEATS,
          include: STORMS,
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'browser',
          retry: REPEATS,
          include: ['test/browser/**/*.test.ts'],
          exclude: VISITS,
          pool: 'forks',
          // One Chromium a worker, for all files that it runs.
          isolate: false,
        },
      },
      {
        test: {
          ...PATIENT,
          name: 'visits',
          retry: REPEATS,
          include: VISITS,
          pool: 'forks',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
