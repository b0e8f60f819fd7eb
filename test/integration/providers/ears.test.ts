/** Ears of providers when their emulator has a bad day. What every ear does is asked in `conformance.test.ts`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FaultInput } from '../../../bench/emulators/providers/fault.ts';
import { EarBench } from '../../unit/media/engines/call-ear-conformance.ts';
import { type Emulators, endpointOf, KEY, openEar, startEmulators, VOCABULARY } from './emulated-engines.ts';

let emulators: Emulators;
beforeAll(async () => {
  emulators = await startEmulators();
});
afterAll(() => emulators?.close());

const RESET: FaultInput = { kind: 'reset' };
const FOREIGN: FaultInput = { kind: 'foreign_answer' };
const GARBAGE: FaultInput = { kind: 'garbage' };
const ENDED: FaultInput = {
  kind: 'close',
  afterMessages: 1,
  code: 3005,
  reason: 'Session Cancelled: An error occurred',
};

test.each([
  ['deepgram', RESET],
  ['deepgram', FOREIGN],
  ['deepgram', GARBAGE],
  ['deepgram-flux', RESET],
  ['deepgram-flux', FOREIGN],
  ['deepgram-flux', GARBAGE],
  // Its messages name no session: those of another cannot be told.
  ['assemblyai', RESET],
  ['assemblyai', ENDED],
])('%s: a turn in which the first socket has the fault %o is heard all the same', async (engine, fault) => {
  endpointOf(engine).script(fault);
  const bench = await EarBench.open(openEar(engine));
  bench.order((ear) => ear.hint({ phrases: VOCABULARY, isOpen: true }));
  await bench.silence(800);
  expect((await bench.turn(1, 'yes please')).text).toBe('yes please');
  await bench.opened.close();
});

test.each([
  ['deepgram', '401'],
  ['assemblyai', '1008, Unauthorized Connection: Invalid API key'],
])('%s: a key that counts no longer fails the turn, and is in nothing that is told', async (engine, said) => {
  const endpoint = endpointOf(engine);
  endpoint.revoke(KEY);
  const bench = await EarBench.open(openEar(engine));
  bench.order((ear) => ear.turnBegan(1, 0));
  const { error } = await bench.until('the failure', () => bench.failures[0]);
  expect(error.message).toContain(said);
  expect(error.message).not.toContain(KEY);
  await bench.opened.close();
  endpoint.allow(KEY);
});
