/** docs/testing-agents.md: its example is a file that is read, and it names each field and each option. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scenarioFileSchema } from '../../../bench/agent-test/scenario-schema.ts';
import { packageRoot } from '../../../src/config/built-entry.ts';

const page = readFileSync(join(packageRoot(), 'docs/testing-agents.md'), 'utf8');
const program = readFileSync(join(packageRoot(), 'bench/agent-test/main.ts'), 'utf8');

it('shows a scenario file without a fault', () => {
  const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as unknown;
  expect(scenarioFileSchema.safeParse(shown)).toMatchObject({ success: true });
});

it('names each field of the file and of a scenario', () => {
  const { shape } = scenarioFileSchema;
  const scenario = shape.scenarios.element.shape;
  const turn = scenario.turns.unwrap().element.shape;
  const fields = [shape, scenario, turn].flatMap((one) => Object.keys(one));
  const expected = Object.keys(scenario.expect.unwrap().shape);
  expect(fields.length + expected.length).toBeGreaterThan(25);
  expect([...fields, ...expected].filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
});

it('names each option of the command', () => {
  const options = [...program.matchAll(/^ {4}'?([a-z-]+)'?: \{ type:/gm)].map(([, name]) => name);
  expect(options.length).toBeGreaterThan(7);
  expect(options.filter((name) => !page.includes(`--${name}`))).toEqual([]);
});
