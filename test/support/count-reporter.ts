/**
 * Vitest reporter: leaves counts, failures and the tests that passed only when repeated where `scripts/test-lanes.mjs`
 * finds them.
 */
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule } from 'vitest/node';

const MOST_DIFF_CHARS = 600;

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['PARLEY_TEST_COUNTS'];
    if (!file) return;
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const [repeated, failures]: [string[], string[]] = [[], []];
    for (const module of modules) {
      const [fault] = module.errors();
      if (fault !== undefined) {
        counts.failed++;
        failures.push(`${module.relativeModuleId}: ${fault.message}`);
      }
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state]++;
        const [error] = test.result().errors ?? [];
        const diff =
          error?.diff === undefined ? '' : ` ${stripVTControlCharacters(error.diff).slice(0, MOST_DIFF_CHARS)}`;
        const told = `${module.relativeModuleId} ${test.fullName}: ${error?.message}${diff}`.replaceAll(/\s+/g, ' ');
        if (state === 'failed') failures.push(told);
        else if (test.diagnostic()?.flaky) repeated.push(told);
      }
    }
    writeFileSync(file, JSON.stringify({ ...counts, repeated, failures }));
  }
}
