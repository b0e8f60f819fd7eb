/**
 * `parley agent test --audio`: the caller's turns as sound through carrier emulator, recogniser and voice; the same
 * expectations hold, and of a call in which one does not a recording is kept.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { builtEntry } from '../../src/config/built-entry.ts';
import { runNode } from '../support/run-node.ts';
import { shippedCopy, TestFolder } from '../unit/bench/agent-test/run-tests.ts';

/** Of the caller, who understands nothing: a recogniser of a busy machine misses some of them. */
const TRIES = 8;

const folder = new TestFolder();
afterAll(() => folder.remove());

interface Scenario {
  name: string;
  turns: [{ caller: string; expect: object }];
  expect: object;
}

test('a shipped scenario passes with sound, one that expects too much fails and is kept with its recording', async () => {
  const content = shippedCopy('dental.json') as { scenarios: Scenario[] };
  const shipped = content.scenarios.find(({ name }) => name.includes('wrong number'))!;
  // What is expected of the answer to the one turn is expected of the call, in which the turn may come again.
  const [{ caller, expect: answered }] = shipped.turns;
  const wrongNumber = {
    ...shipped,
    turns: Array.from({ length: TRIES }, () => ({ caller })),
    expect: { ...shipped.expect, ...answered },
    timeLimitSeconds: 600,
  };
  const file = folder.write('audio.json', {
    ...content,
    change: { fallback: { say: ['Sorry, I did not understand that.'], after: TRIES, goto: 'callback' } },
    scenarios: [
      wrongNumber,
      {
        ...wrongNumber,
        name: 'expects too much',
        opening: { contains: 'pizza', state: { step: 'confirm' } },
        expect: { state: { step: 'details' } },
      },
      { name: 'presses keys', turns: [{ keys: '1' }], opening: { contains: 'Hello Dana' } },
    ],
  });
  const kept = join(folder.path, 'kept');
  const args = ['--audio', file, '--keep', kept];
  const { code, out } = await runNode([builtEntry('bench/agent-test/main.js'), ...args]);
  expect(out).toMatch(/✓ gives way to a wrong number/);
  expect(out).toMatch(/✗ expects too much/);
  expect(out).toContain('the opening: says "pizza": does not hold');
  expect(out).toMatch(/the call: is at step 'details': does not hold[\s\S]*it is at wrong_number/);
  expect(out.match(/does not hold/g)).toHaveLength(2);
  expect(out).toContain('- presses keys (skipped: keys and silentSeconds are for calls as text)');
  expect(out).toContain('1 passed, 1 failed, 1 skipped');
  expect(code).toBe(1);
  const files = readdirSync(kept).sort();
  expect(files).toEqual([expect.stringMatching(/expects-too-much-1\.json$/), expect.stringMatching(/-1\.ogg$/)]);
  expect(readFileSync(join(kept, files[1]!)).subarray(0, 4).toString('latin1')).toBe('OggS');
});
