/**
 * Conversations with a language model whose providers and tool fail: a few of them, each once. How long the agent is
 * silent is measured by `npm run fault -- cascade`.
 */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';
import { runStruckCalls } from './cascade/struck-calls.ts';
import type { TurnFault } from './cascade/turn-faults.ts';

const fault = (part: TurnFault['part'], kind: string): TurnFault => ({ part, kind, chance: 0.5 });

test('no conversation is stuck or lost by faults of ears, models, voices and tools', async () => {
  const stored = await createTestDatabase();
  const { calls, struck } = await runStruckCalls({
    calls: 3,
    atOnce: 3,
    share: 0,
    seed: 1,
    settings: settingsOn(stored),
    plan: [
      [fault('ears', 'reset'), fault('voice', 'half_open'), fault('tool', 'no_answer'), null],
      [fault('model', 'failing'), fault('model', 'slow_drip'), fault('voice', 'garbage'), null],
      [fault('model', 'endless_answer'), fault('voice', 'throttled'), fault('model', 'stall'), null],
    ],
    say: () => {},
  }).finally(() => stored.close());
  expect(Object.keys(struck).length).toBeGreaterThan(4);
  expect(calls.flatMap(({ lost, stuck }) => [...lost, ...stuck])).toEqual([]);
});
