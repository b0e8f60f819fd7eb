import { afterEach, expect, test } from 'vitest';
import type { SpeechChunk } from '../../../../../media/contract/engines.ts';
import { engineOf, VOICES } from '../../../../../media/engines/registry.ts';
import { FakeSpeechServer } from '../../../../support/providers/fake-speech-server.ts';
import { grantOf, KEY, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

let close = (): void => {};
afterEach(() => close());

async function said(faults: FakeSpeechServer['faults'], text = 'Hello there.', abortsAfter = Number.POSITIVE_INFINITY) {
  const clock = new VirtualClock();
  const fake = new FakeSpeechServer(clock);
  fake.faults = faults;
  const streams = { open: fake.open.bind(fake), warm() {}, close() {} };
  const grant = grantOf('openai_compatible', { baseUrl: 'https://provider.test/v1/' });
  const bench = providerBench(clock, { streams }, [grant]);
  close = bench.close;
  const settings = { model: 'tts-1', instructions: 'Softly.', speed: 1.1 };
  const open = (await engineOf(VOICES, 'voice engine', 'openai').load())(() => bench.port);
  const voice = open(useOf('openai_compatible', settings));
  const abort = new AbortController();
  const chunks: SpeechChunk[] = [];
  let isDone = false;
  const speaking = voice
    .synthesize({ text, voice: 'alloy', signal: abort.signal, takesMulaw: true }, (chunk) => {
      chunks.push(chunk);
      if (chunks.length === abortsAfter) abort.abort();
    })
    .then(
      () => null,
      (error: Error) => error,
    )
    .finally(() => {
      isDone = true;
    });
  for (let i = 0; i < 500 && !isDone; i++) await bench.step();
  await bench.step();
  const used = bench.told.flatMap((message) => (message.type === 'usage' ? message.lines : []));
  return {
    fake,
    chunks,
    error: await speaking,
    used,
    samples: chunks.reduce((sum, one) => sum + one.samples.length, 0),
  };
}

test('asks once, for raw samples, with the key in a header, and gives each sample of pieces of odd lengths', async () => {
  const { fake, chunks, error, samples, used } = await said([]);
  expect(error).toBeNull();
  expect(fake.requests).toHaveLength(1);
  const [{ url, headers, body }] = fake.requests as [(typeof fake.requests)[0]];
  expect(url).toBe('https://provider.test/v1/audio/speech');
  expect(headers['authorization']).toBe(`Bearer ${KEY}`);
  expect(body).toEqual({
    model: 'tts-1',
    input: 'Hello there.',
    voice: 'alloy',
    response_format: 'pcm',
    instructions: 'Softly.',
    speed: 1.1,
  });
  expect(samples).toBe('Hello there.'.length * 50 * 24);
  expect(chunks.every((chunk) => chunk.samples.every((sample) => sample === 0 || sample === 8_000))).toBe(true);
  expect(used).toMatchObject([{ unit: 'characters', quantity: 12, model: 'tts-1' }]);
});

test.each([
  [[401], 'refused', 1],
  [[429], 'overloaded', 1],
  [[500], 'engine_failed', 1],
  [['reset'], 'engine_failed', 1],
  [['silent'], 'engine_failed', 1],
  [['half'], 'engine_failed', 1],
  [['json'], 'engine_failed', 1],
  [['stale', 'stale'], 'engine_failed', 2],
] as [FakeSpeechServer['faults'], string, number][])(
  '%j is a failure of the class %s, after %i requests',
  async (faults, code, requests) => {
    const { error, fake } = await said(faults);
    expect(error).toMatchObject({ name: 'VoiceError', code });
    expect(fake.requests).toHaveLength(requests);
  },
);

test('a kept connection that had gone is no failure: it is asked once more', async () => {
  const { error, fake } = await said(['stale']);
  expect([error, fake.requests.length]).toEqual([null, 2]);
});

test('what is cut is called off at the server, and counted', async () => {
  const { error, fake, chunks, used } = await said([], 'A text that goes on and on and on.', 2);
  expect(error?.name).toBe('AbortError');
  expect([chunks.length, fake.calledOff]).toEqual([2, 1]);
  expect(used).toHaveLength(1);
});
