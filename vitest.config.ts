import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './bench/harness/patience.ts';

/** A guard against hanging: no test may depend on the machine's speed. A wait within it ends sooner, and names what did not come. */
const LIMIT_MS = 1.25 * PATIENCE_MS;

/** More than cores: much of their time they wait, for speech, for timers and for processes to start. */
const WORKERS = Math.min(availableParallelism(), 7) + 1;

/**
 * Unit tests run on the sources; the others run real processes and threads from `dist/`, so build first. `alone` holds those that hold
 * conversations or load the machine: when the rest is done.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-database.ts'],
    reporters: ['default', './test/support/count-reporter.ts'],
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    maxWorkers: WORKERS,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'forks',
          // Modules are read once a worker: no unit test replaces one or leaves something behind in it.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          pool: 'forks',
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/alone/**/*.test.ts'],
          pool: 'forks',
          // Voices and recognisers of several conversations each: with more of them callers wait too long for one another.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          pool: 'forks',
          // One Chromium a worker, for all files that it runs.
          isolate: false,
        },
      },
    ],
  },
});
