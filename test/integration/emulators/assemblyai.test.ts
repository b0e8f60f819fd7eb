/** The official AssemblyAI client takes the emulator for the service: sessions with real speech in real time. */
import tls from 'node:tls';
import { AssemblyAI, type StreamingTranscriber, type TurnEvent } from 'assemblyai';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startAssemblyAiEmulator } from '../../../bench/emulators/providers/assemblyai/assemblyai-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { type FliteVoice, loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { eventually } from '../../support/eventually.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';
import { silence, speak, startToldRecogniser, type ToldRecogniser } from './deepgram-kit.ts';

const KEY = 'canary-of-a-provider';
const BOOKING = 'I would like to book a table for tomorrow evening please.';
const VOCABULARY = ['I would like to book a table', 'for tomorrow evening', 'please.', 'Yes,'];
const CHUNK_MS = 60;
/** Of "Call me back next week.": after which share of its sound the decoder knows how many of its words. */
const WORDS_BY_THEN = [
  [0.46, 3],
  [0.62, 4],
  [0.77, 5],
] as const;

let endpoint: ProviderEndpoint;
let recogniser: ToldRecogniser;
let voice: FliteVoice;
beforeAll(async () => {
  // The client takes no authority of its own to trust.
  const connect = tls.connect.bind(tls) as (options: tls.ConnectionOptions) => tls.TLSSocket;
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    connect({ ...options, ca: endpoint.caPem })) as typeof tls.connect);
  recogniser = await startToldRecogniser();
  endpoint = await startAssemblyAiEmulator({ keys: [KEY], vocabulary: VOCABULARY, recogniser });
  voice = await loadFliteVoice();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await endpoint?.close();
  await recogniser?.close();
});
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Heard {
  turns: TurnEvent[];
  errors: string[];
  closed: { code: number; reason: string } | null;
}

function session(params: object, apiKey = KEY): { transcriber: StreamingTranscriber; heard: Heard } {
  const transcriber = new AssemblyAI({ apiKey }).streaming.transcriber({
    apiKey,
    websocketBaseUrl: `${endpoint.socketOrigin}/v3/ws`,
    sampleRate: 8000,
    encoding: 'pcm_mulaw',
    maxConnectionRetries: 0,
    connectTimeout: PATIENCE_MS,
    ...params,
  } as never);
  const heard: Heard = { turns: [], errors: [], closed: null };
  transcriber.on('turn', (turn) => heard.turns.push(turn));
  transcriber.on('error', (error) => heard.errors.push(error.message));
  transcriber.on('close', (code, reason) => {
    heard.closed = { code, reason };
  });
  return { transcriber, heard };
}

/** In whole pieces: one that is too short would end the session. */
function say(transcriber: StreamingTranscriber, samples: Int16Array): Promise<void> {
  const piece = 8 * CHUNK_MS;
  const whole = new Int16Array(Math.ceil(samples.length / piece) * piece);
  whole.set(samples);
  return speak({ sendMedia: (bytes) => transcriber.sendAudio(bytes as never) }, whole, 'mulaw', 8000, CHUNK_MS);
}

it('models of segments tell a turn whole, with marks and times, and end it behind its full stop', async () => {
  const { transcriber, heard } = session({ speechModel: 'universal-3-5-pro' });
  const begin = await transcriber.connect();
  expect(begin.expires_at * 1_000).toBeGreaterThan(Date.now());
  const line = await overTheLine(voice, BOOKING);
  const half = line.length >> 1;
  await say(transcriber, line.subarray(0, half));
  await eventually('its first words', () => recogniser.wordsSoFar > 0);
  await say(transcriber, line.subarray(half));
  await say(transcriber, silence(900));
  const end = await eventually('the end', () => heard.turns.find((turn) => turn.end_of_turn));
  expect(end).toMatchObject({ turn_order: 0, turn_is_formatted: true, transcript: BOOKING });
  const times = end.words.flatMap(({ start, end: to }) => [start, to]);
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
  expect(times.at(-1)).toBeLessThan(line.length / 8);
  expect(end.words.every((word) => word.word_is_final)).toBe(true);
  const partials = heard.turns.filter((turn) => !turn.end_of_turn);
  expect(partials.length).toBeGreaterThanOrEqual(1);
  expect(partials.every((turn) => turn.words.every((word) => !word.word_is_final))).toBe(true);
  // Resolves with the message `Termination`.
  await transcriber.close();
  expect(endpoint.journal.entries('sent').at(-1)).toMatchObject({ message: { type: 'Termination' } });
});

it('models of words tell each word, take an order to end the turn, and key terms on the way', async () => {
  const { transcriber, heard } = session({ speechModel: 'universal-streaming-english', formatTurns: true });
  await transcriber.connect();
  closers.push(() => transcriber.close());
  transcriber.updateConfiguration({ keyterms_prompt: ['Call me back next week.'], max_turn_silence: 5_000 });
  const line = await overTheLine(voice, 'Call me back next week.', { leadMs: 300 });
  const piece = 8 * CHUNK_MS;
  let from = 0;
  // A word is told with the sound that follows it: where the decoder came late, several would be told at once.
  for (const [share, words] of WORDS_BY_THEN) {
    const to = Math.round((share * line.length) / piece) * piece;
    await say(transcriber, line.subarray(from, to));
    await eventually(`${words} words`, () => recogniser.wordsSoFar >= words);
    from = to;
  }
  await say(transcriber, line.subarray(from));
  await say(transcriber, silence(240));
  transcriber.forceEndpoint();
  await eventually('the formatted end', () => heard.turns.some((turn) => turn.turn_is_formatted));
  const ends = heard.turns.filter((turn) => turn.end_of_turn);
  expect(ends.map(({ transcript }) => transcript)).toEqual(['call me back next week', 'Call me back next week.']);
  const counts = heard.turns.filter((turn) => !turn.end_of_turn).map(({ words }) => words.length);
  expect(counts.length).toBeGreaterThanOrEqual(3);
  expect(counts.toSorted((a, b) => a - b)).toEqual(counts);
});

it.each([
  ['a wrong key', { speechModel: 'universal-3-5-pro' }, 'wrong', 'Unauthorized Connection: Invalid API key'],
  ['a model that there is not', { speechModel: 'universal-9' }, KEY, 'Invalid speech_model'],
])('%s is told when the socket is open, and the session does not begin', async (_what, params, key, said) => {
  await expect(session(params, key).transcriber.connect()).rejects.toThrow(said);
  expect(JSON.stringify(endpoint.journal.entries())).not.toContain(KEY);
});

it('refuses pieces that are too short', async () => {
  const { transcriber, heard } = session({ speechModel: 'universal-3-5-pro' });
  await transcriber.connect();
  transcriber.sendAudio(new Uint8Array(160) as never);
  await eventually('its end', () => heard.closed !== null);
  expect([heard.closed?.code, heard.errors.join()]).toEqual([3007, expect.stringContaining('between 50 and 1000 ms')]);
});
