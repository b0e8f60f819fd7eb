/** What Deepgram's voices have of their own. What every voice does is asked in `conformance.test.ts`. */
import { afterEach, expect, test } from 'vitest';
import type { SpeechChunk, TextToSpeech } from '../../../../../media/contract/engines.ts';
import { engineOf, VOICES } from '../../../../../media/engines/registry.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeDeepgramSpeech } from '../../../../support/providers/fake-deepgram-speech.ts';
import { grantOf, KEY, providerBench, useOf } from '../../../../support/providers/provider-bench.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

let close: (() => void) | undefined;
afterEach(() => close?.());

async function opened(settings: Record<string, unknown> = {}) {
  const clock = new VirtualClock();
  const fake = new FakeDeepgramSpeech(clock);
  const grant = grantOf('deepgram', { settings: { mipOptOut: true } });
  const bench = providerBench(clock, { openSocket: fake.openSocket }, [grant]);
  close = bench.close;
  bench.run();
  const open = (await engineOf(VOICES, 'voice engine', 'deepgram').load())(() => bench.port);
  const used = () => bench.told.flatMap((message) => (message.type === 'usage' ? message.lines : []));
  return { clock, fake, voice: open(useOf('deepgram', settings)), used };
}

const AURA = 'aura-2-ben-en';
const FLUX = 'flux-ann-en';
const never = new AbortController().signal;
async function say(voice: TextToSpeech, text: string, name: string): Promise<SpeechChunk[]> {
  const chunks: SpeechChunk[] = [];
  await voice.synthesize({ text, voice: name, signal: never, takesMulaw: true }, (chunk) => chunks.push(chunk));
  return chunks;
}
const bytesOf = (chunks: readonly SpeechChunk[]): number =>
  chunks.reduce((sum, { mulawBytes }) => sum + (mulawBytes?.length ?? 0), 0);

test.each([
  [AURA, '/v1/speak', { speed: '0.9' }],
  [FLUX, '/v2/speak', { speed: '0.9', expressivity: '1' }],
])(
  'the voice %s is asked for at %s, in the form of the leg, with the key in a header alone',
  async (name, path, own) => {
    const { fake, voice, used } = await opened({ speed: 0.9, expressivity: 1 });
    await say(voice, 'Hello there.', name);
    const { url, headers, told } = fake.last;
    expect(url.pathname).toBe(path);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      model: name,
      encoding: 'mulaw',
      sample_rate: '8000',
      mip_opt_out: 'true',
      ...own,
    });
    expect(headers['authorization']).toBe(`Token ${KEY}`);
    expect(url.href).not.toContain(KEY);
    expect(told).toEqual([{ type: 'Speak', text: 'Hello there.' }, { type: 'Flush' }]);
    expect(used()).toMatchObject([{ unit: 'characters', quantity: 12, provider: 'deepgram', model: name }]);
  },
);

test.each([AURA, FLUX])(
  '%s: what was called off is in nothing that is said next over the same socket',
  async (name) => {
    const { fake, voice } = await opened();
    const off = new AbortController();
    const text = 'This is a long sentence that nobody wants to hear to its end.';
    const first = voice.synthesize({ text, voice: name, signal: off.signal, takesMulaw: true }, () => off.abort());
    await expect(first).rejects.toThrow('cancelled');
    const next = await say(voice, 'Yes, of course.', name);
    expect(bytesOf(next)).toBe('Yes, of course.'.length * 50 * 8);
    expect(bytesOf(await say(voice, 'And so on.', name))).toBe('And so on.'.length * 50 * 8);
    const calledOff = fake.sockets.flatMap(({ told }) =>
      told.filter(({ type }) => type === 'Clear' || type === 'Interrupt'),
    );
    expect(calledOff).toHaveLength(1);
  },
);

test('texts at once have a socket each, texts one after another share one', async () => {
  const { fake, voice } = await opened();
  await Promise.all([say(voice, 'One.', AURA), say(voice, 'Two.', AURA)]);
  expect(fake.sockets).toHaveLength(2);
  await say(voice, 'Three.', AURA);
  await say(voice, 'Four.', AURA);
  expect(fake.sockets).toHaveLength(2);
});

test('no socket of Aura is given more texts in a minute than it takes; Flux has no such limit', async () => {
  const { fake, voice } = await opened();
  for (let i = 0; i < 20; i++) await say(voice, 'Yes.', AURA);
  expect(fake.sockets).toHaveLength(2);
  expect(fake.sockets.map(({ told }) => told.filter(({ type }) => type === 'Flush').length)).toEqual([18, 2]);
  for (let i = 0; i < 20; i++) await say(voice, 'Yes.', FLUX);
  expect(fake.sockets).toHaveLength(3);
});

test('a socket lost before any sound: the text is said over another; in mid-text it fails, for nobody knows where', async () => {
  const { fake, voice } = await opened();
  const first = say(voice, 'Good morning.', AURA);
  // Of a hundred milliseconds up to the first sound, twenty pass in eight turns of the event loop.
  const between = () => new Promise((resolve) => setImmediate(resolve));
  await eventually('its text and the order to speak it', () => fake.last?.told.length === 2, { between });
  fake.last.end({ kind: 'closed', code: 1011, reason: 'NET-0000' });
  expect(bytesOf(await first)).toBe('Good morning.'.length * 50 * 8);
  expect(fake.sockets).toHaveLength(2);
  const chunks: SpeechChunk[] = [];
  const second = voice.synthesize({ text: 'Good evening to all of you.', voice: AURA, signal: never }, (chunk) => {
    chunks.push(chunk);
    if (chunks.length === 1) fake.last.end({ kind: 'closed', code: 1011, reason: 'NET-0000' });
  });
  await expect(second).rejects.toThrow('Deepgram closed the connection (1011, NET-0000)');
});

test('a voice that there is not is refused in the provider’s words', async () => {
  const { voice } = await opened();
  await expect(say(voice, 'Hello.', 'aura-2-nobody-en')).rejects.toThrow('No such model.');
});

test('a text that is longer than a message may be comes in several, and is said as one', async () => {
  const { fake, voice } = await opened();
  const text = `${'word '.repeat(500)}${'x'.repeat(1_400)}`;
  await say(voice, text, AURA);
  const told = fake.last.told.filter(({ type }) => type === 'Speak').map(({ text: part }) => String(part));
  expect(told.map(({ length }) => length > 0 && length <= 2_000)).toEqual([true, true]);
  expect(told.join('')).toBe(text);
  expect(fake.last.told.filter(({ type }) => type === 'Flush')).toHaveLength(1);
});
