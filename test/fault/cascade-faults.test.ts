/**
 * Conversations with a language model whose providers and tool fail, and under which threads and the media process
 * die: a few of them, each once. How long the agent is silent is measured by `npm run fault -- cascade`.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LINES } from './cascade/conversation.ts';
import { startConversations } from './cascade/conversations.ts';
import { runDeath, VICTIMS } from './cascade/deaths.ts';
import { runStruckCalls } from './cascade/struck-calls.ts';
import type { TurnFault } from './cascade/turn-faults.ts';
import { injectable } from './nemesis/thread-faults.ts';

const fault = (part: TurnFault['part'], kind: string): TurnFault => ({ part, kind, chance: 0.5 });

test('no conversation is stuck or lost by faults of ears, models, voices and tools', async () => {
  const { calls, struck } = await runStruckCalls({
    calls: 3,
    atOnce: 3,
    share: 0,
    seed: 1,
    plan: [
      [fault('ears', 'reset'), fault('voice', 'half_open'), fault('tool', 'no_answer'), null],
      [fault('model', 'failing'), fault('model', 'slow_drip'), fault('voice', 'garbage'), null],
      [fault('model', 'endless_answer'), fault('voice', 'throttled'), fault('model', 'stall'), null],
    ],
    say: () => {},
  });
  expect(Object.keys(struck).length).toBeGreaterThan(4);
  expect(calls.flatMap(({ lost, stuck }) => [...lost, ...stuck])).toEqual([]);
});

describe.skipIf(process.platform !== 'linux')('a death under 2 conversations', () => {
  let nodeOptions: string | undefined;
  beforeEach(() => {
    nodeOptions = process.env['NODE_OPTIONS'];
    Object.assign(process.env, injectable());
  });
  afterEach(() => {
    if (nodeOptions === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = nodeOptions;
  });

  test.each(VICTIMS)('%s: the history comes back, and at most the cut sentence is said again', async (victim) => {
    const world = await startConversations({
      lines: [LINES, LINES],
      atOnce: 2,
      settings: { PARLEY_PIPELINE_THREADS: '1', PARLEY_MEDIA_PROCESSES: victim === 'media_process' ? '2' : '1' },
    });
    try {
      const report = await runDeath(world, victim, { first: 0, calls: 2 });
      expect(report).toMatchObject({ lost: [], forgotten: [], repeated: [] });
    } finally {
      await world.close();
    }
  });
});
