/** docs/load-report.md names every field of the JSON and every measure that can be asked for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { distributionSchema } from '../../../bench/load/contract/distribution.ts';
import { runResultSchema } from '../../../bench/load/contract/run-result.ts';
import { FIGURE_MEASURES, TIME_MEASURES, TOOL_TIMES } from '../../../bench/load/result/measures.ts';
import { packageRoot } from '../../../src/config/built-entry.ts';

const page = readFileSync(join(packageRoot(), 'docs', 'load-report.md'), 'utf8');
/** In code, alone or behind a dot. */
const isNamed = (name: string): boolean => page.includes(`\`${name}\``) || page.includes(`\`.${name}\``);

it('each field of a result, and those within it', () => {
  const { calls, measures, generator, machine, target, tool } = runResultSchema.shape;
  const parts = [runResultSchema, distributionSchema, calls, measures, generator, machine, target, tool];
  const fields = parts.flatMap((part) => Object.keys(part.shape));
  expect(fields.length).toBeGreaterThan(60);
  expect(fields.filter((field) => !isNamed(field) && !page.includes(`"${field}"`))).toEqual([]);
});

it('each measure', () => {
  const names = [...TIME_MEASURES, ...TOOL_TIMES, ...FIGURE_MEASURES].map(({ name }) => name);
  expect(names.filter((name) => !isNamed(name) && !isNamed(name.split('.').at(-1)!))).toEqual([]);
});
