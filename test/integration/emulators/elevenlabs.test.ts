/**
 * The emulated ElevenLabs: over HTTP as the official client sees it, on its sockets as its documentation has them (the
 * official client has none; its own reader of messages reads them). What it speaks is heard by a recogniser that is not
 * ours.
 */
import { ElevenLabsClient, ElevenLabsError } from '@elevenlabs/elevenlabs-js';
import * as official from '@elevenlabs/elevenlabs-js/serialization/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startElevenLabsEmulator } from '../../../bench/emulators/providers/elevenlabs/elevenlabs-emulator.ts';
import type { ProviderEndpoint } from '../../../bench/emulators/providers/provider-endpoint.ts';
import { type EmulatedVoice, startEmulatedVoice } from '../../../bench/emulators/providers/voice/emulated-voice.ts';
import { trustingFetch } from '../../../bench/harness/trusting-fetch.ts';
import { decodeMulaw } from '../../../media/audio/g711.ts';
import { createResampler } from '../../../media/audio/resampler.ts';
import { canDictate, dictate, heardShare } from '../../support/dictation.ts';
import { eventually } from '../../support/eventually.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const KEY = 'canary-of-elevenlabs';
const SILENCE_SAMPLES = 4_800;
const VOICE = '21m00Tcm4TlvDq8ikWAM';
const ROBOT = 'emulated-robot';

interface Alignment {
  chars: string[];
  charStartTimesMs: number[];
  charDurationsMs: number[];
}
interface ServerMessage {
  audio?: string | null;
  isFinal?: boolean | null;
  contextId?: string;
  alignment?: Alignment | null;
  normalizedAlignment?: Alignment | null;
  error?: string;
  message?: string;
  code?: number;
}

let voice: EmulatedVoice;
let emulator: ProviderEndpoint;
const start = (more: object = {}) =>
  startElevenLabsEmulator({
    keys: [KEY],
    voice,
    latencies: { firstAudioMs: 5, chunkEveryMs: 1, closeAfterMs: 20 },
    ...more,
  });

beforeAll(async () => {
  voice = await startEmulatedVoice();
  emulator = await start();
});
afterAll(async () => {
  await emulator.close();
  await voice.close();
});

class Line {
  readonly messages: ServerMessage[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;
  refusedWith: { status: number; body: string } | null = null;

  constructor(
    path: string,
    query: Record<string, string> = {},
    headers: Record<string, string> = { 'xi-api-key': KEY },
  ) {
    const search = new URLSearchParams({ model_id: 'eleven_flash_v2_5', output_format: 'ulaw_8000', ...query });
    this.socket = new WebSocket(`${emulator.socketOrigin}/v1/text-to-speech/${path}?${search}`, {
      ca: emulator.caPem,
      headers,
    });
    this.socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString())));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on('error', () => {});
    this.socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (piece: Buffer) => {
        body += piece;
      });
      response.on('end', () => {
        this.refusedWith = { status: response.statusCode!, body };
      });
    });
  }

  async say(...messages: object[]): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) {
      await eventually('the socket to open', () => this.socket.readyState === WebSocket.OPEN);
    }
    for (const message of messages) this.socket.send(JSON.stringify(message));
  }

  of(contextId: string | undefined): ServerMessage[] {
    return this.messages.filter((message) => message.contextId === contextId);
  }

  final(contextId?: string): Promise<ServerMessage> {
    return eventually(`isFinal of ${contextId}`, () => {
      const found = this.of(contextId).find(({ isFinal }) => isFinal === true);
      if (found === undefined && this.closed !== null) throw new Error(`closed before: ${JSON.stringify(this.closed)}`);
      return found;
    });
  }

  close(): Promise<{ code: number; reason: string }> {
    return eventually('the close', () => this.closed);
  }

  audio(contextId?: string): Buffer {
    return Buffer.concat(this.of(contextId).map(({ audio }) => Buffer.from(audio ?? '', 'base64')));
  }

  /** Of all messages of a context, from the beginning of its sound. */
  chars(contextId?: string, bytesPerMs = 8): { char: string; startMs: number; endMs: number }[] {
    let offsetMs = 0;
    return this.of(contextId).flatMap(({ audio, alignment }) => {
      const atMs = offsetMs;
      offsetMs += Buffer.from(audio ?? '', 'base64').length / bytesPerMs;
      return (alignment?.chars ?? []).map((char, i) => ({
        char,
        startMs: atMs + alignment!.charStartTimesMs[i]!,
        endMs: atMs + alignment!.charStartTimesMs[i]! + alignment!.charDurationsMs[i]!,
      }));
    });
  }
}

const multi = (query: Record<string, string> = {}, voiceId = VOICE): Line =>
  new Line(`${voiceId}/multi-stream-input`, query);
const single = (query: Record<string, string> = {}, voiceId = VOICE): Line =>
  new Line(`${voiceId}/stream-input`, query);

function fromMulaw(bytes: Buffer): Int16Array {
  const samples = new Int16Array(bytes.length);
  decodeMulaw(bytes, 0, bytes.length, samples, 0);
  return samples;
}

async function heard(samples: Int16Array, rateHz: number): Promise<string[]> {
  const resampler = await createResampler(rateHz, 16_000);
  const at16k = resampler.process(samples).slice();
  resampler.close();
  // A recogniser wants silence around what it hears.
  const padded = new Int16Array(at16k.length + 2 * SILENCE_SAMPLES);
  padded.set(at16k, SILENCE_SAMPLES);
  return dictate(padded);
}

const TEXT = 'We have a free table on Tuesday evening. For the booking, please tell me your name.';

describe('multi-stream-input', () => {
  it.runIf(canDictate())('speaks what it was given, and says when each character is said', async () => {
    const line = multi({ sync_alignment: 'true' });
    await line.say({ text: ' ', context_id: 'a' }, { text: `${TEXT} `, context_id: 'a', flush: true });
    await line.say({ context_id: 'a', close_context: true });
    await line.final('a');
    const samples = fromMulaw(line.audio('a'));
    const words = await heard(samples, 8_000);
    expect(heardShare(TEXT, words)).toBeGreaterThan(0.6);
    const chars = line.chars('a');
    expect(chars.map(({ char }) => char).join('')).toBe(`${TEXT} `);
    expect(chars.every(({ startMs }, i) => i === 0 || startMs >= chars[i - 1]!.startMs)).toBe(true);
    expect(chars.at(-1)!.endMs).toBeLessThanOrEqual(samples.length / 8 + 1);
    // The waveform's own answer: still in the pause after a comma, loud from the first letter of the next word on.
    const comma = chars[TEXT.indexOf(', ') + 1]!;
    const next = chars[TEXT.indexOf('please')]!;
    expect(next.startMs - comma.startMs).toBeGreaterThan(60);
    const level = (fromMs: number, toMs: number): number =>
      Math.max(...samples.subarray(fromMs * 8, toMs * 8).map((sample) => Math.abs(sample)));
    expect(level(comma.startMs + 25, next.startMs - 25)).toBeLessThan(0.1 * level(next.startMs, next.startMs + 120));
    expect(line.of('a').length).toBeGreaterThan(10);
    line.socket.close();
  });

  it('sends messages that the official client can read', async () => {
    const line = multi({ sync_alignment: 'true' }, ROBOT);
    await line.say({ text: 'Hello there. ', context_id: 'a', flush: true }, { context_id: 'a', close_context: true });
    await line.final('a');
    for (const { isFinal, ...message } of line.messages) {
      const present = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
      const read = official.WebsocketTtsServerMessageMulti.parse({ ...present, is_final: isFinal === true });
      expect(read.ok).toBe(true);
    }
    line.socket.close();
  });

  it('keeps to the schedule: text waits until there is enough of it, or a flush', async () => {
    const line = multi({}, ROBOT);
    await line.say({ text: ' ', context_id: 'a', generation_config: { chunk_length_schedule: [50, 90] } });
    await line.say({ text: 'This is less than fifty. ', context_id: 'a' });
    await line.say({ text: 'Hello. ', context_id: 'b', flush: true }, { context_id: 'b', close_context: true });
    await line.final('b');
    expect(line.of('a')).toHaveLength(0);
    await line.say({ text: 'And with this it is more than that. Now ', context_id: 'a' });
    await eventually('the first sound', () => line.of('a').length > 0);
    await line.say(
      { text: 'wait.', context_id: 'a' },
      { context_id: 'a', flush: true },
      { context_id: 'a', close_context: true },
    );
    await line.final('a');
    const told = line.of('a').flatMap(({ alignment }) => (alignment == null ? [] : [alignment.chars.join('')]));
    expect(told).toEqual(['This is less than fifty. ', 'And with this it is more than that. ', 'Now ', 'wait. ']);
    line.socket.close();
  });

  it('tells the times of a piece beside its first sound, unless asked to tell them beside each', async () => {
    const line = multi({}, ROBOT);
    await line.say({ text: 'A somewhat longer sentence, for several messages. ', context_id: 'a', flush: true });
    await line.say({ context_id: 'a', close_context: true });
    await line.final('a');
    const told = line.of('a').map(({ alignment }) => alignment != null);
    expect(told.length).toBeGreaterThan(4);
    expect(told).toEqual(told.map((_, i) => i === 0));
    line.socket.close();
  });

  it('makes a generation of each message with auto_mode, half a word too', async () => {
    const line = multi({ auto_mode: 'true' }, ROBOT);
    await line.say(...['Hel', 'lo', ' world'].map((text) => ({ text, context_id: 'a' })));
    await line.say({ context_id: 'a', flush: true });
    await eventually('the last of three', () => line.of('a').filter(({ alignment }) => alignment != null).length === 3);
    expect(line.of('a').flatMap(({ alignment }) => (alignment == null ? [] : [alignment.chars.join('')]))).toEqual([
      'Hel ',
      'lo ',
      ' world ',
    ]);
    line.socket.close();
  });

  it('speaks numbers as words, and says so beside the text', async () => {
    const line = multi({}, ROBOT);
    await line.say(
      { text: 'It opens at 14:30 today. ', context_id: 'a', flush: true },
      { context_id: 'a', close_context: true },
    );
    await line.final('a');
    const [first] = line.of('a');
    expect(first?.alignment?.chars.join('')).toBe('It opens at 14:30 today. ');
    expect(first?.normalizedAlignment?.chars.join('')).toBe(' It opens at 2:30 p.m. today. ');
    line.socket.close();
  });

  it('stops a closed context, but not what was flushed in it; its id can be used again', async () => {
    const slow = await start({ latencies: { firstAudioMs: 5, chunkEveryMs: 50, finalMs: 0 } });
    const kept = emulator;
    emulator = slow;
    try {
      const line = multi({ auto_mode: 'true' }, ROBOT);
      const long = 'One two three four five six seven eight nine ten eleven twelve. ';
      // Ten times as long: however late the close comes, it comes before the end.
      const longer = long.repeat(10);
      await line.say({ text: longer, context_id: 'cut' }, { text: long, context_id: 'whole', flush: true });
      await eventually('both to sound', () => line.of('cut').length > 1 && line.of('whole').length > 1);
      await line.say({ context_id: 'cut', close_context: true }, { context_id: 'whole', close_context: true });
      await Promise.all([line.final('cut'), line.final('whole')]);
      expect(line.audio('cut').length).toBeLessThan(8 * line.audio('whole').length);
      await line.say({ text: 'Again. ', context_id: 'cut' });
      await eventually('sound after the end', () => line.of('cut').at(-1)?.isFinal === null);
      line.socket.close();
    } finally {
      emulator = kept;
      await slow.close();
    }
  });

  it('ends with 1008 at the sixth context, phantoms counted, and takes a place back with isFinal', async () => {
    const line = multi({}, ROBOT);
    for (const id of ['a', 'b', 'c', 'd']) await line.say({ text: ' ', context_id: id });
    // A flush of a context that nobody began makes one.
    await line.say({ context_id: 'phantom', flush: true }, { context_id: 'a', close_context: true });
    await line.final('a');
    await line.say({ text: ' ', context_id: 'e' }, { text: '' });
    await line.say({ context_id: 'e', text: '' }, { text: ' ', context_id: 'f' });
    const { code, reason } = await line.close();
    expect([code, reason]).toEqual([1008, expect.stringMatching(/^Maximum simultaneous contexts .* exceeded \(5\)\./)]);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(line.messages.at(-1)).toMatchObject({ error: 'max_active_conversations', code: 1008 });
  });

  it('refuses settings that change within a context', async () => {
    const line = multi({}, ROBOT);
    await line.say({ context_id: 'a', text: '' }, { context_id: 'a', text: 'Hi. ', voice_settings: { speed: 1.1 } });
    expect(await line.close()).toMatchObject({
      code: 1008,
      reason: expect.stringMatching(/^voice_settings field must be/),
    });
  });

  it('closes a silent context, and a silent socket with an error; a keepalive keeps them', async () => {
    const clock = new VirtualClock();
    const timed = await start({ clock, latencies: { finalMs: 0, closeAfterMs: 0 } });
    const kept = emulator;
    emulator = timed;
    try {
      const line = multi({ inactivity_timeout: '1' }, ROBOT);
      const received = () => timed.journal.entries('received').length;
      await line.say({ text: ' ', context_id: 'a' });
      await eventually('the context', () => received() === 1);
      clock.advanceMs(900);
      await line.say({ text: '' });
      await eventually('the keepalive', () => received() === 2);
      expect(line.messages).toEqual([]);
      clock.advanceMs(100);
      // What is due at once is entered when what it waited for has settled.
      await eventually('the end of the context', () => timed.journal.entries('sent').length === 1, {
        between: () => new Promise<void>((resolve) => setImmediate(resolve)).then(() => clock.advanceMs(0)),
      });
      await line.final('a');
      clock.advanceMs(899);
      expect(timed.journal.entries('sent')).toHaveLength(1);
      clock.advanceMs(1);
      const { code, reason } = await line.close();
      expect([code, reason]).toEqual([
        1008,
        expect.stringMatching(/^Have not received a new text input within the timeout of 1 seconds/),
      ]);
      expect(line.messages.at(-1)).toMatchObject({ error: 'input_timeout_exceeded' });
    } finally {
      emulator = kept;
      await timed.close();
    }
  });

  it('closes all by close_socket, with what was flushed spoken', async () => {
    const line = multi({}, ROBOT);
    await line.say(
      { text: 'Goodbye. ', context_id: 'a', flush: true },
      { text: 'Never said. ', context_id: 'b' },
      { close_socket: true },
    );
    expect((await line.close()).code).toBe(1000);
    expect(line.audio('a').length).toBeGreaterThan(2_000);
    expect(line.audio('b')).toHaveLength(0);
    expect(line.messages.filter(({ isFinal }) => isFinal === true)).toHaveLength(2);
  });
});

describe('stream-input', () => {
  it.runIf(canDictate())('speaks tokens that came one by one, and ends at an empty text', async () => {
    const line = single({ output_format: 'pcm_16000' });
    await line.say({ text: ' ', voice_settings: { stability: 0.5, speed: 1 } });
    for (const token of TEXT.match(/\s?\S{1,4}/g)!) await line.say({ text: token });
    await line.say({ text: '' });
    await line.final();
    expect((await line.close()).code).toBe(1000);
    const bytes = line.audio();
    const samples = Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(i * 2));
    expect(heardShare(TEXT, await dictate(samples))).toBeGreaterThan(0.6);
  });

  it('goes on after a flush with an empty text', async () => {
    const line = single({}, ROBOT);
    await line.say({ text: ' ' }, { text: 'Hello.' }, { text: '', flush: true });
    await eventually('sound', () => line.messages.length > 0);
    expect(line.closed).toBeNull();
    await line.say({ text: '' });
    await line.final();
  });
});

describe('who is let in', () => {
  it('tells a wrong key and an unknown voice on the open socket, and then closes it', async () => {
    const wrong = new Line(`${VOICE}/multi-stream-input`, {}, { 'xi-api-key': 'wrong' });
    expect(await wrong.close()).toEqual({ code: 1008, reason: 'Invalid API key' });
    expect(wrong.messages).toEqual([{ message: 'Invalid API key', error: 'invalid_api_key', code: 1008 }]);
    const nobody = multi({}, 'nobody');
    expect((await nobody.close()).reason).toBe('A voice with voice_id nobody does not exist.');
    expect(nobody.messages[0]).toMatchObject({ error: 'voice_id_does_not_exist' });
  });

  it('takes the key from the first message, and writes it down nowhere', async () => {
    const line = new Line(`${ROBOT}/multi-stream-input`, {}, {});
    await line.say(
      { text: 'Hello. ', context_id: 'a', flush: true, xi_api_key: KEY },
      { context_id: 'a', close_context: true },
    );
    await line.final('a');
    expect(line.audio('a').length).toBeGreaterThan(1_000);
    const without = new Line(`${ROBOT}/stream-input`, {}, {});
    await without.say({ text: ' ' });
    expect((await without.close()).code).toBe(1008);
    expect(JSON.stringify(emulator.journal.entries())).not.toContain(KEY);
    line.socket.close();
  });

  it('refuses models without sockets and formats that it does not speak at the upgrade', async () => {
    const v3 = multi({ model_id: 'eleven_v3' });
    const refused = await eventually('a refusal', () => v3.refusedWith);
    expect([refused.status, JSON.parse(refused.body).detail.code]).toEqual([400, 'unsupported_model']);
    const mp3 = multi({ output_format: 'mp3_44100_128' });
    expect((await eventually('a refusal', () => mp3.refusedWith)).body).toMatch(/speaks ulaw_8000/);
  });

  it('tells an open socket that its key was revoked, and sends to a context that nobody has', async () => {
    const line = multi({}, ROBOT);
    await line.say({ text: ' ', context_id: 'a' });
    emulator.strike({ kind: 'foreign_answer' });
    await line.say({ text: 'Hello. ', context_id: 'a', flush: true });
    await eventually('a foreign answer', () => line.of('context-of-another').length > 0);
    emulator.strike({ kind: 'revoked_key' });
    expect(await line.close()).toEqual({ code: 1008, reason: 'Invalid API key' });
    emulator.allow(KEY);
  });
});

describe('over HTTP, to the official client', () => {
  const client = (apiKey = KEY) =>
    new ElevenLabsClient({ apiKey, baseUrl: emulator.origin, maxRetries: 0, fetch: trustingFetch(emulator.caPem) });

  it('says whose the key is, which models and voices there are, and refuses a wrong key', async () => {
    expect((await client().user.get()).subscription.tier).toBe('emulated');
    expect((await client().models.list()).map(({ modelId }) => modelId)).toContain('eleven_flash_v2_5');
    expect((await client().voices.getAll()).voices.map(({ voiceId }) => voiceId)).toContain(VOICE);
    const refused = client('wrong').user.get();
    await expect(refused).rejects.toMatchObject({ statusCode: 401, body: { detail: { status: 'invalid_api_key' } } });
  });

  it.runIf(canDictate())('streams speech', async () => {
    const stream = await client().textToSpeech.stream(VOICE, {
      text: TEXT,
      modelId: 'eleven_flash_v2_5',
      outputFormat: 'ulaw_8000',
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(heardShare(TEXT, await heard(fromMulaw(Buffer.concat(pieces)), 8_000))).toBeGreaterThan(0.6);
  });

  it('tells the times of the whole beside the sound', async () => {
    const said = await client().textToSpeech.convertWithTimestamps(ROBOT, {
      text: 'One. Two.',
      outputFormat: 'pcm_16000',
    });
    expect(said.alignment?.characters.join('')).toBe('One. Two.');
    const seconds = Buffer.from(said.audioBase64, 'base64').length / 32_000;
    const ends = said.alignment?.characterEndTimesSeconds ?? [];
    expect(ends.every((end, i) => end >= (ends[i - 1] ?? 0) && end <= seconds + 0.01)).toBe(true);
  });

  it.each([
    ['nobody', { text: 'Hi.' }, 404],
    [ROBOT, { text: 'Hi.', modelId: 'none' }, 400],
    [ROBOT, { text: 'Hi.', outputFormat: 'mp3_44100_128' as const }, 400],
  ])('refuses %s %o with %d', async (voiceId, request, status) => {
    const refused = client().textToSpeech.stream(voiceId, { outputFormat: 'pcm_16000', ...request });
    await expect(refused).rejects.toMatchObject({ constructor: expect.anything(), statusCode: status });
    await refused.catch((error: unknown) => expect(error).toBeInstanceOf(ElevenLabsError));
  });

  it('is struck by 429', async () => {
    emulator.script({ kind: 'status', status: 429, on: '/v1/text-to-speech' });
    const refused = client().textToSpeech.stream(ROBOT, { text: 'Hi.', outputFormat: 'pcm_16000' }, { maxRetries: 0 });
    await expect(refused).rejects.toMatchObject({
      statusCode: 429,
      body: { detail: { code: 'too_many_concurrent_requests' } },
    });
  });
});
