/** The emulated Cartesia, judged by the official client: its socket, contexts, times of words, and errors. */
import { createRequire } from 'node:module';
import Cartesia, { AuthenticationError } from '@cartesia/cartesia-js';
import type { TTSWS } from '@cartesia/cartesia-js/resources/tts/ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCartesiaEmulator } from '../../../bench/emulators/providers/cartesia/cartesia-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { type EmulatedVoice, startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';

const KEY = 'canary-of-a-provider';
const ROBOT = {
  model_id: 'sonic-3',
  voice: { id: 'emulated-robot' },
  output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
  add_timestamps: true,
} as const;

let voice: EmulatedVoice;
let endpoint: ProviderEndpoint;
beforeAll(async () => {
  voice = await startEmulatedVoice();
  endpoint = await startCartesiaEmulator({
    keys: [KEY],
    voice,
    mostContexts: 2,
    latencies: { firstAudioMs: 5, chunkEveryMs: 1 },
  });
});
afterAll(async () => {
  await endpoint.close();
  await voice.close();
});

const client = (apiKey = KEY): Cartesia =>
  new Cartesia({
    apiKey,
    baseURL: endpoint.origin,
    maxRetries: 0,
    fetch: trustingFetch(endpoint.caPem) as typeof fetch,
  });
// As a module it does not find `ws`.
const official = createRequire(import.meta.url)('@cartesia/cartesia-js/resources/tts/ws') as { TTSWS: typeof TTSWS };
const open = async (): Promise<TTSWS> => {
  const socket = new official.TTSWS(client(), { ca: endpoint.caPem });
  // Without a listener its errors are rejections that nobody handles.
  socket.on('error', () => {});
  // What is sent before is lost.
  await new Promise((resolve) => socket.socket.addEventListener('open', resolve));
  return socket;
};

it('lists its voices, and refuses a wrong key', async () => {
  const { data } = await client().voices.list({ limit: 1 });
  expect(data.map(({ id }) => id)).toContain('emulated-robot');
  await expect(client('wrong').voices.list()).rejects.toBeInstanceOf(AuthenticationError);
});

it('speaks a context that comes in pieces, with the times of its words from its beginning', async () => {
  const socket = await open();
  const context = socket.context(ROBOT);
  await context.push({ transcript: 'Hello there. ' });
  await context.push({ transcript: 'How are you?' });
  await context.no_more_inputs();
  let bytes = 0;
  const words: string[] = [];
  const times: number[] = [];
  for await (const message of context.receive()) {
    if (message.type === 'chunk') bytes += Buffer.from(message.data, 'base64').length;
    if (message.type !== 'timestamps') continue;
    words.push(...message.word_timestamps!.words);
    times.push(...message.word_timestamps!.start);
  }
  socket.close();
  expect(words).toEqual(['Hello', 'there.', 'How', 'are', 'you?']);
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
  expect(times.at(-1)! * 8000).toBeLessThan(bytes);
});

it('speaks contexts side by side, and tells an account’s limit of the one that is too many', async () => {
  const socket = await open();
  const say = async (transcript: string): Promise<string[]> => {
    const types: string[] = [];
    for await (const { type } of socket.context({ ...ROBOT }).generate({ transcript })) types.push(type);
    return types;
  };
  const all = await Promise.allSettled([say('One sentence here.'), say('Another sentence.'), say('Too many.')]);
  socket.close();
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
});
