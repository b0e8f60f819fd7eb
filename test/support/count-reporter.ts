/** Vitest reporter: leaves counts and the tests that passed only when repeated where `scripts/test.mjs` finds them. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['PARLEY_TEST_COUNTS'];
    if (!file) return;
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const repeated: string[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state]++;
        if (test.diagnostic()?.flaky) {
          repeated.push(`${module.relativeModuleId} ${test.fullName}: ${test.result().errors?.[0]?.message}`);
        }
      }
    }
    writeFileSync(file, JSON.stringify({ ...counts, repeated }));
  }
}
