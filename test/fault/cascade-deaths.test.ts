/**
 * Conversations with a language model under which threads and the media process die. At full size: `npm run fault --
 * cascade deaths`.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/test-database.ts';
import { settingsOn } from '../support/test-gateway.ts';
import { LINES } from './cascade/conversation.ts';
import { startConversations } from './cascade/conversations.ts';
import { runDeath, VICTIMS } from './cascade/deaths.ts';
import { injectable } from './nemesis/thread-faults.ts';

/** On a busy machine a call is on its way for longer: a line that is said meanwhile is heard by nobody. */
const PATIENT = { afterMs: 6_000, patienceMs: 40_000 };

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
    const stored = await createTestDatabase();
    const world = await startConversations({
      lines: [LINES, LINES],
      atOnce: 2,
      patience: PATIENT,
      settings: {
        PARLEY_PIPELINE_THREADS: '1',
        PARLEY_MEDIA_PROCESSES: victim === 'media_process' ? '2' : '1',
        ...settingsOn(stored),
      },
    });
    try {
      const { lost, forgotten, repeated } = await runDeath(world, victim, { first: 0, calls: 2 });
      // As one text: a run names it in a line.
      expect({ lost, forgotten, repeated }, JSON.stringify({ lost, forgotten, repeated })).toEqual({
        lost: [],
        forgotten: [],
        repeated: [],
      });
    } finally {
      await world.close();
      await stored.close();
    }
  });
});
