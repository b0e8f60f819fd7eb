/** Ears of Deepgram against its emulator, over TLS, which hears nothing but the sound that it is sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type DeepgramEmulator,
  startDeepgramEmulator,
} from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import { loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { EARS, engineOf } from '../../../media/engines/registry.ts';
import { describeCallEar, EarBench, type OpenEarOfTest } from '../../unit/media/engines/call-ear-conformance.ts';
import { grantOf, providerHarness } from '../../unit/media/engines/provider-harness.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';

const KEY = 'canary-of-an-ear';
/** As fast as it is spoken: the emulator's decoder is no faster than a real one. */
const STEP_MS = 20;
const VOCABULARY = ['yes', 'please', 'yes please', 'no', 'no thank you'];

const voice = await loadFliteVoice();
let deepgram: DeepgramEmulator;
beforeAll(async () => {
  const latencies = { interimMs: 20, finalMs: 30, turnEventMs: 20 };
  deepgram = await startDeepgramEmulator({ keys: [KEY], vocabulary: VOCABULARY, latencies });
});
afterAll(() => deepgram.close());

function openEar(engine: string): OpenEarOfTest {
  return async (listener) => {
    const harness = providerHarness({ ca: deepgram.caPem });
    harness.grant('call-1', grantOf({ provider: 'deepgram', baseUrl: deepgram.origin, credentials: { apiKey: KEY } }));
    const port = harness.connect();
    const open = (await engineOf(EARS, 'recogniser', engine).load())(() => port);
    const ear = open(8000, { callUuid: 'call-1', connection: 'main', settings: {} }, 'mulaw')(listener);
    return {
      ear,
      speech: (text) => overTheLine(voice, text, { leadMs: 40 }),
      step: () => new Promise((resolve) => setTimeout(resolve, STEP_MS)),
      close() {
        ear.close();
        harness.close();
      },
    };
  };
}

for (const engine of ['deepgram', 'deepgram-flux']) {
  describeCallEar(`${engine}, emulated`, openEar(engine));

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
