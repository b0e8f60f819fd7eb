/**
 * The official Deepgram client takes the emulator for the service: both versions of live recognition, with real speech
 * in real time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Deepgram } from '@deepgram/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  type DeepgramEmulator,
  startDeepgramEmulator,
} from '../../../bench/emulators/providers/deepgram/deepgram-emulator.ts';
import type { FaultInput } from '../../../bench/emulators/providers/fault.ts';
import { PATIENCE_MS } from '../../../bench/harness/patience.ts';
import { type FliteVoice, loadFliteVoice } from '../../../media/engines/local/flite-voice.ts';
import { eventually } from '../../support/eventually.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { overTheLine } from '../../unit/media/engines/speech-fixtures.ts';
import {
  deepgramClient,
  type Heard,
  KEY,
  listenTo,
  opened,
  PHONE,
  silence,
  speak,
  startToldRecogniser,
  type ToldRecogniser,
} from './deepgram-kit.ts';

const VOCABULARY = [
  'Yes,',
  'No.',
  'I would like to book a table',
  'for tomorrow evening',
  'please.',
  'Call me back next week.',
  'Wait, stop.',
];
const BOOKING = 'I would like to book a table for tomorrow evening please.';
/** A busy machine lets a line be silent for long. */
const PATIENT = { idleTimeoutMs: PATIENCE_MS };

type V1Message = Deepgram.listen.ListenV1Results | { type: 'Metadata' | 'UtteranceEnd' | 'SpeechStarted' };
type V2Message =
  | Deepgram.listen.ListenV2TurnInfo
  | Deepgram.listen.ListenV2Connected
  | Deepgram.listen.ListenV2ConfigureSuccess
  | Deepgram.listen.ListenV2ConfigureFailure
  | Deepgram.listen.ListenV2FatalError;

let emulator: DeepgramEmulator;
let recogniser: ToldRecogniser;
let voice: FliteVoice;
const closers: (() => void)[] = [];

beforeAll(async () => {
  [recogniser, voice] = await Promise.all([startToldRecogniser(), loadFliteVoice()]);
  emulator = await startDeepgramEmulator({ keys: [KEY], vocabulary: VOCABULARY, latencies: PATIENT, recogniser });
});
afterAll(async () => {
  await emulator?.close();
  await recogniser?.close();
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  emulator.allow(KEY);
  emulator.journal.clear();
});

const NOVA = {
  ...PHONE,
  model: 'nova-3',
  interim_results: 'true',
  punctuate: 'true',
  endpointing: '300',
} as const;
const FLUX = { ...PHONE, model: 'flux-general-en' } as const;

async function listenV1(options: object = {}, key = KEY, at = emulator) {
  const socket = await deepgramClient(at, key).listen.v1.connect({
    ...NOVA,
    reconnectAttempts: 0,
    ...options,
  } as never);
  const heard = listenTo<V1Message>(socket as never);
  closers.push(() => socket.close());
  return { socket, heard, isOpen: await opened(socket as never, heard) };
}

async function listenV2(options: object = {}) {
  const socket = await deepgramClient(emulator).listen.v2.connect({
    ...FLUX,
    reconnectAttempts: 0,
    ...options,
  } as never);
  const heard = listenTo<V2Message>(socket as never);
  closers.push(() => socket.close());
  return { socket, heard, isOpen: await opened(socket as never, heard) };
}

function rawSocket(query: string): WebSocket {
  const socket = new WebSocket(`${emulator.socketOrigin}/v1/listen?${query}`, {
    ca: emulator.caPem,
    headers: { authorization: `Token ${KEY}` },
  });
  socket.on('error', () => {});
  return socket;
}

const say = (text: string) => overTheLine(voice, text);
const resultsOf = (heard: Heard<V1Message>) =>
  heard.messages.filter((message): message is Deepgram.listen.ListenV1Results => message.type === 'Results');
const textOf = (result: Deepgram.listen.ListenV1Results) => result.channel.alternatives[0]!.transcript;
/** Finals put together, as the service's documentation says. */
const finalText = (heard: Heard<V1Message>) =>
  resultsOf(heard)
    .filter(({ is_final }) => is_final)
    .map(textOf)
    .filter((text) => text !== '')
    .join(' ');
const turnsOf = (heard: Heard<V2Message>) =>
  heard.messages.filter((message): message is Deepgram.listen.ListenV2TurnInfo => message.type === 'TurnInfo');
const eventsOf = (heard: Heard<V2Message>) =>
  turnsOf(heard)
    .filter(({ event }) => event !== 'Update')
    .map(({ event }) => event);
const ofType = (heard: Heard<{ type: unknown }>, type: string) =>
  heard.messages.filter((message) => message.type === type);

describe('a key', () => {
  it('that counts lists projects; another is refused with the error of the service', async () => {
    const { projects } = await deepgramClient(emulator).manage.v1.projects.list();
    expect(projects).toMatchObject([{ name: 'emulated' }]);
    await expect(deepgramClient(emulator, 'wrong').manage.v1.projects.list()).rejects.toMatchObject({
      statusCode: 401,
      body: { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.' },
    });
  });

  it('opens sockets when it counts, and none otherwise', async () => {
    expect(await listenV1()).toMatchObject({ isOpen: true });
    const { isOpen, heard } = await listenV1({}, 'wrong');
    expect({ isOpen, errors: heard.errors }).toEqual({ isOpen: false, errors: [expect.stringContaining('401')] });
    expect(emulator.journal.entries('refused')).toMatchObject([{ status: 401 }]);
    expect(JSON.stringify(emulator.journal.entries())).not.toContain(KEY);
  });
});

describe('listen v1', () => {
  it('gives back what was said, in interim and final results with times, and tells speech and its end', async () => {
    const { socket, heard } = await listenV1({ vad_events: 'true', utterance_end_ms: '1000' });
    const line = await say(BOOKING);
    const half = line.length >> 1;
    await speak(socket, line.subarray(0, half));
    await eventually('its first words', () => recogniser.wordsSoFar > 0);
    await speak(socket, line.subarray(half));
    await speak(socket, silence(1500));
    await eventually('the end of the utterance', () => ofType(heard, 'UtteranceEnd').length === 1);
    expect(finalText(heard)).toBe(BOOKING);
    expect(ofType(heard, 'SpeechStarted')).toMatchObject([{ channel: [0, 1] }]);
    const results = resultsOf(heard);
    const interims = results.filter(({ is_final }) => !is_final).map(textOf);
    expect(interims.length).toBeGreaterThanOrEqual(2);
    for (const interim of interims) expect(BOOKING.toLowerCase()).toContain(interim.toLowerCase());
    expect(results.filter(({ speech_final }) => speech_final).length).toBe(1);
    expect(
      results.every(({ metadata, is_final, speech_final }) => metadata.request_id && (is_final || !speech_final)),
    ).toBe(true);
    // Where the sound is: 300 ms of silence before it and after it.
    const words = results.filter(({ is_final }) => is_final).flatMap(({ channel }) => channel.alternatives[0]!.words);
    const soundSeconds = (await say(BOOKING)).length / 8000;
    expect(words[0]!.start).toBeGreaterThan(0.25);
    expect(words[0]!.start).toBeLessThan(0.5);
    expect(words.at(-1)!.end).toBeGreaterThan(soundSeconds - 0.6);
    expect(words.at(-1)!.end).toBeLessThan(soundSeconds - 0.2);
    for (const [i, { start, end, confidence }] of words.entries()) {
      expect(end).toBeGreaterThan(start);
      expect(start).toBeGreaterThanOrEqual(words[i - 1]?.end ?? 0);
      expect(confidence).toBeGreaterThan(0.5);
    }
    // Finals lie end to end.
    const finals = results.filter(({ is_final }) => is_final);
    for (const [i, { start }] of finals.entries())
      expect(start).toBeCloseTo(i === 0 ? 0 : finals[i - 1]!.start + finals[i - 1]!.duration, 3);
    expect(ofType(heard, 'UtteranceEnd')).toMatchObject([{ last_word_end: words.at(-1)!.end }]);
  });

  it('hears linear16 at 16 kHz, and ends with the rest and the metadata at CloseStream', async () => {
    const { socket, heard } = await listenV1({ encoding: 'linear16', sample_rate: 16_000 });
    const line = await overTheLine(voice, 'Call me back next week.', { rateHz: 16_000 });
    await speak(socket, line, 'linear16', 16_000);
    socket.sendCloseStream({ type: 'CloseStream' });
    await eventually('its end', () => heard.closed !== null);
    expect(finalText(heard)).toBe('Call me back next week.');
    expect(heard.messages.at(-1)).toMatchObject({
      type: 'Metadata',
      channels: 1,
      duration: expect.closeTo(line.length / 16_000, 1),
    });
    expect(heard.closed).toMatchObject({ code: 1000 });
  });

  it('has no words for silence, and none for noise', async () => {
    const { socket, heard } = await listenV1();
    await speak(socket, silence(1500));
    const noise = silence(1500).map((_, i) => ((i * 7919) % 2003) - 1000);
    await speak(socket, noise);
    await speak(socket, silence(700));
    socket.sendCloseStream({ type: 'CloseStream' });
    await eventually('its end', () => heard.closed !== null);
    expect(resultsOf(heard).map(textOf).join('')).toBe('');
  });

  it('has other words when other words are said: it knows the sound alone', async () => {
    const { socket, heard } = await listenV1();
    const line = await say('Wait, stop.');
    await speak(socket, line.subarray(0, line.length - 1600));
    socket.sendFinalize({ type: 'Finalize' });
    await eventually('the answer to Finalize', () => resultsOf(heard).some(({ from_finalize }) => from_finalize));
    expect(finalText(heard)).toBe('Wait, stop.');
  });

  it('goes on behind a Finalize in the middle of speech', async () => {
    const { socket, heard } = await listenV1();
    const line = await say(BOOKING);
    // In the pause of "… table | for …" there is none: 2 s is within a word or beside it.
    await speak(socket, line.subarray(0, 16_000));
    socket.sendFinalize({ type: 'Finalize' });
    await speak(socket, line.subarray(16_000));
    await speak(socket, silence(700));
    await eventually('a result behind it', () =>
      resultsOf(heard).some(({ speech_final, from_finalize }) => speech_final && !from_finalize),
    );
    const [first, second] = resultsOf(heard).filter((result) => result.is_final && textOf(result) !== '');
    expect(first).toMatchObject({ from_finalize: true });
    expect(BOOKING.startsWith(textOf(first!))).toBe(true);
    expect(BOOKING.endsWith(textOf(second!))).toBe(true);
  });

  it('refuses what the service refuses, and says why in dg-error', async () => {
    const faults: [string, string][] = [
      ['model=nova-9&encoding=mulaw&sample_rate=8000', 'No such model'],
      ['model=nova-3&encoding=mulaw&sample_rate=8000&keywords=table', 'Use keyterm'],
      ['model=nova-2&encoding=mulaw&sample_rate=8000&keyterm=table', 'Use keywords'],
      ['model=nova-3&encoding=mulaw', 'sample_rate'],
      ['model=nova-3&encoding=opus&sample_rate=8000', 'encoding'],
      ['model=nova-3&encoding=mulaw&sample_rate=8000&utterance_end_ms=1000', 'interim_results'],
    ];
    for (const [query, reason] of faults) {
      const socket = rawSocket(query);
      const [, response] = await once(socket, 'unexpected-response');
      expect(response.statusCode).toBe(400);
      expect(response.headers['dg-error']).toContain(reason);
      expect(response.headers['dg-request-id']).toMatch(/^[\da-f-]{36}$/);
      socket.terminate();
    }
  });

  it('closes with NET-0001 when neither sound nor KeepAlive comes, and not while they do', async () => {
    const clock = new VirtualClock();
    const timed = await startDeepgramEmulator({ keys: [KEY], recogniser, latencies: { idleTimeoutMs: 400 }, clock });
    closers.push(() => void timed.close());
    const received = () => timed.journal.entries('received').length;
    const { socket, heard } = await listenV1({}, KEY, timed);
    for (let i = 1; i <= 5; i++) {
      clock.advanceMs(300);
      socket.sendKeepAlive({ type: 'KeepAlive' });
      await eventually('it to come', () => received() === i || heard.closed !== null);
    }
    expect([received(), heard.closed]).toEqual([5, null]);
    clock.advanceMs(400);
    await eventually('its end', () => heard.closed !== null);
    expect(heard.closed).toMatchObject({ code: 1011, reason: expect.stringContaining('NET-0001') });
  });
});

describe('Flux', () => {
  it('tells a turn: connected, started, eagerly over, over, with one transcript for both ends', async () => {
    const { socket, heard } = await listenV2({ eager_eot_threshold: 0.4 });
    await speak(socket, await say(BOOKING));
    await speak(socket, silence(1000));
    await eventually('the end of the turn', () => eventsOf(heard).includes('EndOfTurn'));
    expect(heard.messages[0]).toMatchObject({
      type: 'Connected',
      sequence_id: 0,
      request_id: expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(eventsOf(heard)).toEqual(['StartOfTurn', 'EagerEndOfTurn', 'EndOfTurn']);
    const [, eager, end] = turnsOf(heard).filter(({ event }) => event !== 'Update');
    expect(end).toMatchObject({ transcript: BOOKING, turn_index: 0, trigger: 'model' });
    expect(eager).toMatchObject({ transcript: end!.transcript, words: end!.words });
    expect(eager).not.toHaveProperty('trigger');
    expect(end!.end_of_turn_confidence).toBeGreaterThanOrEqual(0.7);
    expect(end!.words.map(({ word }) => word).join(' ')).toBe(BOOKING);
    expect(turnsOf(heard).filter(({ event }) => event === 'Update').length).toBeGreaterThan(8);
    expect(heard.messages.map((message) => (message as { sequence_id: number }).sequence_id)).toEqual(
      heard.messages.map((_, i) => i),
    );
    await speak(socket, await say('Wait, stop.'));
    await speak(socket, silence(800));
    const last = await eventually('a second turn', () =>
      turnsOf(heard).find(({ event, turn_index }) => event === 'EndOfTurn' && turn_index === 1),
    );
    expect(last.transcript).toBe('Wait, stop.');
    expect(last.audio_window_start).toBeCloseTo(end!.audio_window_end, 3);
  });

  it('resumes a turn that was over too eagerly, and no turn without an eager end', async () => {
    const { socket, heard } = await listenV2({ eager_eot_threshold: 0.3, eot_threshold: 0.9 });
    const eagerEnds = (): number => eventsOf(heard).filter((event) => event === 'EagerEndOfTurn').length;
    const rest = (await say('for tomorrow evening please.')).subarray(1600);
    // Its silence asks for the eager end. While no sound comes no time passes, however late the words are.
    await speak(socket, await say('I would like to book a table'));
    await eventually('the eager end', () => eagerEnds() === 1);
    await speak(socket, rest);
    await eventually('another', () => eagerEnds() === 2);
    await speak(socket, silence(1100));
    await eventually('the end of the turn', () => eventsOf(heard).includes('EndOfTurn'));
    expect(eventsOf(heard)).toEqual(['StartOfTurn', 'EagerEndOfTurn', 'TurnResumed', 'EagerEndOfTurn', 'EndOfTurn']);
    const ends = turnsOf(heard).filter(({ event }) => event.toString().endsWith('EndOfTurn'));
    expect(ends.map(({ transcript }) => transcript)).toEqual(['I would like to book a table', BOOKING, BOOKING]);
  });

  it('ends no turn while no sound comes, and ends it when it is forced', async () => {
    const { socket, heard } = await listenV2();
    const line = await say('Call me back next week.');
    socket.sendForceEndTurn({ type: 'ForceEndTurn' });
    const sound = line.subarray(0, line.length - 2400);
    await speak(socket, sound);
    await eventually('a turn', () => eventsOf(heard).includes('StartOfTurn'));
    // Behind this one there is too little sound for another.
    const lastUpdateMs = sound.length / 8 - 260;
    await eventually('the last update', () => turnsOf(heard).at(-1)!.audio_window_end * 1000 > lastUpdateMs);
    const told = turnsOf(heard).length;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(eventsOf(heard)).toEqual(['StartOfTurn']);
    expect(turnsOf(heard).length).toBe(told);
    socket.sendForceEndTurn({ type: 'ForceEndTurn' });
    await eventually('the end of the turn', () => eventsOf(heard).includes('EndOfTurn'));
    const end = turnsOf(heard).find(({ event }) => event === 'EndOfTurn');
    expect(end).toMatchObject({ transcript: 'Call me back next week.', trigger: 'manual' });
    expect(eventsOf(heard)).toEqual(['StartOfTurn', 'EndOfTurn']);
  });

  it('is configured on the way: by what it accepts, and not by what it refuses', async () => {
    const { socket, heard } = await listenV2();
    socket.sendConfigure({
      type: 'Configure',
      thresholds: { eot_threshold: 1, eot_timeout_ms: 900 },
      keyterms: ['banana'],
    });
    socket.sendConfigure({ type: 'Configure', thresholds: { eot_threshold: 0.2 } });
    await eventually('both answers', () => heard.messages.length === 3);
    expect(heard.messages.slice(1)).toMatchObject([
      { type: 'ConfigureSuccess', thresholds: { eot_threshold: 1, eot_timeout_ms: 900 }, keyterms: ['banana'] },
      { type: 'ConfigureFailure' },
    ]);
    await speak(socket, await say('No. Banana.'));
    await speak(socket, silence(1200));
    await eventually('the end of the turn', () => eventsOf(heard).includes('EndOfTurn'));
    const end = turnsOf(heard).find(({ event }) => event === 'EndOfTurn');
    expect(end).toMatchObject({ trigger: 'timeout', transcript: 'No. banana' });
  });

  it('has no turn for silence, and none ends at CloseStream', async () => {
    const { socket, heard } = await listenV2();
    await speak(socket, silence(1200));
    expect(eventsOf(heard)).toEqual([]);
    const line = await say('Call me back next week.');
    await speak(socket, line.subarray(0, line.length - 2400));
    socket.sendCloseStream({ type: 'CloseStream' });
    await eventually('its end', () => heard.closed !== null);
    expect(heard.closed).toMatchObject({ code: 1005 });
    expect(eventsOf(heard)).not.toContain('EndOfTurn');
    expect(turnsOf(heard).at(-1)).toMatchObject({ event: 'Update', transcript: 'Call me back next week.' });
  });

  it('refuses what the service refuses', async () => {
    for (const query of [
      { model: 'nova-3' },
      { eot_threshold: 0.3 },
      { eager_eot_threshold: 0.8 },
      { language_hint: 'es' },
    ])
      expect((await listenV2(query)).isOpen).toBe(false);
    expect(emulator.journal.entries('refused').map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  });
});

describe('a bad day', () => {
  const saysNo = async (fault: FaultInput) => {
    emulator.script(fault);
    const call = await listenV1();
    if (call.isOpen) await speak(call.socket, await say('No.')).catch(() => {});
    return call;
  };

  it('refuses with 429 and 503 as the service does', async () => {
    for (const status of [429, 503]) {
      const { isOpen, heard } = await saysNo({ kind: 'status', status });
      expect({ isOpen, errors: heard.errors }).toEqual({
        isOpen: false,
        errors: [expect.stringContaining(`${status}`)],
      });
    }
  });

  it('stalls: the socket stays open, and no word comes', async () => {
    const { socket, heard } = await saysNo({ kind: 'stall' });
    socket.sendFinalize({ type: 'Finalize' });
    // What was sent has arrived: nothing answered it.
    await eventually('the request in the journal', () => emulator.journal.entries('received').length === 1);
    await speak(socket, silence(600));
    expect({ messages: heard.messages, closed: heard.closed }).toEqual({ messages: [], closed: null });
  });

  it('is reset in the middle of speech', async () => {
    const { socket, heard } = await listenV1();
    const line = await say(BOOKING);
    await speak(socket, line.subarray(0, 12_000));
    expect(emulator.strike({ kind: 'reset' })).toBe(1);
    await eventually('its end', () => heard.closed?.code === 1006 || heard.errors.length > 0);
  });

  it('is half open: nothing comes, and nothing says that it is gone', async () => {
    const { heard } = await saysNo({ kind: 'half_open' });
    expect({ messages: heard.messages, closed: heard.closed }).toEqual({ messages: [], closed: null });
  });

  it('sends a message that is none, and goes on', async () => {
    // Below the official client, which throws where nobody can catch it.
    const socket = rawSocket('model=nova-3&encoding=mulaw&sample_rate=8000');
    const seen: string[] = [];
    socket.on('message', (data) => seen.push(data.toString()));
    await once(socket, 'open');
    emulator.strike({ kind: 'garbage' });
    const line = { sendMedia: (bytes: Uint8Array) => socket.send(bytes) };
    for (const text of ['No.', 'Call me back next week.']) await speak(line, await say(text));
    await speak(line, silence(400));
    await eventually('a result behind the garbage', () => seen.find((text) => text.includes('call me back')));
    expect(() => JSON.parse(seen[0]!)).toThrow();
    expect(JSON.parse(seen[1]!)).toMatchObject({ type: 'Results' });
    socket.close(1000);
  });

  it('drips', async () => {
    const { socket, heard } = await saysNo({ kind: 'slow_drip', bytesPerSecond: 400 });
    await speak(socket, silence(500));
    socket.sendCloseStream({ type: 'CloseStream' });
    await eventually('its end', () => heard.closed !== null);
    expect(finalText(heard)).toBe('No.');
  });

  it('closes with a code', async () => {
    const { heard } = await saysNo({ kind: 'close', code: 1011, reason: 'NET-0000' });
    await eventually('its end', () => heard.closed !== null);
    expect(heard.closed).toMatchObject({ code: 1011, reason: 'NET-0000' });
  });

  it('revokes the key in the middle, for good', async () => {
    const { heard } = await listenV1();
    emulator.strike({ kind: 'revoked_key' });
    await eventually('its end', () => heard.closed !== null);
    expect(heard.closed).toMatchObject({ code: 1008 });
    expect((await listenV1()).isOpen).toBe(false);
  });

  it('answers for another request', async () => {
    const { socket, heard } = await saysNo({ kind: 'foreign_answer' });
    socket.sendFinalize({ type: 'Finalize' });
    await eventually('a result', () => finalText(heard) !== '');
    expect(finalText(heard)).toBe('stranger');
  });
});

describe('as a process', () => {
  const MAIN = fileURLToPath(new URL('../../../dist/bench/emulators/providers/main.js', import.meta.url));
  const CLIENT = `
    import { DeepgramClient } from '@deepgram/sdk';
    const base = process.argv[1];
    const client = new DeepgramClient({ apiKey: '${KEY}', environment: { base, production: base } });
    console.log((await client.manage.v1.projects.list()).projects[0].name);`;

  it('is trusted by NODE_EXTRA_CA_CERTS, told what may be said, and ends at SIGTERM with 0', async () => {
    const child = spawn(process.execPath, [MAIN, '--provider', 'deepgram', '--key', KEY], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    closers.push(() => child.kill('SIGKILL'));
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const { event, provider, origin, caFile } = JSON.parse(value);
    expect({ event, provider }).toEqual({ event: 'listening', provider: 'deepgram' });
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile };
    const client = spawn(process.execPath, ['--input-type=module', '-e', CLIENT, origin], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [name] = await Promise.all([once(client.stdout, 'data'), once(client, 'exit')]);
    expect(String(name).trim()).toBe('emulated');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
