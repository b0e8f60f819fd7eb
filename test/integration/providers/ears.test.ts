/** Ears of Deepgram when its emulator has a bad day. What every ear does is asked in `conformance.test.ts`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeepgramEmulator } from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import { EarBench } from '../../unit/media/engines/call-ear-conformance.ts';
import { EAR_ENGINES, type Emulators, KEY, openEar, startEmulators, VOCABULARY } from './emulated-engines.ts';

let emulators: Emulators;
let deepgram: DeepgramEmulator;
beforeAll(async () => {
  emulators = await startEmulators();
  deepgram = emulators.deepgram;
});
afterAll(() => emulators?.close());

for (const engine of EAR_ENGINES) {
  test.each(['reset', 'foreign_answer', 'garbage'] as const)(
    `${engine}: a turn in which the first socket has the fault %s is heard all the same`,
    async (kind) => {
      deepgram.script({ kind, on: '/listen' });
      const bench = await EarBench.open(openEar(engine));
      bench.order((ear) => ear.hint({ phrases: VOCABULARY, isOpen: true }));
      await bench.silence(800);
      expect((await bench.turn(1, 'yes please')).text).toBe('yes please');
      await bench.opened.close();
    },
  );
}

test('a key that counts no longer fails the turn, and is in nothing that is told', async () => {
  deepgram.revoke(KEY);
  const bench = await EarBench.open(openEar('deepgram'));
  bench.order((ear) => ear.turnBegan(1, 0));
  const { error } = await bench.until('the failure', () => bench.failures[0]);
  expect(error.message).toContain('401');
  expect(error.message).not.toContain(KEY);
  await bench.opened.close();
  deepgram.allow(KEY);
});
