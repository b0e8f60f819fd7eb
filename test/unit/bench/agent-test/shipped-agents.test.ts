/** The shipped agents hold their scenarios, and an agent that was made worse does not, and is told why. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { demoAgent, shipped, shippedCopy, TestFolder } from './run-tests.ts';

const folder = new TestFolder();
afterAll(() => folder.remove());

const RESTAURANT = demoAgent('restaurant/agent.json');

/** Its prompt says no more when it is open. */
function worsened(): string {
  const agent = readFileSync(RESTAURANT, 'utf8');
  const worse = agent.replace('from noon to eleven in the evening', 'most of the day');
  expect(worse).not.toBe(agent);
  return folder.write('worse.json', worse);
}

it('the scenarios of the shipped agents pass as text', async () => {
  const files = ['dental.json', 'restaurant.json', 'desk.json'].map(shipped);
  const { code, out } = await folder.run(files);
  expect(out).toContain('10 passed, 0 failed');
  expect(code).toBe(0);
});

it('a worsened prompt fails them, and the report says what was expected, what was said, and in which conversation', async () => {
  const file = folder.write('worse-scenarios.json', { ...shippedCopy('restaurant.json'), agent: worsened() });
  const junit = join(folder.path, 'junit.xml');
  const { code, out } = await folder.run([file], { junit });
  expect(code).toBe(1);
  expect(out).toContain('3 passed, 1 failed');
  expect(out).toContain('turn 1 ("When are you open?"): says "noon to eleven": does not hold');
  expect(out).toContain('the agent said "I am afraid I can not tell you that."');
  expect(out).toContain('caller: When are you open?');
  const xml = readFileSync(junit, 'utf8');
  expect(xml).toContain('tests="4" failures="1" errors="0" skipped="0"');
  expect(xml).toMatch(
    /<testcase [^>]*name="knows the hours"[\s\S]*<failure message="0 of 1 passed, 100 % wanted">turn 1/,
  );
  const kept = readdirSync(join(folder.path, 'kept'));
  expect(kept).toEqual([expect.stringMatching(/knows-the-hours-1\.json$/)]);
  const record = JSON.parse(readFileSync(join(folder.path, 'kept', kept[0]!), 'utf8')) as Record<string, unknown>;
  expect(record).toMatchObject({ scenario: 'knows the hours', outcome: 'failed' });
  expect(record['transcript']).toContain('agent: I am afraid I can not tell you that.');
});

it('two versions are compared: only what changed is named, and the worse one fails', async () => {
  const worse = worsened();
  const { code, out } = await folder.run([shipped('restaurant.json')], { compare: [RESTAURANT, worse] });
  expect(code).toBe(1);
  const changes = out.slice(out.lastIndexOf('failed\n'));
  expect(changes).toContain('says "noon to eleven": held 1 of 1, now 0 of 1');
  expect(changes).toContain('2 worse, 0 better');
  expect(changes).not.toContain('books a table');
  const back = await folder.run([shipped('restaurant.json')], { compare: [worse, RESTAURANT] });
  expect([back.code, back.out]).toEqual([0, expect.stringContaining('0 worse, 2 better')]);
  const same = await folder.run([shipped('restaurant.json')], { compare: [RESTAURANT, RESTAURANT] });
  expect([same.code, same.out]).toEqual([0, expect.stringContaining('No expectation changed')]);
});
